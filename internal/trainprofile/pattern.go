package trainprofile

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ref names a value of an object: one key, or a path of keys and list indexes into nested values.
type ref []refPart

type refPart struct {
	key    string
	index  int
	isList bool
}

func (p *ref) readNode(r *reader, n *yaml.Node, path string) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null" && n.Value != "":
		*p = ref{{key: n.Value}}
	case n.Kind == yaml.SequenceNode && len(n.Content) > 0:
		for i, c := range n.Content {
			if c.Kind != yaml.ScalarNode || c.Value == "" {
				r.fail(fmt.Sprintf("%s[%d]", path, i), "want a key or a list index (line %d)", c.Line)
				continue
			}
			part := refPart{key: c.Value}
			if idx, err := strconv.Atoi(c.Value); c.Tag == "!!int" && err == nil && idx >= 0 {
				part = refPart{index: idx, isList: true}
			}
			*p = append(*p, part)
		}
		if len(*p) > 0 && (*p)[0].isList {
			r.fail(path, "a path begins with a key, not with a list index; quote it if it is a key (line %d)", n.Line)
		}
	default:
		r.fail(path, "want a key, or a path as a list of keys (line %d)", n.Line)
	}
}

// pattern matches keys: plain text with at most one *, which stands for any text, or a regular expression between slashes.
type pattern struct {
	text           string
	prefix, suffix string
	star           bool
	re             *regexp.Regexp
}

func (p *pattern) readNode(r *reader, n *yaml.Node, path string) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" || n.Value == "" {
		r.fail(path, "want a key pattern, as text (line %d)", n.Line)
		return
	}
	var err error
	if *p, err = newPattern(n.Value); err != nil {
		r.fail(path, "%v (line %d)", err, n.Line)
	}
}

func newPattern(text string) (pattern, error) {
	if len(text) > 2 && text[0] == '/' && text[len(text)-1] == '/' {
		re, err := regexp.Compile(text[1 : len(text)-1])
		if err != nil {
			return pattern{}, fmt.Errorf("regular expression: %s", regexMistake(err))
		}
		return pattern{text: text, re: re}, nil
	}
	before, after, star := strings.Cut(text, "*")
	if strings.Contains(after, "*") {
		return pattern{}, fmt.Errorf("pattern %q has more than one *; write a regular expression as /.../", text)
	}
	return pattern{text: text, prefix: before, suffix: after, star: star}, nil
}

func regexMistake(err error) string {
	return strings.TrimPrefix(err.Error(), "error parsing regexp: ")
}

// matches tells whether the pattern matches the whole key (a regular expression: any part of it, unless anchored).
func (p *pattern) matches(key string) bool {
	switch {
	case p.re != nil:
		return p.re.MatchString(key)
	case !p.star:
		return key == p.text
	default:
		return len(key) >= len(p.prefix)+len(p.suffix) && strings.HasPrefix(key, p.prefix) && strings.HasSuffix(key, p.suffix)
	}
}

// starOf gives what * stands for in a key that matches.
func (p *pattern) starOf(key string) string {
	if !p.star {
		return key
	}
	return key[len(p.prefix) : len(key)-len(p.suffix)]
}

// rename gives the name that a template makes of a key that matches: * is what the pattern's * stands for, $1 a group of a
// regular expression; lower makes the capitals of the * or of $1 small. Without a template the name is the key.
func (p *pattern) rename(key, template string, lower bool) string {
	switch {
	case template == "":
		return key
	case p.re != nil:
		at := p.re.FindStringSubmatchIndex(key)
		if lower && at[2] >= 0 {
			key = key[:at[2]] + smallASCII(key[at[2]:at[3]]) + key[at[3]:]
		}
		return string(p.re.ExpandString(nil, template, key, at))
	}
	star := p.starOf(key)
	if lower {
		star = smallASCII(star)
	}
	return strings.Replace(template, "*", star, 1)
}

// smallASCII makes the capitals A to Z of a text small. Its length stays.
func smallASCII(s string) string {
	small := []byte(s)
	for i, c := range small {
		if 'A' <= c && c <= 'Z' {
			small[i] = c + 'a' - 'A'
		}
	}
	return string(small)
}

// checkTemplate finds the mistakes of a template that is used with the pattern.
func (p *pattern) checkTemplate(template string) error {
	switch {
	case template == "":
		return nil
	case strings.Count(template, "*") > 1:
		return fmt.Errorf("%q has more than one *", template)
	case p.re == nil && !p.star && strings.Contains(template, "*"):
		return fmt.Errorf("%q has a *, but the key pattern %q has none", template, p.text)
	case p.re != nil && strings.Contains(template, "*"):
		return fmt.Errorf("%q has a *; groups of a regular expression are $1, $2", template)
	case p.re == nil && p.star && !strings.Contains(template, "*"):
		return fmt.Errorf("%q has no *, so all keys that %q matches would get one name", template, p.text)
	default:
		return nil
	}
}

// regex is a regular expression (RE2 syntax).
type regex struct{ *regexp.Regexp }

func (x *regex) readNode(r *reader, n *yaml.Node, path string) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		r.fail(path, "want a regular expression, as text (line %d)", n.Line)
		return
	}
	re, err := regexp.Compile(n.Value)
	if err != nil {
		r.fail(path, "regular expression: %s (line %d)", regexMistake(err), n.Line)
		return
	}
	x.Regexp = re
}
