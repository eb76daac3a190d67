package trainjsonlreceiver

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// groupTime is the named group of a prefix's time; groupRank is the other one.
const groupTime = "time"

// maxPrefixes is how many prefixes a line may have, one after the other.
const maxPrefixes = 4

// prefix is a text before the JSON of a line, as launchers and loggers write it.
type prefix struct {
	literal []byte
	re      *regexp.Regexp
	rank    int // number of the group, -1 = none
	time    int
}

// prefixed is what the prefixes of a line say.
type prefixed struct {
	rank int64 // -1 = nothing
	time string
}

func compilePrefixes(list []string) ([]prefix, error) {
	var out []prefix
	var errs []error
	for i, text := range list {
		p := prefix{literal: []byte(text), rank: -1, time: -1}
		switch {
		case text == "":
			errs = append(errs, fmt.Errorf("line_prefixes: entry %d is empty: remove it", i))
			continue
		case text[0] == '^':
			re, err := regexp.Compile(text)
			if err != nil {
				errs = append(errs, fmt.Errorf("line_prefixes: %q: %w", text, err))
				continue
			}
			p = prefix{re: re, rank: re.SubexpIndex(groupRank), time: re.SubexpIndex(groupTime)}
			for _, name := range re.SubexpNames() {
				if name != "" && name != groupRank && name != groupTime {
					errs = append(errs, fmt.Errorf("line_prefixes: %q: group %q is neither rank nor time", text, name))
				}
			}
		}
		out = append(out, p)
	}
	return out, errors.Join(errs...)
}

// stripPrefixes takes the prefixes off a line that does not begin with an object.
func stripPrefixes(list []prefix, line []byte) ([]byte, prefixed) {
	found := prefixed{rank: -1}
	for range maxPrefixes {
		if len(line) == 0 || line[0] == '{' {
			break
		}
		rest := stripOne(list, line, &found)
		if len(rest) == len(line) {
			break
		}
		line = rest
	}
	return line, found
}

func stripOne(list []prefix, line []byte, found *prefixed) []byte {
	for _, p := range list {
		if p.re == nil {
			if bytes.HasPrefix(line, p.literal) {
				return line[len(p.literal):]
			}
			continue
		}
		m := p.re.FindSubmatchIndex(line)
		if m == nil || m[1] == 0 {
			continue
		}
		if text := group(line, m, p.rank); text != nil {
			if n, err := strconv.ParseInt(string(text), 10, 64); err == nil && n >= 0 {
				found.rank = n
			}
		}
		if text := group(line, m, p.time); text != nil {
			found.time = string(text)
		}
		return line[m[1]:]
	}
	return line
}

func group(line []byte, match []int, n int) []byte {
	if n < 0 || match[2*n] < 0 {
		return nil
	}
	return line[match[2*n]:match[2*n+1]]
}
