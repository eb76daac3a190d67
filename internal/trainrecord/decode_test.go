package trainrecord

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

func decode(t *testing.T, line string) (Line, plog.LogRecord) {
	t.Helper()
	lr := plog.NewLogRecord()
	l := NewDecoder(DecoderOptions{}).Decode([]byte(line), lr)
	return l, lr
}

const epochLine = `{"schema":"pathologize.ml.training/1","ts":"2026-11-20T10:00:30.000Z","event":"epoch.end","run_id":"es-1",` +
	`"attempt":2,"seq":7,"rank":3,"part":"fold=0","host":"h1","framework":"lightning","phase":"train","severity":"WARN",` +
	`"trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"b7ad6b7169203331","resource":{"service.name":"trainer","process.pid":42},` +
	`"body":{"epoch":0,"planned_epochs":100,"learning_rate":{"0":0.001},"measurements":{"train/loss":NaN,"val/loss":-Infinity,"x":1e400}}}`

func TestARecordBecomesALogRecord(t *testing.T) {
	t.Parallel()
	d := NewDecoder(DecoderOptions{})
	lr := plog.NewLogRecord()
	l := d.Decode([]byte(epochLine), lr)
	require.Equal(t, LineRecord, l.Kind, "%v", l.Err)
	assert.Equal(t, "es-1", l.RunID)
	assert.Equal(t, EventEpochEnd, l.Event)
	assert.Equal(t, "pathologize.ml.training.epoch.end", lr.EventName())
	assert.Equal(t, "2026-11-20 10:00:30 +0000 UTC", lr.Timestamp().AsTime().String())
	assert.Equal(t, plog.SeverityNumberWarn, lr.SeverityNumber())
	assert.Equal(t, "0af7651916cd43dd8448eb211c80319c", lr.TraceID().String())
	assert.Equal(t, "b7ad6b7169203331", lr.SpanID().String())
	assert.Equal(t, map[string]any{
		AttrRunID: "es-1", AttrRunAttempt: int64(2), AttrRecordSeq: int64(7), AttrRunRank: int64(3), AttrRunPart: "fold=0",
		AttrFramework: "lightning", AttrPhase: "train", AttrEpochCurrent: int64(0), AttrEpochPlanned: int64(100),
	}, lr.Attributes().AsRaw())
	m := lr.Body().Map().AsRaw()["measurements"].(map[string]any)
	assert.True(t, math.IsNaN(m["train/loss"].(float64)))
	assert.True(t, math.IsInf(m["val/loss"].(float64), -1))
	assert.True(t, math.IsInf(m["x"].(float64), 1))
	res := pcommon.NewResource()
	d.PutResource(res.Attributes())
	assert.Equal(t, map[string]any{"service.name": "trainer", "process.pid": int64(42), "host.name": "h1"}, res.Attributes().AsRaw())

	r, ok := FromLog(res, lr)
	require.True(t, ok)
	assert.Equal(t, int64(2), r.Attempt)
	assert.Equal(t, int64(3), r.Rank)
	assert.Equal(t, "h1", r.Host)
	assert.Equal(t, "fold=0", r.Part)
}

func TestWhatIsARecord(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		line string
		want LineKind
	}{
		"schema is enough":                 {`{"schema":"pathologize.ml.training/1","event":"heartbeat","run_id":"r"}`, LineRecord},
		"event, time and run":              {`{"event":"heartbeat","ts":1796045246,"run_id":"r"}`, LineRecord},
		"event, time and body":             {`{"event":"epoch.end","ts":"2026-11-20T10:00:30Z","body":{"epoch":1}}`, LineRecord},
		"no time, no schema":               {`{"event":"epoch.end","run_id":"r","body":{}}`, LineObject},
		"no run, no body":                  {`{"event":"epoch.end","ts":1796045246}`, LineObject},
		"null time is no time":             {`{"event":"epoch.end","ts":null,"run_id":"r"}`, LineObject},
		"event is a message of structlog":  {`{"event":"epoch done","ts":1796045246,"run_id":"r"}`, LineObject},
		"levanter logs":                    {`{"tracker":"json_logger","event":"log","step":1,"metrics":{"train/loss":1.5}}`, LineObject},
		"another schema":                   {`{"schema":"other/1","event":"x"}`, LineObject},
		"empty object":                     {`{}`, LineObject},
		"framework row that names its run": {`{"run_id":"r","loss":1.0}`, LineObject},
		"framework row":                    {` {"loss": 1.0, "epoch": 0.5} ` + "\r", LineObject},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, lr := decode(t, tc.line)
			require.Equal(t, tc.want, l.Kind, "%v", l.Err)
			if tc.want == LineObject {
				var want map[string]any
				require.NoError(t, json.Unmarshal([]byte(tc.line), &want))
				assert.Len(t, lr.Body().Map().AsRaw(), len(want))
				assert.Empty(t, lr.EventName())
				assert.Zero(t, lr.Timestamp())
				_, named := want[KeyRunID]
				_, found := lr.Attributes().Get(AttrRunID)
				assert.Equal(t, named, found)
				assert.Equal(t, named, l.RunID == "r")
			}
		})
	}
}

func TestWrongTypesAreRefusedByReason(t *testing.T) {
	t.Parallel()
	const head = `{"schema":"pathologize.ml.training/1","event":"epoch.end","run_id":"r",`
	for line, want := range map[string]string{
		head + `"attempt":0}`:   "attempt",
		head + `"attempt":"2"}`: "attempt",
		head + `"attempt":1.5}`: "attempt",
		head + `"rank":-1}`:     "rank",
		head + `"seq":0}`:       "seq",
		head + `"part":5}`:      "part",
		`{"schema":"pathologize.ml.training/1","event":"epoch.end","run_id":["r"]}`: "run_id",
	} {
		l, lr := decode(t, line)
		require.Equal(t, LineError, l.Kind, line)
		assert.Equal(t, ReasonWrongType, l.Reason, line)
		assert.ErrorContains(t, l.Err, want+": want ")
		assert.Zero(t, lr.Attributes().Len())
		assert.Equal(t, pcommon.ValueTypeEmpty, lr.Body().Type())
	}
}

func TestOptionalFieldsWithoutMeaningCostOnlyThemselves(t *testing.T) {
	t.Parallel()
	l, lr := decode(t, `{"schema":"pathologize.ml.training/1","event":"epoch.end","run_id":"r","ts":"yesterday","severity":"loud",`+
		`"trace_id":"zz","span_id":7,"host":1,"resource":[],"new_key":{"a":[1]},"body":{"epoch":3.0,"step":null}}`)
	require.Equal(t, LineRecord, l.Kind, "%v", l.Err)
	assert.Equal(t, 6, l.FieldsDropped)
	assert.Equal(t, "ts: want RFC 3339 with a zone, or Unix time in s, ms, us or ns, from 1980 to 2200", l.Flaw)
	assert.Zero(t, lr.Timestamp())
	assert.Equal(t, plog.SeverityNumberInfo, lr.SeverityNumber())
	assert.True(t, lr.TraceID().IsEmpty())
	assert.Equal(t, map[string]any{"epoch": int64(3), "framework": map[string]any{
		"new_key": map[string]any{"a": []any{int64(1)}},
		"ts":      "yesterday", "severity": "loud", "trace_id": "zz", "span_id": int64(7), "host": int64(1), "resource": []any{},
	}}, lr.Body().Map().AsRaw())
}

func TestAMeasurementThatIsNoNumberIsCounted(t *testing.T) {
	t.Parallel()
	const head = `{"schema":"pathologize.ml.training/1","event":"epoch.end","run_id":"r","body":{"epoch":3,`
	for body, want := range map[string]struct {
		n    int
		flaw string
	}{
		`"measurements":{"val/loss":"0.5","val":{"acc":1},"val/f1":true,"lr":[1],"train/loss":2}}}`:         {4, "body.measurements: want a number of its range"},
		`"learning_rate":{"pg0":"0.001"},"durations":{"epoch_s":"1.5"}}}`:                                   {2, "body.learning_rate: want a number of its range"},
		`"measurements":{"a":null,"b":NaN,"c":"-inf","d":123456789012345678901234567890,"e":1}}}`:           {},
		`"measurements":{"":0.5,"val/loss":1},"learning_rate":{"":0.1},"durations":{"":null}}}`:             {2, "body.measurements: want a name for each number"},
		`"params":{"":1},"other":{"note":"text"}}}`:                                                         {},
		`"best":{"metric":1,"mode":"min","value":"0.5","epoch":1.5},"checkpoint":{"path":["a"],"note":7}}}`: {4, "body.best.metric: want a string"},
	} {
		l, _ := decode(t, head+body)
		require.Equal(t, LineRecord, l.Kind, "%v", l.Err)
		assert.Equal(t, want.n, l.FieldsDropped, body)
		assert.Equal(t, want.flaw, l.Flaw, body)
	}
}

func TestWhatListsHoldIsHeldToItsType(t *testing.T) {
	t.Parallel()
	l, _ := decode(t, `{"schema":"pathologize.ml.training/1","event":"run.end","run_id":"r","body":{"artifacts":["a.pt",{"path":"b.pt"},3]}}`)
	require.Equal(t, LineRecord, l.Kind, "%v", l.Err)
	assert.Equal(t, 2, l.FieldsDropped)
	assert.Equal(t, "body.artifacts[]: want an object", l.Flaw)
}

func TestEpochsAreOfARange(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`"epoch":999999999`: "", `"epoch":1795000000`: "body.epoch: want an integer of its range", `"epoch":4611686018427387904`: "body.epoch: want an integer of its range",
		`"planned_epochs":1795000000`: "body.planned_epochs: want an integer of its range",
		`"epoch_progress":0`:          "", `"epoch_progress":1.5`: "", `"epoch_progress":-0.5`: "body.epoch_progress: want a number of its range",
		`"epoch_progress":1e18`: "body.epoch_progress: want a number of its range", `"epoch_progress":NaN`: "body.epoch_progress: want a number of its range",
	} {
		l, lr := decode(t, `{"schema":"pathologize.ml.training/1","event":"epoch.end","run_id":"r","body":{`+body+`,"samples":7}}`)
		require.Equal(t, LineRecord, l.Kind, "%v", l.Err)
		assert.Equal(t, want, l.Flaw, body)
		samples, _ := lr.Body().Map().Get(BodySamples)
		assert.EqualValues(t, 7, samples.Int())
		_, kept := lr.Body().Map().Get(BodyFramework)
		assert.Equal(t, want != "", kept, body)
	}
}

func TestAnUnknownEventOfOurSchemaBecomesALogEvent(t *testing.T) {
	t.Parallel()
	l, lr := decode(t, `{"schema":"pathologize.ml.training/2","event":"teleport.end","run_id":"r","body":{"epoch":"x"}}`)
	require.Equal(t, LineRecord, l.Kind, "%v", l.Err)
	assert.Equal(t, EventName(EventLog), lr.EventName())
	assert.Equal(t, 1, l.OffList)
	assert.Zero(t, l.FieldsDropped)
	assert.Equal(t, map[string]any{"epoch": "x", "framework": map[string]any{"event": "teleport.end"}}, lr.Body().Map().AsRaw())
	for _, without := range []string{"", `"event":"",`} {
		l, lr = decode(t, `{"schema":"pathologize.ml.training/1",`+without+`"run_id":"r"}`)
		assert.Equal(t, EventName(EventLog), lr.EventName())
		assert.Equal(t, [2]int{1, 0}, [2]int{l.FieldsDropped, l.OffList})
		assert.Empty(t, lr.Body().Map().AsRaw())
	}
}

func TestKeysOfTheVocabularyInAResourceAreDroppedAndCounted(t *testing.T) {
	t.Parallel()
	d := NewDecoder(DecoderOptions{})
	for resource, want := range map[string]int{
		`{"service.name":"s"}`: 0,
		`{"service.name":"s","` + AttrRunID + `":"r","` + AttrRunRank + `":1}`: 2,
		`{"service.name":"s","\u0070` + AttrRunID[1:] + `":"r"}`:               1,
		`{"service.name":"s","pathologize.ml.trainings":1}`:                    0,
		`{"service.name":"` + AttrRunID + `"}`:                                 0,
	} {
		l := d.Decode([]byte(`{"ts":1790000000,"event":"heartbeat","run_id":"r","resource":`+resource+`}`), plog.NewLogRecord())
		require.Equal(t, LineRecord, l.Kind, "%v", l.Err)
		assert.Equal(t, want, l.FieldsDropped, resource)
		res := pcommon.NewMap()
		d.PutResource(res)
		for k := range res.All() {
			assert.False(t, strings.HasPrefix(k, Namespace+"."), k)
		}
		assert.Contains(t, res.AsRaw(), "service.name")
	}
}

func TestLinesThatAreNoObject(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, MaxDepth+1) + "1" + strings.Repeat("}", MaxDepth+1)
	var keys strings.Builder
	for i := range MaxKeys + 1 {
		fmt.Fprintf(&keys, `"k%d":1,`, i)
	}
	for line, want := range map[string]Reason{
		``:                             ReasonNotJSON,
		`hello`:                        ReasonNotJSON,
		`null`:                         ReasonNotObject,
		`[1,2]`:                        ReasonNotObject,
		`"text"`:                       ReasonNotObject,
		`-Infinity`:                    ReasonNotObject,
		`null pointer`:                 ReasonNotJSON,
		`{"a":1} x`:                    ReasonTrailingData,
		`{"a":1}{"b":2}`:               ReasonTrailingData,
		"{\"a\":1}\x00\x00":            ReasonTrailingData,
		"\x00\x00":                     ReasonNotJSON,
		`{"a":01}`:                     ReasonNotJSON,
		`{"a":1,}`:                     ReasonNotJSON,
		`{"a":[1,]}`:                   ReasonNotJSON,
		`{"a":1.}`:                     ReasonNotJSON,
		`{"a":nan}`:                    ReasonNotJSON,
		`{"a":+1}`:                     ReasonNotJSON,
		`{'a':1}`:                      ReasonPythonRepr,
		`{'loss': 0.5, 'x': nan} `:     ReasonPythonRepr,
		`{"it's": True, 'b': None}`:    ReasonPythonRepr,
		`{'a':1`:                       ReasonNotJSON,
		`'a'`:                          ReasonNotJSON,
		`{"a":"\x"}`:                   ReasonNotJSON,
		"{\"a\":\"\x01\"}":             ReasonNotJSON,
		`{"a":"b`:                      ReasonNotJSON,
		`{"a"`:                         ReasonNotJSON,
		deep:                           ReasonTooDeep,
		`{` + keys.String() + `"z":1}`: ReasonTooManyKeys,
		`{"a":[` + strings.Repeat("1,", MaxValues) + `1]}`: ReasonTooManyValues,
	} {
		l, _ := decode(t, line)
		assert.Equal(t, LineError, l.Kind, "%.60s", line)
		assert.Equal(t, want, l.Reason, "%.60s: %v", line, l.Err)
	}
}

func TestNumbersAreExact(t *testing.T) {
	t.Parallel()
	_, lr := decode(t, `{"a":9007199254740993,"b":18446744073709551615,"c":-9223372036854775808,"d":1.0,"e":1e-05,"f":-0,"g":NaN}`)
	m := lr.Body().Map().AsRaw()
	assert.Equal(t, int64(9007199254740993), m["a"])
	assert.Equal(t, "18446744073709551615", m["b"])
	assert.Equal(t, int64(math.MinInt64), m["c"])
	assert.Equal(t, 1.0, m["d"])
	assert.Equal(t, 1e-05, m["e"])
	assert.Equal(t, int64(0), m["f"])
}

func TestOdditiesAreCounted(t *testing.T) {
	t.Parallel()
	l, lr := decode(t, `{"a":1,"a":null,"b":"x`+"\xff\xfe"+`y","c":"\ud800","d":"\ud83d\ude00","e":[`+strings.Repeat("1,", MaxElements)+`1]}`)
	require.Equal(t, LineObject, l.Kind, "%v", l.Err)
	assert.Equal(t, 1, l.DuplicateKeys)
	assert.Equal(t, 3, l.BadUTF8)
	assert.Equal(t, 1, l.ArraysCut)
	m := lr.Body().Map().AsRaw()
	assert.Nil(t, m["a"])
	assert.Equal(t, "x\uFFFD\uFFFDy", m["b"])
	assert.Equal(t, "\uFFFD", m["c"])
	assert.Equal(t, "😀", m["d"])
	assert.Len(t, m["e"], MaxElements)
	assert.Equal(t, map[string]any{AttrRecordArraysCut: int64(1)}, lr.Attributes().AsRaw())
}

func TestADecoderKeepsNothingFromTheLineBefore(t *testing.T) {
	t.Parallel()
	d := NewDecoder(DecoderOptions{})
	lr := plog.NewLogRecord()
	d.Decode([]byte(epochLine), lr)
	d.Decode([]byte(`{"a": "bad`), lr)
	again := d.Decode([]byte(`{"schema":"pathologize.ml.training/1","event":"heartbeat","run_id":"q"}`), lr)
	assert.Equal(t, Line{Kind: LineRecord, RunID: "q", Event: EventHeartbeat, Resource: again.Resource}, again)
	assert.Empty(t, again.Resource)
	assert.Equal(t, map[string]any{AttrRunID: "q"}, lr.Attributes().AsRaw())
	res := pcommon.NewMap()
	d.PutResource(res)
	assert.Zero(t, res.Len())
}

func TestErrorLogsKeepFourKibibytesOfValidText(t *testing.T) {
	t.Parallel()
	lr := plog.NewLogRecord()
	PutErrorLog(lr, ReasonNotJSON, []byte("\xff"+strings.Repeat("ü", 4000)))
	text, _ := lr.Body().Map().Get(BodyMessage)
	assert.LessOrEqual(t, len(text.Str()), MaxRaw)
	assert.Greater(t, len(text.Str()), MaxRaw-8)
	assert.True(t, strings.HasPrefix(text.Str(), "\uFFFDü"))
	assert.NotContains(t, strings.TrimPrefix(text.Str(), "\uFFFD"), "\uFFFD")
	assert.Equal(t, map[string]any{AttrRecordError: "not_json"}, lr.Attributes().AsRaw())
}

func TestKeysOfTheBodyBesideItAreCounted(t *testing.T) {
	t.Parallel()
	const head = `{"schema":"pathologize.ml.training/1","event":"epoch.end","run_id":"r",`
	l, lr := decode(t, head+`"epoch":0,"measurements":{"val/loss":1},"note":"x"}`)
	assert.Equal(t, 2, l.FieldsDropped)
	assert.Equal(t, "epoch: want it in body", l.Flaw)
	assert.Equal(t, map[string]any{"framework": map[string]any{
		"epoch": int64(0), "measurements": map[string]any{"val/loss": int64(1)}, "note": "x",
	}}, lr.Body().Map().AsRaw())
	l, _ = decode(t, head+`"epoch":7,"body":{"epoch":0}}`)
	assert.Zero(t, l.FieldsDropped, "the body tells it")
}

func TestEscapedTextInTheHeadIsKept(t *testing.T) {
	t.Parallel()
	l, lr := decode(t, `{"schema":"pathologize.ml.training\/1","event":"h\u0065artbeat","run_id":"r\u0031","p\u0061rt":"p\u0032","n\u0065w":1}`)
	require.Equal(t, LineRecord, l.Kind, "%v", l.Err)
	assert.Equal(t, EventHeartbeat, l.Event)
	assert.Equal(t, map[string]any{AttrRunID: "r1", AttrRunPart: "p2"}, lr.Attributes().AsRaw())
	assert.Equal(t, map[string]any{"framework": map[string]any{"new": int64(1)}}, lr.Body().Map().AsRaw())
}

func TestMayBeRecord(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		`{"event": "log"}`:                       true,
		`{"body": {"event": 1}}`:                 true,
		`{"schema":"pathologize.ml.training/1"}`: true,
		`{"ev\u0065nt": "log"}`:                  true,
		`{"loss": 0.5, "epoch": 1}`:              false,
		`{"my_event": 1, "events": 2}`:           false,
		`{"myschema": 1, "ema": 2}`:              false,
		``:                                       false,
	} {
		assert.Equal(t, want, mayBeRecord([]byte(line)), line)
	}
}

// TestWhatIsLeftOutSaysWhatIsWanted for each key of a line that costs itself alone.
func TestWhatIsLeftOutSaysWhatIsWanted(t *testing.T) {
	t.Parallel()
	const head = `{"schema":"pathologize.ml.training/1","run_id":"r",`
	for keys, want := range map[string]string{
		`"event":"log","ts":"2026-13-13"}`:                    "ts: want RFC 3339 with a zone, or Unix time in s, ms, us or ns, from 1980 to 2200",
		`"event":"log","ts":-1}`:                              "ts: want RFC 3339 with a zone, or Unix time in s, ms, us or ns, from 1980 to 2200",
		`"event":"log","severity":"loud"}`:                    "severity: want TRACE, DEBUG, INFO, WARN, ERROR or FATAL",
		`"event":"log","trace_id":"zz"}`:                      "trace_id: want 32 hex digits",
		`"event":"log","span_id":7}`:                          "span_id: want 16 hex digits",
		`"event":"log","host":1}`:                             "host: want a string",
		`"event":"log","framework":1}`:                        "framework: want a string",
		`"event":"log","phase":[]}`:                           "phase: want a string",
		`"event":"log","resource":[]}`:                        "resource: want an object",
		`"event":"log","resource":{"` + AttrRunID + `":"q"}}`: "resource: want no key of the vocabulary",
		`"event":1}`:  "event: want one of run.start, ",
		`"host":"h"}`: "event: want one of run.start, ",
	} {
		l, _ := decode(t, head+keys)
		require.Equal(t, LineRecord, l.Kind, "%s: %v", keys, l.Err)
		assert.Equal(t, 1, l.FieldsDropped, keys)
		assert.True(t, strings.HasPrefix(l.Flaw, want), "%s: %s", keys, l.Flaw)
	}
}

func TestNumbersBesideTheMeasurementsAreCountedAndStay(t *testing.T) {
	t.Parallel()
	const head = `{"schema":"pathologize.ml.training/1","run_id":"r","event":`
	for line, want := range map[string]int{
		`"epoch.end","body":{"epoch":0,"loss":0.3,"measurements":{"val/loss":1}}}`:                           1,
		`"step.end","body":{"step":7,"loss":NaN,"correct":12}}`:                                              2,
		`"phase.end","body":{"epoch":0,"step":1,"framework":{"loss":0.3},"note":"x","seen":true,"value":1}}`: 0,
		`"run.start","body":{"seed":7}}`:                                                                     0, // it measures nothing
		`"epoch.end","pid":7,"body":{}}`:                                                                     0, // what stands beside the body is kept
	} {
		l, lr := decode(t, head+line)
		require.Equal(t, LineRecord, l.Kind, "%s: %v", line, l.Err)
		assert.Equal(t, want, l.FieldsDropped, line)
		if want > 0 {
			assert.Equal(t, "body: want its numbers in body.measurements, or in body.framework", l.Flaw, line)
			_, there := lr.Body().Map().Get("loss")
			assert.True(t, there, line)
		}
	}
}
