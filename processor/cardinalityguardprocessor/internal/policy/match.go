package policy

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// matcher picks texts: exactly, by their beginning, or by an expression.
type matcher struct {
	exact    map[string]struct{}
	prefixes []string
	expr     []*regexp.Regexp
}

func (m *matcher) match(text string) bool {
	if has(m.exact, text) {
		return true
	}
	for _, p := range m.prefixes {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return slices.ContainsFunc(m.expr, func(e *regexp.Regexp) bool { return e.MatchString(text) })
}

func (m *matcher) empty() bool { return len(m.exact) == 0 && len(m.prefixes) == 0 && len(m.expr) == 0 }

func (m *matcher) addExact(text string) {
	if m.exact == nil {
		m.exact = map[string]struct{}{}
	}
	m.exact[text] = struct{}{}
}

// addGlob takes a text in which * stands for any text, ? for any character and [a-z] for one of some.
func (m *matcher) addGlob(glob string) error {
	if !strings.ContainsAny(glob, `*?[\`) {
		m.addExact(glob)
		return nil
	}
	if beginning, any := strings.CutSuffix(glob, "*"); any && !strings.ContainsAny(beginning, `*?[\`) {
		m.prefixes = append(m.prefixes, beginning)
		return nil
	}
	e, err := globExpr(glob)
	if err != nil {
		return err
	}
	return m.addRegex(e)
}

func (m *matcher) addRegex(expr string) error {
	if _, err := regexp.Compile(expr); err != nil { // alone, so that a bracket cannot close ours
		return err
	}
	e, err := regexp.Compile(`\A(?s:` + expr + `)\z`)
	if err == nil {
		m.expr = append(m.expr, e)
	}
	return err
}

var errGlob = errors.New("bad glob: [ without ], or a backslash at the end")

func globExpr(glob string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteString(".")
		case '\\':
			if i++; i == len(glob) {
				return "", errGlob
			}
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		case '[':
			end := strings.IndexByte(glob[i+1:], ']')
			if end <= 0 {
				return "", errGlob
			}
			class := glob[i+1 : i+1+end]
			negated := strings.HasPrefix(class, "!") || strings.HasPrefix(class, "^")
			if negated {
				class = class[1:]
			}
			b.WriteString("[")
			if negated {
				b.WriteString("^")
			}
			b.WriteString(strings.NewReplacer(`\`, `\\`, `[`, `\[`, `^`, `\^`).Replace(class))
			b.WriteString("]")
			i += end + 1
		default:
			n := i
			for n < len(glob) && !strings.ContainsRune(`*?[\`, rune(glob[n])) {
				n++
			}
			b.WriteString(regexp.QuoteMeta(glob[i:n]))
			i = n - 1
		}
	}
	return b.String(), nil
}

// index is the path of an item of a list.
func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// selector compiles what picks metrics by name.
func (c *compiler) selector(path string, s *Selector) *matcher {
	m := &matcher{}
	for i, text := range s.Exact {
		c.notEmpty(index(path+".exact", i), text)
		m.addExact(text)
	}
	for i, text := range s.Prefix {
		c.notEmpty(index(path+".prefix", i), text)
		m.prefixes = append(m.prefixes, text)
	}
	c.globs(path+".glob", s.Glob, m)
	c.expressions(path+".regex", s.Regex, m)
	return m
}

func (c *compiler) globs(path string, list []string, m *matcher) {
	for i, text := range list {
		c.notEmpty(index(path, i), text)
		if err := m.addGlob(text); err != nil {
			c.add(index(path, i), "%s: %q", err, text)
		}
	}
}

func (c *compiler) expressions(path string, list []string, m *matcher) {
	for i, text := range list {
		c.notEmpty(index(path, i), text)
		if err := m.addRegex(text); err != nil {
			c.add(index(path, i), "%s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
}

func (c *compiler) notEmpty(path, text string) {
	if text == "" {
		c.add(path, "want at least one character")
	}
}

// placed gives the places of a rule.
func (c *compiler) placed(path string, list []Place, otherwise places) places {
	if len(list) == 0 {
		return otherwise
	}
	var p places
	for _, at := range list {
		p |= 1 << (at - 1)
	}
	if p == nested {
		c.add(path+".apply_to", "no effect: nested is the inside of what is on the other places; name them, too")
	}
	return p
}
