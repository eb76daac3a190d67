package trainlines

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// Named groups of a prefix.
const (
	groupRank = "rank"
	groupTime = "time"
)

// maxPrefixes is how many prefixes a line may have, one after the other.
const maxPrefixes = 8

// Prefix is a text before the JSON of a line, as launchers and loggers write it.
type Prefix struct {
	literal []byte
	re      *regexp.Regexp
	first   *byteSet // that a match of re begins with
	rank    int      // number of the group, -1 = none
	time    int
}

// Prefixed is what the prefixes of a line say.
type Prefixed struct {
	Rank int64 // -1 = nothing
	Time string
}

// CompilePrefixes reads line_prefixes: texts, expressions that begin with ^, and PrefixesKnown.
func CompilePrefixes(list []string) ([]Prefix, error) {
	var out []Prefix
	var errs []error
	for i, text := range list {
		switch {
		case text == "":
			errs = append(errs, fmt.Errorf("line_prefixes: entry %d is empty: remove it", i))
		case text == PrefixesKnown:
			known, err := CompilePrefixes(knownPrefixes)
			out, errs = append(out, known...), append(errs, err)
		case text[0] == '^':
			p, err := compileExpression(text)
			out, errs = append(out, p), append(errs, err)
		default:
			out = append(out, Prefix{literal: []byte(text), rank: -1, time: -1})
		}
	}
	return out, errors.Join(errs...)
}

func compileExpression(text string) (Prefix, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return Prefix{}, fmt.Errorf("line_prefixes: %q: %w", text, err)
	}
	for _, name := range re.SubexpNames() {
		if name != "" && name != groupRank && name != groupTime {
			return Prefix{}, fmt.Errorf("line_prefixes: %q: group %q is neither rank nor time", text, name)
		}
	}
	return Prefix{re: re, first: firstBytes(text), rank: re.SubexpIndex(groupRank), time: re.SubexpIndex(groupTime)}, nil
}

// StripPrefixes takes the prefixes off a line that does not begin with an object, and the blanks before and between them.
func StripPrefixes(list []Prefix, line []byte) ([]byte, Prefixed) {
	found := Prefixed{Rank: -1}
	for range maxPrefixes {
		line = bytes.TrimLeft(line, " \t\r")
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

func stripOne(list []Prefix, line []byte, found *Prefixed) []byte {
	for _, p := range list {
		if p.re == nil {
			if bytes.HasPrefix(line, p.literal) {
				return line[len(p.literal):]
			}
			continue
		}
		if !p.first[line[0]] {
			continue
		}
		m := p.re.FindSubmatchIndex(line)
		if m == nil || m[0] > 0 || m[1] == 0 {
			continue
		}
		if text := group(line, m, p.rank); text != nil {
			if n, err := strconv.ParseInt(string(text), 10, 64); err == nil && n >= 0 {
				found.Rank = n
			}
		}
		if text := group(line, m, p.time); text != nil {
			found.Time = string(text)
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
