package trainjsonlreceiver

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainlines"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// readAll reads one file with the given content.
func readAll(t *testing.T, text string, edit func(r *rig)) *rig {
	t.Helper()
	r := newRig(t)
	if edit != nil {
		edit(r)
	}
	r.write("run7/train.jsonl", text)
	require.NoError(t, r.cfg.Validate())
	tl := r.open()
	tl.step(context.Background())
	require.NoError(t, tl.close(context.Background()))
	return r
}

func TestOffsetsAreExact(t *testing.T) {
	t.Parallel()
	one := `{"ts":1790000000,"event":"log","body":{"i":1}}`
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"crlf":              {one + "\r\n" + one + "\r\n", []string{"@0 1", "@48 1"}},
		"blank lines":       {"\n\n" + one + "\n \t\n\r\n" + one + "\n\n", []string{"@2 1", "@54 1"}},
		"leading blanks":    {"  " + one + "\n" + one + "\n", []string{"@0 1", "@49 1"}},
		"byte order mark":   {"\xef\xbb\xbf" + one + "\n" + one + "\n", []string{"@3 1", "@50 1"}},
		"mark on blank":     {"\xef\xbb\xbf\n" + one + "\n", []string{"@4 1"}},
		"bad utf-8":         {strings.Replace(one, "log", "l\xff", 1) + "\n" + one + "\n", []string{"@0 ", "@46 1"}},
		"no newline":        {one + "\n" + one, []string{"@0 1"}},
		"only no newline":   {one, nil},
		"only blanks":       {"\n\r\n  \n", nil},
		"empty":             {"", nil},
		"half a mark":       {"\xef\xbb", nil},
		"cr inside a line":  {"{\"ts\":1,\r\"event\":\"log\",\"body\":{\"i\":2}}\n", []string{"@0 2"}},
		"text between rows": {one + "\nhello\n" + one + "\n", []string{"@0 1", "@47 hello", "@53 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, readAll(t, c.text, nil).sink.of("train.jsonl"))
		})
	}
}

func TestOverlongLinesArePassedOverAndReported(t *testing.T) {
	t.Parallel()
	for _, size := range []int{4097, 100_009, turnBytes - 1, turnBytes, turnBytes + 1, 5 << 20} {
		for _, end := range []string{"\n", "\r\n"} {
			t.Run(fmt.Sprintf("%d %q", size, end), func(t *testing.T) {
				t.Parallel()
				long := strings.Repeat("x", size)
				text := rows(0, 1) + long + end + rows(1, 1)
				r := readAll(t, text, func(r *rig) { r.cfg.MaxLineSize = 4096 })
				all := r.sink.got()
				require.Len(t, all, 3)
				assert.Equal(t, string(trainrecord.ReasonTooLong), all[1].reason)
				assert.Equal(t, long[:4096], all[1].text)
				assert.Equal(t, int64(len(rows(0, 1))), all[1].offset)
				assert.Equal(t, int64(len(text)-len(rows(1, 1))), all[2].offset)
				uid, ok := trainrecord.ParseUID(all[1].uid)
				require.True(t, ok)
				assert.Equal(t, trainrecord.LineCRC([]byte(long)), uid.CRC)
			})
		}
	}
}

func TestLongLinesWithinTheLimitAreDecoded(t *testing.T) {
	t.Parallel()
	long := `{"ts":1790000000,"event":"log","body":{"i":2,"pad":"` + strings.Repeat("x", 3<<20) + `"}}`
	r := readAll(t, long+"\n"+rows(0, 1)+long+"\n", nil)
	assert.Equal(t, []string{"@0 2", fmt.Sprintf("@%d 0", len(long)+1), fmt.Sprintf("@%d 2", len(long)+1+len(rows(0, 1)))}, r.sink.of("train.jsonl"))
}

func TestARowThatNamesItsRunBelongsToIt(t *testing.T) {
	t.Parallel()
	r := readAll(t, `{"loss":1}`+"\n"+`{"run_id":"other","loss":2}`+"\n"+`{"run_id":7,"loss":3}`+"\n", nil)
	var runs []string
	for _, g := range r.sink.got() {
		runs = append(runs, g.run)
	}
	assert.Equal(t, []string{"run7", "run7", "other"}, runs)
}

func TestMapping(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line string
		edit func(r *rig)
		want got
	}{
		"record names its run": {
			line: `{"ts":1790000000,"event":"step.end","run_id":"x","rank":2,"body":{"i":1}}`,
			want: got{run: "x", event: "step.end", text: "1", rank: "2"},
		},
		"folder names the run": {
			line: `{"ts":1790000000,"event":"step.end","body":{"i":1}}`,
			want: got{run: "run7", event: "step.end", text: "1"},
		},
		"path names run, rank": {
			line: `{"ts":1790000000,"event":"step.end","body":{"i":1}}`,
			edit: func(r *rig) { r.cfg.RunID.PathRegex = `run(?P<rank>\d+)/(?P<run_id>[a-z]+)\.jsonl$` },
			want: got{run: "train", event: "step.end", text: "1", rank: "7"},
		},
		"path that does not match": {
			line: `{"ts":1790000000,"event":"step.end","body":{"i":1}}`,
			edit: func(r *rig) { r.cfg.RunID.PathRegex = `nowhere/(?P<run_id>[a-z]+)` },
			want: got{run: "run7", event: "step.end", text: "1"},
		},
		"other object": {
			line: `{"loss":0.5,"i":3}`,
			want: got{run: "run7", text: "3"},
		},
		"text":         {line: `hello`, want: got{run: "run7", event: "log", reason: "not_json", text: "hello"}},
		"array":        {line: `[1]`, want: got{run: "run7", event: "log", reason: "not_object", text: "[1]"}},
		"cut":          {line: `{"a":1`, want: got{run: "run7", event: "log", reason: "not_json", text: `{"a":1`}},
		"rest":         {line: `{"a":1}b`, want: got{run: "run7", event: "log", reason: "trailing_data", text: `{"a":1}b`}},
		"mllog":        {line: `:::MLLOG {"i":4}`, want: got{run: "run7", text: "4"}},
		"dllogger":     {line: `DLLL {"i":5}`, want: got{run: "run7", text: "5"}},
		"rank prefix":  {line: `[rank3]: {"i":6}`, want: got{run: "run7", text: "6", rank: "3"}},
		"two prefixes": {line: `[rank3]: :::MLLOG {"i":6}`, want: got{run: "run7", text: "6", rank: "3"}},
		"rank of the record goes first": {
			line: `[rank3]: {"ts":1790000000,"event":"step.end","rank":1,"body":{"i":6}}`,
			want: got{run: "run7", event: "step.end", text: "6", rank: "1"},
		},
		"text behind a prefix": {
			line: `[rank3]: Traceback`,
			want: got{run: "run7", event: "log", reason: "not_json", text: "[rank3]: Traceback", rank: "3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := readAll(t, c.line+"\n", c.edit).sink.got()
			require.Len(t, all, 1)
			c.want.path = "run7/train.jsonl"
			c.want.uid = trainrecord.UID{
				RunID: c.want.run, File: trainrecord.FileID([]byte(c.line)), CRC: trainrecord.LineCRC([]byte(c.line)),
			}.String()
			assert.Equal(t, c.want, all[0])
		})
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	edit := func(r *rig) {
		r.cfg.Timezone = "Europe/Berlin"
		r.cfg.LinePrefixes = []string{`^(?P<time>\S+ \S+) \| `}
	}
	r := readAll(t, `{"ts":"2026-11-29 10:00:00","event":"log","body":{}}`+"\n"+
		`2026-11-29 11:00:00,500 | {"i":1}`+"\n"+`{"i":2}`+"\n", edit)
	var times []pcommon.Timestamp
	for _, ld := range r.sink.logs {
		for _, rl := range ld.ResourceLogs().All() {
			for _, lr := range rl.ScopeLogs().At(0).LogRecords().All() {
				times = append(times, lr.Timestamp())
				assert.NotZero(t, lr.ObservedTimestamp())
			}
		}
	}
	assert.Equal(t, []pcommon.Timestamp{1795942800e9, 1795946400_500000000, 0}, times)
}

func TestNonFiniteNumbersAsConfigured(t *testing.T) {
	t.Parallel()
	for choice, want := range map[string]string{"keep": "NaN", "string": "NaN", "null": ""} {
		r := readAll(t, `{"i":NaN}`+"\n", func(r *rig) { r.cfg.NonFinite = choice })
		v, ok := r.sink.logs[0].ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body().Map().Get("i")
		require.True(t, ok)
		assert.Equal(t, want, v.AsString(), choice)
		assert.Equal(t, map[string]pcommon.ValueType{
			"keep": pcommon.ValueTypeDouble, "string": pcommon.ValueTypeStr, "null": pcommon.ValueTypeEmpty,
		}[choice], v.Type(), choice)
	}
}

func TestNoRunIDIsAReasonOfItsOwn(t *testing.T) {
	t.Parallel()
	built := newBuilders(trainlines.Options{}).build(source{path: "/train.jsonl", id: newPathID(nil, "/train.jsonl")},
		[]line{{end: 20, data: []byte(`{"loss":0.5}`)}})
	require.Len(t, built.batches, 1)
	b := built.batches[0]
	require.Len(t, b.lines, 1)
	g := record(b.logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0))
	assert.Equal(t, "no_run_id", g.reason)
	assert.Equal(t, `{"loss":0.5}`, g.text)
	assert.Empty(t, b.run)
	require.Len(t, b.bad, 1)
	assert.ErrorIs(t, b.bad[0].err, errNoRunID)
}

func TestOneCallIsOneRunAndAtMostAThousandRecords(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 2100 {
		run := "x"
		if i >= 2050 {
			run = "y"
		}
		fmt.Fprintf(&text, `{"ts":1,"event":"log","run_id":"%s","body":{}}`+"\n", run)
	}
	text.WriteString("not json\n" + `{"i":1}` + "\n")
	r := readAll(t, text.String(), nil)
	var sizes []int
	for _, ld := range r.sink.logs {
		sizes = append(sizes, ld.LogRecordCount())
	}
	assert.Equal(t, []int{1000, 1000, 50, 51, 1}, sizes, "a bad line belongs to the run before, an object to the path's")
	assert.Equal(t, []string{"x", "x", "x", "y", "run7"}, r.sink.runs)
}

func TestConsecutiveEqualResourcesAreShared(t *testing.T) {
	t.Parallel()
	line := func(resource string) string { return `{"ts":1,"event":"log",` + resource + `"body":{}}` + "\n" }
	a, b := `"resource":{"service.name":"a"},`, `"host":"h",`
	r := readAll(t, line(a)+line(a)+line(b)+line("")+line("")+line(a), nil)
	require.Len(t, r.sink.logs, 1)
	var shape []string
	for _, rl := range r.sink.logs[0].ResourceLogs().All() {
		scope := rl.ScopeLogs().At(0)
		assert.Equal(t, trainrecord.ScopeName, scope.Scope().Name())
		assert.Equal(t, trainrecord.SchemaVersion, scope.Scope().Version())
		assert.Equal(t, trainrecord.SchemaURL, scope.SchemaUrl())
		assert.Equal(t, trainrecord.SchemaURL, rl.SchemaUrl())
		shape = append(shape, fmt.Sprintf("%d %v", scope.LogRecords().Len(), rl.Resource().Attributes().AsRaw()))
	}
	assert.Equal(t, []string{"2 map[service.name:a]", "1 map[host.name:h]", "2 map[]", "1 map[service.name:a]"}, shape)
}

func TestRepairedLinesAreCounted(t *testing.T) {
	t.Parallel()
	r := readAll(t, `{"ts":1790000000,"event":"log","phase":"warmup","framework":"mine","severity":"loud","resource":{"`+trainrecord.AttrRunID+`":"r"},"body":{"a":1}}`+"\n", nil)
	r.telemetry(`otelcol_train_jsonl_flaws{kind="off_list",receiver="train_jsonl"} 2`, `otelcol_train_jsonl_flaws{kind="field_dropped",receiver="train_jsonl"} 2`)
	require.Len(t, r.sink.logs, 1)
	rl := r.sink.logs[0].ResourceLogs().At(0)
	assert.Empty(t, rl.Resource().Attributes().AsRaw())
	assert.Equal(t, map[string]any{"a": int64(1), trainrecord.BodyFramework: map[string]any{
		"phase": "warmup", "framework": "mine", "severity": "loud", "resource." + trainrecord.AttrRunID: "r",
	}},
		rl.ScopeLogs().At(0).LogRecords().At(0).Body().Map().AsRaw())
}

func TestBadLinesAreCountedAndLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	r := readAll(t, "a\nb\n[1]\n"+`{"ts":1,"event":"log","body":{"a":"`+"\xff"+`","b":1,"b":2}}`+"\n", nil)
	r.telemetry(`otelcol_train_jsonl_bad_lines{reason="not_json",receiver="train_jsonl"} 2`,
		`otelcol_train_jsonl_bad_lines{reason="not_object",receiver="train_jsonl"} 1`,
		`otelcol_train_jsonl_flaws{kind="bad_utf8",receiver="train_jsonl"} 1`,
		`otelcol_train_jsonl_flaws{kind="duplicate_key",receiver="train_jsonl"} 1`)
	logged := r.logs.FilterMessageSnippet("no record").All()
	require.Len(t, logged, 1)
	assert.Equal(t, r.path("run7/train.jsonl"), logged[0].ContextMap()["file"])
	assert.Equal(t, int64(0), logged[0].ContextMap()["offset"])
}

func TestTimesThatCannotBeRightAreCounted(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	line := func(offset time.Duration) string {
		return fmt.Sprintf(`{"ts":%d,"event":"log","body":{}}`+"\n", at.Add(offset).Unix())
	}
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"right":                        {line(0), 0},
		"a day":                        {line(-24*time.Hour) + line(24*time.Hour), 0},
		"a long run":                   {line(-90*24*time.Hour) + line(-time.Hour), 0},
		"the future":                   {line(25*time.Hour) + line(48*time.Hour) + line(0), 2},
		"the past when it was written": {line(-50*time.Hour) + line(-25*time.Hour), 1},
		"no time":                      {`{"loss":1}` + "\n", 0},
		"of a prefix":                  {`2020-01-01 00:00:00 | INFO | train | {"loss":1}` + "\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.write("run7/train.jsonl", c.text)
			require.NoError(t, os.Chtimes(r.path("run7/train.jsonl"), at, at))
			r.stepAndClose()
			want := fmt.Sprintf(`otelcol_train_jsonl_flaws{kind="clock",receiver="train_jsonl"} %d`, c.want)
			if c.want > 0 {
				r.telemetry(want)
				assert.Equal(t, 1, r.logs.FilterMessageSnippet("more than a day off").Len())
			} else {
				assert.NotContains(t, strings.Join(r.lines(), "\n"), `kind="clock"`)
			}
			for _, lr := range r.sink.logs[0].ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().All() {
				if strings.Contains(c.text, "event") {
					assert.NotZero(t, lr.Timestamp(), "it is not corrected")
				}
			}
		})
	}
}
