package digest

import (
	"fmt"
	"unicode/utf8"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/quoted"
)

// dvcTree is the text whose MD5 names a folder in DVC: a JSON list of the files' MD5 and names in the order of the names, as Python
// writes it.
func dvcTree(entries []entry) []byte {
	b := []byte{'['}
	for i, e := range entries {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, `{"md5": "`+e.sums.md5+`", "relpath": "`...)
		b = append(appendASCII(b, e.name), `"}`...)
	}
	return append(b, ']')
}

// appendASCII escapes as Python's json does: everything beyond ASCII, and bytes that are no UTF-8 as the surrogates that stand for them.
func appendASCII(b []byte, s string) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		short := false
		b, short = quoted.Append(b, r)
		switch {
		case short:
		case r == utf8.RuneError && n == 1:
			b = fmt.Appendf(b, `\udc%02x`, s[0])
		case r >= 0x20 && r <= 0x7e, r == 0x7f:
			b = append(b, byte(r))
		case r > 0xffff:
			r -= 0x10000
			b = fmt.Appendf(b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
		s = s[n:]
	}
	return b
}
