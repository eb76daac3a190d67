package trainlines

import (
	"bytes"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// MinHole is the number of NUL bytes at the start of a line that are a line of their own before any decoding. Holes may be
// far larger than a line may be.
const MinHole = 64

// BOM is a byte order mark.
var BOM = []byte("\xef\xbb\xbf")

// Before says what stands before the text of a line that is given without its newline: a byte order mark where the file
// begins, and behind it a hole of NUL bytes.
func Before(data []byte, fileStart bool) (mark, hole int) {
	if fileStart && bytes.HasPrefix(data, BOM) {
		mark = len(BOM)
	}
	if rest := data[mark:]; len(rest) >= MinHole && rest[0] == 0 {
		if n := LeadingNULs(rest); n >= MinHole {
			hole = n
		}
	}
	return mark, hole
}

// Blank says whether there is nothing to see on a line.
func Blank(data []byte) bool {
	for _, c := range data {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// LeadingNULs counts the NUL bytes at the start.
func LeadingNULs(data []byte) int {
	for i, c := range data {
		if c != 0 {
			return i
		}
	}
	return len(data)
}

// Shown is the text of a line that is no record, as a message shows it.
func Shown(data []byte, reason trainrecord.Reason) []byte {
	if reason == trainrecord.ReasonUTF16 {
		return utf16Text(data)
	}
	return data
}
