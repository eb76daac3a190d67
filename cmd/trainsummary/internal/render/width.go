package render

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// across is how many cells of a terminal a text takes: letters of East Asia and pictures take two, marks on a letter none.
func across(s string) (n int) {
	for _, r := range s {
		n += acrossRune(r)
	}
	return n
}

func acrossRune(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

// pad brings a text to a width.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(n-across(s), 0)) }

// cut brings a line to the width of the terminal. An escape is there as a whole or not at all.
func (s Style) cut(line string) string {
	if s.Width <= 0 || across(line) <= s.Width {
		return line
	}
	n := 0
	for i, r := range line {
		if n += acrossRune(r); n > s.Width-1 {
			return line[:beforeEscape(line, i)] + "…"
		}
	}
	return line
}

// escape is what stands for a character that a terminal is not to see, and for a quotation mark.
var escape = regexp.MustCompile(`\\(?:u[0-9A-F]{4}|U[0-9A-F]{8}|")`)

// beforeEscape gives the beginning of the escape that a place of a line is in, else the place.
func beforeEscape(line string, at int) int {
	const longest = len(`\U00000000`)
	from := max(at-longest+1, 0)
	for _, e := range escape.FindAllStringIndex(line[from:min(at+longest, len(line))], -1) {
		if from+e[0] < at && at < from+e[1] {
			return from + e[0]
		}
	}
	return at
}

// Screen is text for the whole of a terminal, drawn over what was there before. What does not fit below is left out: a terminal
// that scrolls would keep the old. Each line is cleared before it is written: behind a full one its last cell would go.
func Screen(text []byte, height int) []byte {
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if height > 1 && len(lines) > height-1 {
		lines = lines[:height-1]
	}
	return []byte("\x1b[H\x1b[K" + strings.Join(lines, "\n\x1b[K") + "\n\x1b[J")
}
