package trainview

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe makes a text of a trainer fit for a document: valid UTF-8, what cannot be seen or moves other text written as \uXXXX,
// and at most that many bytes.
func Safe(s string, most int) string {
	if plain(s, most) {
		return s
	}
	const ellipsis = "…"
	var b strings.Builder
	keep := 0 // bytes that fit together with the ellipsis
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				r = unicode.ReplacementChar
			}
		}
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
		if b.Len() > most {
			return b.String()[:keep] + ellipsis
		}
		if b.Len() <= most-len(ellipsis) {
			keep = b.Len()
		}
	}
	return b.String()
}

// plain spares most texts a copy.
func plain(s string, most int) bool {
	if len(s) > most {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// hidden says that a character is not to be seen, or moves or joins others: controls, formats (bidi, zero width, tags, byte
// order mark), separators of lines, selectors of variants, blanks other than the space, private ones.
func hidden(r rune) bool {
	if r == ' ' {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co, unicode.Zl, unicode.Zp, unicode.Zs, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point)
}
