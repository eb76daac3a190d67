package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// problem is a mistake in a policy.
type problem struct {
	line int // 0: not known
	path string
	what string
}

// problems collects mistakes.
type problems struct {
	file  string
	lines map[string]int // by path
	list  []problem
}

// add notes a mistake. Of a key that has one already, what follows from it is not told.
func (p *problems) add(path, format string, args ...any) {
	if p.full() || path != "" && slices.ContainsFunc(p.list, func(m problem) bool { return m.path == path }) {
		return
	}
	p.list = append(p.list, problem{p.line(path), path, fmt.Sprintf(format, args...)})
}

// maxProblems bounds what is told at once.
const maxProblems = 100

func (p *problems) full() bool { return len(p.list) >= maxProblems }

// line is where a path stands, or what encloses it.
func (p *problems) line(path string) int {
	for path != "" {
		if n := p.lines[path]; n > 0 {
			return n
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 0
}

// err gives all mistakes in the order of the file.
func (p *problems) err() error {
	slices.SortStableFunc(p.list, func(a, b problem) int { return cmp.Compare(a.line, b.line) })
	var errs []error
	for _, m := range p.list {
		text := m.what
		if m.path != "" {
			text = m.path + ": " + text
		}
		if m.line > 0 {
			text = fmt.Sprintf("line %d: %s", m.line, text)
		}
		if p.file != "" {
			text = p.file + ": " + text
		}
		errs = append(errs, errors.New(text))
	}
	if p.full() {
		errs = append(errs, errors.New("and perhaps more"))
	}
	return errors.Join(errs...)
}
