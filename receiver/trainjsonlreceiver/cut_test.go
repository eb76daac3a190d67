package trainjsonlreceiver

import (
	"bytes"
	"hash/crc32"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// naive is cut said simply: the lines of a whole text.
func naive(text []byte, maxLine int) []line {
	var out []line
	at := 0
	for _, l := range bytes.SplitAfter(text, []byte("\n")) {
		offset := at
		at += len(l)
		data, whole := bytes.CutSuffix(l, []byte("\n"))
		if !whole {
			break
		}
		if rest, ok := bytes.CutPrefix(data, bom); ok && offset == 0 {
			data, offset = rest, len(bom)
		}
		if rest := bytes.TrimLeft(data, "\x00"); len(data)-len(rest) >= minHole {
			n := len(data) - len(rest)
			out = append(out, line{offset: int64(offset), end: int64(offset + n), crc: trainrecord.LineCRC(data[:n]), reason: trainrecord.ReasonNULBytes})
			data, offset = rest, offset+n
		}
		data = bytes.TrimSuffix(data, []byte("\r"))
		if len(bytes.Trim(data, " \t\r")) == 0 {
			continue
		}
		one := line{offset: int64(offset), end: int64(at), data: data, crc: crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))}
		if len(data) > maxLine {
			one.reason = trainrecord.ReasonTooLong
			one.data = data[:min(len(data), trainrecord.MaxRaw)]
		}
		out = append(out, one)
	}
	return out
}

func FuzzCutAtAnyBoundaries(f *testing.F) {
	f.Add([]byte("a\nbb\r\n\n  \nccc\ndd"), []byte{1, 2, 3})
	f.Add([]byte("\xef\xbb\xbf{}\n\xff\xfe\n"), []byte{1})
	f.Add(bytes.Repeat([]byte("x"), 300), []byte{7, 200})
	f.Add([]byte("0\n"), []byte("0"))
	f.Add([]byte("\xef\xbb"), []byte{0})
	f.Add([]byte("\xef\xbb\xbf\r\n\r\r\n"), []byte{3, 1})
	f.Add([]byte("\x00\x00{}\n\x00\n"+strings.Repeat("\x00", 70)+"\n"+strings.Repeat("\x00", 200)+"{}\n\x00\x00{"), []byte{3, 1})
	f.Add([]byte("\x00 "), []byte("0"))
	f.Add([]byte("\xef\xbb\xbf"+strings.Repeat("\x00", 100)), []byte{9})
	f.Fuzz(func(t *testing.T, text, sizes []byte) {
		const maxLine = 100
		got, tl, offset := cutInTurns(text, sizes, maxLine)
		want := naive(text, maxLine)
		require.Equal(t, len(want), len(got))
		for i := range want {
			assert.Equal(t, want[i], got[i])
		}
		// The tail is the line that a newline would make of it.
		rest := naive(append(bytes.Clone(text), '\n'), maxLine)
		halfMark := len(text) < len(bom) && bytes.HasPrefix(bom, text)
		if len(rest) > len(want) && !halfMark {
			checkTail(t, tl, int64(offset), rest[len(want):], trailingCR(text))
		}
	})
}

// cutInTurns does what the turns do: read on from the last newline, with whatever came since.
func cutInTurns(text, sizes []byte, maxLine int) (got []line, tl tail, offset int) {
	read := 0
	for i := 0; read < len(text); i++ {
		size := 64
		if len(sizes) > 0 {
			size = int(sizes[i%len(sizes)]) + 1
		}
		before := read
		read = min(read+size, len(text))
		if offset == 0 && read < len(bom) && bytes.HasPrefix(bom, text[:read]) {
			continue // as the reader does, for a byte order mark in two parts
		}
		var consumed int
		got, consumed = cut(got, text[offset:read], int64(offset), maxLine, math.MaxInt)
		if consumed > 0 {
			offset += consumed
			tl = tail{}
			before = offset
		}
		if tl.scanned == 0 {
			before = offset
		}
		tl.add(text[before:read], int64(offset))
	}
	return got, tl, offset
}

// checkTail holds a tail at an offset to the lines that a newline would make of it: a hole, if there is one, and the text.
func checkTail(t *testing.T, tl tail, offset int64, rest []line, cr int64) {
	t.Helper()
	last := rest[len(rest)-1]
	if tl.hole() > 0 {
		assert.Equal(t, rest[0].crc, tl.holeCRC)
		assert.Equal(t, rest[0].offset, offset+tl.mark)
		assert.Equal(t, rest[0].end, offset+tl.skipped())
	}
	if last.reason == trainrecord.ReasonNULBytes { // nothing behind it yet
		assert.False(t, tl.text)
		return
	}
	assert.Equal(t, !blank(bytes.TrimLeft(last.data, "\x00")), tl.text)
	assert.Equal(t, last.crc, tl.sum())
	assert.Equal(t, last.offset, offset+tl.skipped())
	assert.Equal(t, last.end-1-last.offset, tl.length()+cr)
}

func trailingCR(text []byte) int64 {
	if bytes.HasSuffix(text, []byte("\r")) {
		return 1
	}
	return 0
}
