package trainlines

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Marks of UTF-16 at the start of a file.
var (
	littleMark = []byte("\xff\xfe")
	bigMark    = []byte("\xfe\xff")
)

// isUTF16 tells a line of UTF-16 text, cut at the byte of its newline, from one with NUL bytes in it: by its mark, or
// because of its first bytes nearly every second one, and hardly one of the others, is NUL.
func isUTF16(data []byte) bool {
	if bytes.HasPrefix(data, littleMark) || bytes.HasPrefix(data, bigMark) {
		return true
	}
	sample := start(data)
	if len(sample) < 8 {
		return false
	}
	nuls := nulsOf(sample)
	few, many := min(nuls[0], nuls[1]), max(nuls[0], nuls[1])
	return 8*few <= many && 4*many >= len(sample) // a quarter: text may be half of other scripts, and those have NUL bytes too
}

// start is as much of a line as tells its encoding.
func start(data []byte) []byte { return data[:min(len(data), 128)] }

// nulsOf counts the NUL bytes at even places and at odd ones.
func nulsOf(data []byte) (nuls [2]int) {
	for i, c := range data {
		if c == 0 {
			nuls[i%2]++
		}
	}
	return nuls
}

// utf16Text gives a line of UTF-16 as UTF-8, as far as a message needs it. A line that was cut at the byte of its newline, and
// has no mark, may be big-endian, or little-endian behind the newline's other byte: the low bytes stand at the same places,
// and Latin text is the same either way. Read the wrong way, a character takes the script of the one beside it: of two texts
// the one with more blanks and quotes is right. If they have as many, what differs is U+FFFD.
func utf16Text(data []byte) []byte {
	data = data[:min(len(data), 2*trainrecord.MaxRaw)]
	nuls := nulsOf(start(data))
	switch {
	case bytes.HasPrefix(data, littleMark):
		return textOf(unitsOf(data[2:], binary.LittleEndian))
	case bytes.HasPrefix(data, bigMark):
		return textOf(unitsOf(data[2:], binary.BigEndian))
	case nuls[1] > nuls[0]:
		return textOf(unitsOf(data, binary.LittleEndian))
	}
	big, little := unitsOf(data, binary.BigEndian), unitsOf(data[min(len(data), 1):], binary.LittleEndian)
	switch b, l := separators(big), separators(little); {
	case b > l:
		return textOf(big)
	case l > b:
		return textOf(little)
	}
	for i := range min(len(big), len(little)) {
		if big[i] != little[i] {
			big[i] = utf8.RuneError
		}
	}
	return textOf(big)
}

// separators counts what stands between words.
func separators(units []uint16) (n int) {
	for _, u := range units {
		if u == ' ' || u == '"' {
			n++
		}
	}
	return n
}

func unitsOf(data []byte, order binary.ByteOrder) []uint16 {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return units
}

// textOf gives units as UTF-8; half a surrogate pair becomes U+FFFD.
func textOf(units []uint16) []byte { return []byte(string(utf16.Decode(units))) }
