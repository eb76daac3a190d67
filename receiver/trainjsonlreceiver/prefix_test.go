package trainjsonlreceiver

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainlines"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func TestPrefixesAreConfiguration(t *testing.T) {
	t.Parallel()
	line := `MYAPP [rank2]: {"i":1}` + "\n"
	r := readAll(t, line, nil)
	assert.Equal(t, []string{`@0 not_json MYAPP [rank2]: {"i":1}`}, r.sink.shown())
	r = readAll(t, line, func(r *rig) { r.cfg.LinePrefixes = []string{"MYAPP ", trainlines.PrefixesKnown} })
	assert.Equal(t, []string{`@0 1`}, r.sink.shown())
	assert.Equal(t, "2", r.sink.got()[0].rank)
	r = readAll(t, `[rank2]: {"i":1}`+"\n", func(r *rig) { r.cfg.LinePrefixes = []string{} })
	assert.Equal(t, []string{`@0 not_json [rank2]: {"i":1}`}, r.sink.shown())
}

func TestTimeAndRankOfARecordGoBeforeThoseOfAPrefix(t *testing.T) {
	t.Parallel()
	const prefix = "[rank3]: 2026-11-29 10:00:00 | INFO | train | "
	r := readAll(t, prefix+`{"ts":1790000000,"event":"log","rank":1,"body":{"i":1}}`+"\n"+prefix+`{"i":2}`+"\n"+prefix+"text\n", nil)
	var times []pcommon.Timestamp
	var ranks []string
	for _, lr := range r.sink.logs[0].ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().All() {
		times = append(times, lr.Timestamp())
		ranks = append(ranks, record(lr).rank)
	}
	assert.Equal(t, []pcommon.Timestamp{1790000000e9, 1795946400e9, 1795946400e9}, times)
	assert.Equal(t, []string{"1", "3", "3"}, ranks)
}

// FuzzSplit holds the pieces of a line to what a piece is: they are in order, do not overlap, leave out only blanks and
// marks, and splitting what is left of a line after some of them gives the rest again, as after a restart.
func FuzzSplit(f *testing.F) {
	for _, text := range []string{
		`{"i":1}{"i":2}`, rec1 + rec2, nul(3) + `{"i":1}` + nul(70) + rec1, `text{"a"` + rec1 + "x", "[rank0]: {}[rank1]: {} \x1b[0m", ":::MLLOG {}x:::MLLOG {}",
		encode16(rec1, true, true), encode16(rec1, false, false), "{'a':1}", "\xef\xbb\xbf{}\xef\xbb\xbf{}", strings.Repeat("{}", 1200),
		nul(1) + "0 ", `{"i":1}{'a':1}` + rec1 + "}", "{}" + strings.Repeat(`{"a":`, 40) + rec1, "{}" + nul(1) + "[" + rec1 + "]", `{"i":1}` + nul(1) + "abc" + nul(1) + "def",
	} {
		f.Add([]byte(text))
	}
	list, err := trainlines.CompilePrefixes([]string{trainlines.PrefixesKnown})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text []byte) {
		text = bytes.ReplaceAll(text, []byte("\n"), nil)
		b := newBuilders(trainlines.Options{Prefixes: list})
		pieces := splitAll(b, text, 0)
		at := 0
		for i, p := range pieces {
			n := len(p.data)
			if p.isHole() && n == 0 {
				n = leadingNULs(text[p.offset:])
			}
			require.GreaterOrEqual(t, int(p.offset), at)
			between := regexp.MustCompile("\xef\xbb\xbf|[ \t\r]|\x1b\\[[0-9;]*[mK]").ReplaceAll(text[at:p.offset], nil)
			require.Empty(t, between, "left out before piece %d", i)
			require.Equal(t, trainrecord.LineCRC(text[p.offset:int(p.offset)+n]), p.crc)
			at = int(p.offset) + n
			if i+1 < len(pieces) {
				require.Equal(t, pieces[i+1].offset, p.end)
			}
		}
		for k := 0; k < len(pieces); k += 1 + len(pieces)/8 {
			require.Equal(t, places(pieces[k:]), places(splitAll(b, text[pieces[k].offset:], pieces[k].offset)), k)
		}
	})
}

func splitAll(b *builders, text []byte, offset int64) []line {
	lines, _ := cut(nil, append(bytes.Clone(text), '\n'), offset, trainrecord.MaxLine, maxBatch)
	var out []line
	for len(lines) > 0 {
		built := b.build(source{id: pathID{run: "r", rank: -1}}, lines)
		out, lines = append(out, built.lines...), built.rest
	}
	return out
}

func places(lines []line) (out []string) {
	for _, l := range lines {
		out = append(out, fmt.Sprintf("@%d %x %s", l.offset, l.crc, l.reason))
	}
	return out
}
