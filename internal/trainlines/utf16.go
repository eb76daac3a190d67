package trainlines

import (
	"bytes"
	"unicode/utf8"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Marks of UTF-16 at the start of a file.
var (
	littleMark = []byte("\xff\xfe")
	bigMark    = []byte("\xfe\xff")
)

// isUTF16 tells a line of UTF-16 text, cut at the byte of its newline, from one with NUL bytes in it: by its mark, or
// because of its first bytes nearly every second one, and none of the others, is NUL.
func isUTF16(data []byte) bool {
	if bytes.HasPrefix(data, littleMark) || bytes.HasPrefix(data, bigMark) {
		return true
	}
	sample := data[:min(len(data), 128)]
	if len(sample) < 8 {
		return false
	}
	var nuls [2]int
	for i, c := range sample {
		if c == 0 {
			nuls[i%2]++
		}
	}
	few, many := min(nuls[0], nuls[1]), max(nuls[0], nuls[1])
	return few == 0 && 4*many >= len(sample) // a quarter: text may be half of other scripts
}

// utf16Text gives a line of UTF-16 as UTF-8, as far as a message needs it. Of a line that was cut at the byte of its
// newline, little-endian text begins with the newline's other byte, which makes it look like big-endian.
func utf16Text(data []byte) []byte {
	little := bytes.HasPrefix(data, littleMark)
	if little || bytes.HasPrefix(data, bigMark) {
		data = data[2:]
	} else if len(data) > 1 {
		little = data[1] == 0
	}
	var text []byte
	for i := 0; i+1 < len(data) && len(text) <= trainrecord.MaxRaw; i += 2 {
		r := rune(data[i])<<8 | rune(data[i+1])
		if little {
			r = rune(data[i+1])<<8 | rune(data[i])
		}
		text = utf8.AppendRune(text, r) // half a surrogate pair becomes U+FFFD
	}
	return text
}
