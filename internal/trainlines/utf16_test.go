package trainlines

import (
	"bytes"
	"encoding/binary"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// cutLines gives the lines of a text in UTF-16 as a reader of lines finds them: cut at each byte that is a newline's.
func cutLines(text string, order binary.AppendByteOrder) [][]byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, u)
	}
	lines := bytes.Split(b, []byte("\n"))
	return lines[:len(lines)-1]
}

func TestUTF16IsShownAsWhatItSays(t *testing.T) {
	t.Parallel()
	texts := []string{
		`{"loss":0.5}`,
		`{"сообщение":"Эпоха 3 завершена, ошибка 0.25, step 7, lr 0.001"}`,
		`{"msg":"第一轮 epoch 1 of 10 done, loss 0.5, saved to weights.pt"}`, // U+4E00 has a NUL byte
		`{"msg":"done 🎉 epoch 1 of 10, loss 0.5"}`,
		`{"é":1,"loss":0.25,"a":[1,2,3]}`,
	}
	for name, order := range map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian} {
		for _, mark := range []string{"", "\ufeff"} {
			for _, first := range texts {
				for _, second := range texts {
					lines := cutLines(mark+first+"\n"+second+"\r\n", order)
					require.Len(t, lines, 2)
					for i, want := range []string{first, second} {
						require.True(t, isUTF16(lines[i]), "%s %q: %q", name, mark, want)
						got := bytes.TrimSpace(Shown(lines[i], trainrecord.ReasonUTF16))
						assert.Equal(t, want, string(got), "%s %q, line %d", name, mark, i)
					}
				}
			}
		}
	}
}

// TestUTF16InDoubtIsMarked: where both byte orders make a text, it has the characters alone that are sure.
func TestUTF16InDoubtIsMarked(t *testing.T) {
	t.Parallel()
	for want, order := range map[string]binary.AppendByteOrder{
		"loss:\ufffdпоха\ufffd12 of 20, all is well": binary.LittleEndian,
		"loss\ufffdЭпох\ufffd:12 of 20, all is well": binary.BigEndian,
	} {
		lines := cutLines("epoch\nloss:Эпоха:12 of 20, all is well\n", order)
		assert.Equal(t, want, string(Shown(lines[1], trainrecord.ReasonUTF16)))
	}
}
