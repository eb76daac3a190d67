package trainjsonlreceiver

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func TestKnownPrefixes(t *testing.T) {
	t.Parallel()
	list := mustPrefixes(t)
	const at = "2026-11-29T13:27:26"
	for text, want := range map[string]prefixed{
		":::MLLOG ":               {rank: -1},
		"DLLL ":                   {rank: -1},
		"[rank3]: ":               {rank: 3},
		"[rank12]:":               {rank: 12},
		"[default0]:":             {rank: 0},
		"[trainer7]: ":            {rank: 7},
		"slurm_procid 0 : ":       {rank: 0},
		"slurm_procid 15: ":       {rank: 15},
		"0: ":                     {rank: 0},
		"  3: ":                   {rank: 3},
		"[1,5]<stdout>:":          {rank: 5},
		"[1,5]<stderr>: ":         {rank: 5},
		"[job-h-1@1,2]<stdout>: ": {rank: 2},
		"[4]<stdout>:":            {rank: 4},
		"(pid=45601) ":            {rank: -1},
		"(RayTrainWorker pid=1234, ip=10.0.0.1) ":                      {rank: -1},
		"(train_fn() pid=12) ":                                         {rank: -1},
		"\x1b[36m(MyActor pid=1)\x1b[0m ":                              {rank: -1},
		at + ".123456789Z stdout F ":                                   {rank: -1, time: at + ".123456789Z"},
		at + ".1+01:00 stderr P ":                                      {rank: -1, time: at + ".1+01:00"},
		"[pod/train-0/main] ":                                          {rank: -1},
		"trainer-1  | ":                                                {rank: -1},
		"2026-11-29 13:27:26 | INFO | train | ":                        {rank: -1, time: "2026-11-29 13:27:26"},
		"2026-11-29 13:27:26 | INFO | fairseq.tasks.translation | ":    {rank: -1, time: "2026-11-29 13:27:26"},
		"2026-11-29 13:27:26.029 | INFO     | __main__:<module>:10 - ": {rank: -1, time: "2026-11-29 13:27:26.029"},
		"2026-11-29 13:27:26,029 - root - INFO - ":                     {rank: -1, time: "2026-11-29 13:27:26,029"},
		"2026-11-29 13:27:26,029 - ":                                   {rank: -1, time: "2026-11-29 13:27:26,029"},
		"[2026-11-29 13:27:26,029][root][INFO] - ":                     {rank: -1, time: "2026-11-29 13:27:26,029"},
		"[2026-11-29 13:27:26] ":                                       {rank: -1, time: "2026-11-29 13:27:26"},
		"2026-11-29 13:27:26,029 INFO ":                                {rank: -1, time: "2026-11-29 13:27:26,029"},
		"2026-11-29 13:27:26,029 [INFO] train: ":                       {rank: -1, time: "2026-11-29 13:27:26,029"},
		at + "Z WARNING: ":                                             {rank: -1, time: at + "Z"},
		"[INFO|trainer.py:4226] 2026-11-29 13:27:26,029 >> ":           {rank: -1, time: "2026-11-29 13:27:26,029"},
		"[NeMo I 2026-11-29 13:27:26 exp_manager:12] ":                 {rank: -1, time: "2026-11-29 13:27:26"},
		"I1129 13:27:26.029123 140123 train.py:12] ":                   {rank: -1},
		"INFO:root:":           {rank: -1},
		"WARNING:train.loop: ": {rank: -1},
		"slurm_procid 2 : 2026-11-29 13:27:26 | INFO | train | ":            {rank: 2, time: "2026-11-29 13:27:26"},
		at + "Z stdout F [rank1]: 2026-11-29 13:27:27 | INFO | :::MLLOG ":   {rank: 1, time: "2026-11-29 13:27:27"},
		"0: \x1b[36m(A pid=1)\x1b[0m 2026-11-29 13:27:26,029 - a - INFO - ": {rank: 0, time: "2026-11-29 13:27:26,029"},
	} {
		rest, got := stripPrefixes(list, []byte(text+`{"loss":1}`))
		assert.Equal(t, `{"loss":1}`, string(rest), "%q", text)
		assert.Equal(t, want, got, "%q", text)
		if got.time != "" {
			_, ok := trainrecord.ParseTime(got.time, time.UTC)
			assert.True(t, ok, "%q is no time", got.time)
		}
	}
}

func TestFirstBytes(t *testing.T) {
	t.Parallel()
	for re, want := range map[string]string{
		`^abc`: "a", `^(?P<rank>\d)x`: "0123456789", `^a?b`: "ab", `^a*(b|c)`: "abc", `^(a|)b`: "ab", `^[ab]{0,2}c`: "abc", `^[ab]{1,2}c`: "ab",
		`^\x1b`: "\x1b", `^é`: "\xc3", `^(?:^a|b)+c`: "ab",
	} {
		set := firstBytes(re)
		for b, in := range set {
			assert.Equal(t, strings.IndexByte(want, byte(b)) >= 0, in, "%s: %q", re, b)
		}
	}
	for _, re := range []string{`^`, `^.`, `^(?i)a`, `^a*`, `^(a|)`, `^\bx`} {
		assert.True(t, firstBytes(re)['z'], re)
	}
	assert.True(t, firstBytes(`^[^a]`)[0xff])
	assert.False(t, firstBytes(`^[^a]`)['a'])
}

func TestTextThatIsNoPrefixStays(t *testing.T) {
	t.Parallel()
	list := mustPrefixes(t)
	for _, text := range []string{
		"config: ", "Epoch 3: ", "[epoch3]: ", "loss=0.5 ", "rank0: ", "DLL 2026-11-29 ", "INFO ", "2026-11-29 ", "12:30:00 ", "{'a': 1} ", "| ",
		"2026-11-29 13:27:26 | INFO | saved with \"", "2026-11-29 13:27:26 saved ", "{", "",
	} {
		rest, _ := stripPrefixes(list, []byte(text+`{"loss":1}`))
		if text != "" {
			assert.NotEqual(t, `{"loss":1}`, string(rest), "%q", text)
		}
	}
}

func TestPrefixesAreConfiguration(t *testing.T) {
	t.Parallel()
	line := `MYAPP [rank2]: {"i":1}` + "\n"
	r := readAll(t, line, nil)
	assert.Equal(t, []string{`@0 not_json MYAPP [rank2]: {"i":1}`}, r.sink.shown())
	r = readAll(t, line, func(r *rig) { r.cfg.LinePrefixes = []string{"MYAPP ", prefixesKnown} })
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
		nul(1) + "0 ",
	} {
		f.Add([]byte(text))
	}
	list, err := compilePrefixes([]string{prefixesKnown})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text []byte) {
		text = bytes.ReplaceAll(text, []byte("\n"), nil)
		b := newBuilders(lineOptions{prefixes: list})
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
		if len(pieces) == 0 || len(pieces) > maxPieces || pieces[0].reason == trainrecord.ReasonUTF16 {
			return
		}
		k := len(pieces) / 2
		if rest := splitAll(b, text[pieces[k].offset:], pieces[k].offset); nulRuns(text) <= maxNULRuns && !isUTF16(text[pieces[k].offset:]) {
			require.Equal(t, places(pieces[k:]), places(rest))
		}
	})
}

func splitAll(b *builders, text []byte, offset int64) []line {
	lines, _ := cut(nil, append(bytes.Clone(text), '\n'), offset, trainrecord.MaxLine)
	var out []line
	for len(lines) > 0 {
		built := b.build(source{id: pathID{run: "r", rank: -1}}, lines)
		out, lines = append(out, built.lines...), built.rest
	}
	return out
}

func places(lines []line) (out [][2]int64) {
	for _, l := range lines {
		out = append(out, [2]int64{l.offset, int64(l.crc)})
	}
	return out
}

func TestAnExpressionMatchesAtTheStartOnly(t *testing.T) {
	t.Parallel()
	list, err := compilePrefixes([]string{`^A: |B: `, "^(?m:^)D: "})
	require.NoError(t, err)
	for line, want := range map[string]string{
		"A: {}": "{}", "B: {}": "{}", "x B: {}": "x B: {}", "D: {}": "{}", "x D: {}": "x D: {}", "D x B: {}": "D x B: {}", "A B: {}": "A B: {}",
	} {
		got, _ := stripPrefixes(list, []byte(line))
		assert.Equal(t, want, string(got), line)
	}
}
