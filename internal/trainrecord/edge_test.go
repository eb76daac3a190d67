package trainrecord

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord/cputime"
)

// TestEdgeCasesOfJSON are the inputs about which JSON parsers disagree.
func TestEdgeCasesOfJSON(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	for value, want := range map[string]any{
		`Infinity`: inf, `-Infinity`: math.Inf(-1), `1e400`: inf, `-1e400`: math.Inf(-1),
		`1e-400`: 0.0, `-0`: int64(0), `-0.0`: math.Copysign(0, -1), `0.1`: 0.1, `1.0`: 1.0, `1E5`: 1e5, `123456789012345.6`: 123456789012345.6,
		`0.000000000000001`: 1e-15, `9007199254740993`: int64(9007199254740993), `9223372036854775807`: int64(math.MaxInt64),
		`-9223372036854775808`: int64(math.MinInt64), `9223372036854775808`: "9223372036854775808", `18446744073709551615`: "18446744073709551615",
		`9007199254740993.0`: 9007199254740992.0,
		`"` + "\xff" + `"`:   "\uFFFD", `"` + "\xed\xa0\x80" + `"`: "\uFFFD\uFFFD\uFFFD", `"\u0000"`: "\x00", `"\ud83d\ude00"`: "😀", `"\ud83dx"`: "\uFFFDx",
		`"\udc00"`: "\uFFFD", `"\/\b\f\n\r\t"`: "/\b\f\n\r\t", "\"\x7f\"": "\x7f", `true`: true, `null`: nil, `{}`: map[string]any{}, `[]`: []any{},
	} {
		l, lr := decode(t, `{"a":`+value+`}`)
		require.Equal(t, LineObject, l.Kind, "%s: %v", value, l.Err)
		got := lr.Body().Map().AsRaw()["a"]
		assert.Equal(t, want, got, value)
		if f, ok := want.(float64); ok {
			assert.Equal(t, math.Signbit(f), math.Signbit(got.(float64)), value)
		}
	}
	for _, value := range []string{
		`nan`, `+Infinity`, `-NaN`, `Inf`, `01`, `-01`, `1.`, `.5`, `1e`, `0x10`, `1_000`, "\"\x01\"", "\"\t\"", `"\x"`, `"\u12"`, `'a'`, `undefined`, `True`, `tru`,
		`[1,]`, `[,1]`, `{"b":1,}`, `{b:1}`, `"a`, "\u00a01", `//`, strings.Repeat("[", 10_000), strings.Repeat("[", 1_000_000), strings.Repeat(`{"a":`, 1_000_000),
	} {
		l, _ := decode(t, `{"a":`+value+`}`)
		assert.Equal(t, LineError, l.Kind, "%.40s", value)
	}
	l, lr := decode(t, `{"a":1,"b":{"c":1,"c":2},"a":{"d":3}}`)
	assert.Equal(t, 2, l.DuplicateKeys)
	assert.Equal(t, map[string]any{"a": map[string]any{"d": int64(3)}, "b": map[string]any{"c": int64(2)}}, lr.Body().Map().AsRaw())
}

// TestHostileLinesAreRefusedInTime holds the time of a hostile line to its size: a search for each key among all others
// would take seconds.
func TestHostileLinesAreRefusedInTime(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"keys":   `{` + strings.Repeat(`"k":1,`, 2_000_000) + `"z":1}`,
		"values": `{"a":[` + strings.Repeat(`1,`, 5_000_000) + `1]}`,
		"depth":  strings.Repeat(`{"a":`, 2_000_000),
		"text":   `{"a":"` + strings.Repeat(`\u0000`, 2_000_000) + `"}`,
	} {
		assert.Less(t, cputime.Of(func() { _, _ = decode(t, line) }), 5*time.Second, name)
	}
}

func TestNonFiniteNumbersAsConfigured(t *testing.T) {
	t.Parallel()
	const body = `"nan":NaN,"inf":Infinity,"neg":-Infinity,"big":1e999,"n":1.5,"i":2}`
	for o, want := range map[NonFinite]map[string]any{
		NullNonFinite:   {"nan": nil, "inf": nil, "neg": nil, "big": nil, "n": 1.5, "i": int64(2)},
		StringNonFinite: {"nan": "NaN", "inf": "Infinity", "neg": "-Infinity", "big": "Infinity", "n": 1.5, "i": int64(2)},
	} {
		d := NewDecoder(DecoderOptions{NonFinite: o})
		lr := plog.NewLogRecord()
		l := d.Decode([]byte(`{`+body), lr)
		require.Equal(t, LineObject, l.Kind)
		assert.Equal(t, want, lr.Body().Map().AsRaw())
		l = d.Decode([]byte(`{"schema":"pathologize.ml.training/1","event":"epoch.end","body":{"measurements":{`+body+`}}`), lr)
		require.Equal(t, LineRecord, l.Kind, "%v", l.Err)
		assert.Equal(t, want, lr.Body().Map().AsRaw()["measurements"])
	}
}

func TestExtent(t *testing.T) {
	t.Parallel()
	d := NewDecoder(DecoderOptions{})
	const record = `{"schema":"pathologize.ml.training/1","event":"log"}`
	for text, want := range map[string]struct {
		n      int
		record bool
	}{
		`{"a":1}`: {7, false}, `{"a":1} `: {7, false}, `{"a":1}{"b":2}`: {7, false}, `{"a":"}"}x`: {9, false}, record + "x": {len(record), true},
		`{"a":1`: {0, false}, `x{}`: {0, false}, ``: {0, false}, ` {}`: {0, false}, `[1]`: {0, false},
	} {
		n, isRecord := d.Extent([]byte(text))
		assert.Equal(t, want.n, n, text)
		assert.Equal(t, want.record, isRecord, text)
	}
}

// TestRefusalIsTheReasonOfDecode for what begins with no object.
func TestRefusalIsTheReasonOfDecode(t *testing.T) {
	t.Parallel()
	d := NewDecoder(DecoderOptions{})
	for text, want := range map[string]Reason{
		"text": ReasonNotJSON, "": ReasonNotJSON, "[1]": ReasonNotObject, "[1]{}": ReasonNotJSON, `{"a":`: ReasonNotJSON, "{'a':1}": ReasonPythonRepr, "{'a':1}{": ReasonNotJSON,
		"{}x": ReasonTrailingData, strings.Repeat(`{"a":`, MaxDepth+1): ReasonTooDeep, `{"a":[` + strings.Repeat("0,", MaxValues) + "0]}": ReasonTooManyValues,
	} {
		assert.Equal(t, want, d.Refusal([]byte(text)), text[:min(len(text), 20)])
		assert.Equal(t, want, d.Decode([]byte(text), plog.NewLogRecord()).Reason, text[:min(len(text), 20)])
	}
}

// TestTextsDoNotChange shows that what a decoder gave stays as it was when it reads on.
func TestTextsDoNotChange(t *testing.T) {
	t.Parallel()
	d := NewDecoder(DecoderOptions{})
	logs := plog.NewLogRecordSlice()
	line := func(i int) string {
		pad := strings.Repeat(string(rune('a'+i%26)), i%200)
		return `{"k` + pad + `":"v` + pad + `","o":{"` + pad + `x":"\u0041` + pad + `"}}`
	}
	for i := range 2000 {
		text := []byte(line(i))
		require.Equal(t, LineObject, d.Decode(text, logs.AppendEmpty()).Kind)
		for k := range text { // the reader's buffer is used again
			text[k] = '#'
		}
	}
	for i := range 2000 {
		pad := strings.Repeat(string(rune('a'+i%26)), i%200)
		want := map[string]any{"k" + pad: "v" + pad, "o": map[string]any{pad + "x": "A" + pad}}
		require.Equal(t, want, logs.At(i).Body().Map().AsRaw(), i)
	}
}

// What whoever wrote a line reads about it.
func TestMistakesSayWhatToDo(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"{":                    "one object a line, without line breaks",
		`{"schema": "x",`:      "one object a line, without line breaks",
		`{"event": "run.start`: "one object a line, without line breaks",
		`  "epoch": 1,`:        "one a line",
		"}":                    "one a line",
	} {
		lr := plog.NewLogRecord()
		l := NewDecoder(DecoderOptions{}).Decode([]byte(line), lr)
		require.Equal(t, LineError, l.Kind, line)
		assert.ErrorContains(t, l.Err, want, line)
	}
	lr := plog.NewLogRecord()
	l := NewDecoder(DecoderOptions{}).Decode([]byte(`{"schema":"`+Schema+`","ts":1,"event":"epoch_end","run_id":"a","body":{"epoch":1}}`), lr)
	require.Equal(t, LineRecord, l.Kind)
	assert.Equal(t, 1, l.OffList)
	assert.Contains(t, l.Flaw, `event: "epoch_end", want one of run.start, epoch.end, step.end`)
	for _, text := range []string{"token ghp_abc", "password=hunter", "ghp_abc1", "epoch_end_with_more_of_a_name_than", "épo"} {
		said := plog.NewLogRecord()
		l = NewDecoder(DecoderOptions{}).Decode([]byte(`{"schema":"`+Schema+`","event":"`+text+`","run_id":"a"}`), said)
		assert.NotContains(t, l.Flaw, text)
		assert.Contains(t, l.Flaw, "event: want one of run.start, epoch.end, step.end")
	}
	rec, ok := FromLog(pcommon.NewResource(), lr)
	require.True(t, ok)
	assert.Equal(t, "epoch_end", rec.Original)
	assert.Equal(t, EventLog, rec.Event)
}

// TestALineCannotSayWhatTheReceiverSaw: an event of the receiver on a line is a text of its trainer.
func TestALineCannotSayWhatTheReceiverSaw(t *testing.T) {
	t.Parallel()
	for _, key := range []string{`"schema":"` + Schema + `"`, `"run_id":"a"`} {
		lr := plog.NewLogRecord()
		l := NewDecoder(DecoderOptions{}).Decode([]byte(`{`+key+`,"ts":1,"event":"stream.status","body":{"state":"growing"}}`), lr)
		require.Equal(t, LineRecord, l.Kind)
		assert.Equal(t, EventLog, l.Event)
		assert.Equal(t, 1, l.OffList)
		rec, ok := FromLog(pcommon.NewResource(), lr)
		require.True(t, ok)
		assert.Equal(t, EventLog, rec.Event)
		assert.Equal(t, EventStreamStatus, rec.Original)
		state, _ := rec.Body.Get(BodyState)
		assert.Equal(t, "growing", state.Str(), "nothing is lost")
	}
}
