package trainrecord

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainrecord/cputime"
)

// goodValue gives JSON that fits an entry of the registry.
func goodValue(n Name) any {
	switch n.Type {
	case "int":
		return 1
	case "number":
		return 0.5
	case "bool":
		return true
	case "object":
		return goodObject(n)
	case "array":
		if n.Elements == "object" {
			return []any{goodObject(n), goodObject(n)}
		}
		return []any{"text"}
	case "time":
		return "2026-11-20T10:00:00Z"
	default:
	}
	if n.Pattern != "" {
		return strings.Repeat("ab", map[string]int{KeyTraceID: 16, KeySpanID: 8}[n.Name])
	}
	if list := Load().Values[n.Values]; len(list) > 0 {
		return list[0]
	}
	return "text"
}

func goodObject(n Name) map[string]any {
	o := map[string]any{"free": 1}
	for key := range n.Keys {
		if inner, ok := Load().Inner(n, key); ok {
			o[key] = goodValue(inner)
		}
	}
	return o
}

// badValues gives JSON that does not: of other types, beyond the range, off the list.
func badValues(n Name) []string {
	all := map[string]string{"text": `"one"`, "number": `7`, "fraction": `1.5`, "bool": `false`, "object": `{"b":"c"}`, "array": `["b"]`, "large": `1e300`}
	for _, of := range map[string][]string{
		"int": {"number"}, "number": {"number", "fraction", "large"}, "string": {"text"}, "bool": {"bool"}, "object": {"object"}, "array": {"array"},
		"time": {"number", "fraction"}, // what a number means as a time is told elsewhere
	}[n.Type] {
		delete(all, of)
	}
	if n.Type == "any" {
		return nil
	}
	bad := slices.Sorted(maps.Values(all))
	if n.Minimum != nil {
		bad = append(bad, strconv.FormatInt(*n.Minimum-1, 10), "-Infinity")
	}
	if n.Maximum != nil {
		bad = append(bad, new(big.Int).Add(big.NewInt(*n.Maximum), big.NewInt(1)).String(), "1e18", "Infinity")
		if *n.Maximum == MaxSize {
			bad = slices.DeleteFunc(bad, func(s string) bool { return s == "1e18" })
		}
	}
	if n.Closed {
		bad = append(bad, `"up"`, `"MAX"`, `"other"`)
	}
	if n.Pattern != "" {
		bad = append(bad, `"abc"`)
	}
	if n.Name == KeySeverity {
		bad = append(bad, `"loud"`)
	}
	return bad
}

// goodLine has every key that an event may have.
func goodLine(event string) map[string]any {
	body := map[string]any{}
	line := map[string]any{KeyBody: body}
	for _, n := range Load().Names {
		switch {
		case n.Kind == KindRecord && n.Name != KeyBody:
			line[n.Name] = goodValue(n)
		case n.Kind == KindBody && slices.Contains(n.Events, event):
			body[n.Name] = goodValue(n)
		default:
		}
	}
	line[KeySchema], line[KeyEvent] = Schema, event
	return line
}

// lineWith gives a line with the JSON of a value at a path.
func lineWith(t *testing.T, event string, path []any, value string) string {
	t.Helper()
	const mark = "put the value here"
	line := goodLine(event)
	var at any = line
	for _, step := range path[:len(path)-1] {
		switch s := step.(type) {
		case string:
			at = at.(map[string]any)[s]
		case int:
			at = at.([]any)[s]
		}
	}
	switch last := path[len(path)-1].(type) {
	case string:
		at.(map[string]any)[last] = mark
	case int:
		at.([]any)[last] = mark
	}
	b, err := json.Marshal(line)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(b), mark))
	return strings.Replace(string(b), `"`+mark+`"`, value, 1)
}

// without gives the raw form of what a good line becomes, without the value at a path.
func without(t *testing.T, event string, path []any) map[string]any {
	t.Helper()
	b, err := json.Marshal(goodLine(event))
	require.NoError(t, err)
	l, lr := decode(t, string(b))
	require.Equal(t, LineRecord, l.Kind, "%v", l.Err)
	require.Zero(t, l.FieldsDropped+l.OffList, l.Flaw)
	raw := lr.Body().Map().AsRaw()
	if path[0] != KeyBody {
		return raw
	}
	if len(path) == 1 {
		return map[string]any{}
	}
	var at any = raw
	for _, step := range path[1 : len(path)-1] {
		switch s := step.(type) {
		case string:
			at = at.(map[string]any)[s]
		case int:
			at = at.([]any)[s]
		}
	}
	delete(at.(map[string]any), path[len(path)-1].(string))
	return raw
}

func spelled(path []any) string {
	var b strings.Builder
	for i, step := range path {
		switch s := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			fmt.Fprint(&b, s)
		}
	}
	return b.String()
}

func rawOf(t *testing.T, value string) any {
	t.Helper()
	l, lr := decode(t, `{"v":`+value+`}`)
	require.Equal(t, LineObject, l.Kind)
	return lr.Body().Map().AsRaw()["v"]
}

// costsItself holds a bad value at a path to: counted once, told, kept under its path, nothing else changed.
func costsItself(t *testing.T, event string, path []any, value string) {
	t.Helper()
	l, lr := decode(t, lineWith(t, event, path, value))
	why := spelled(path) + ": " + value
	require.Equal(t, LineRecord, l.Kind, "%s: %v", why, l.Err)
	assert.Equal(t, [2]int{1, 0}, [2]int{l.FieldsDropped, l.OffList}, why)
	inBody := path[0] == KeyBody && len(path) > 1
	told := strings.NewReplacer("[0]", "[]", "[1]", "[]").Replace(spelled(path))
	assert.Contains(t, l.Flaw, told)
	want := without(t, event, path)
	if inBody {
		path = path[1:]
	}
	want[BodyFramework] = map[string]any{spelled(path): rawOf(t, value)}
	assert.Equal(t, want, lr.Body().Map().AsRaw(), why)
	if path[0] != KeyEvent {
		assert.Equal(t, EventName(event), lr.EventName(), why)
	}
	id, _ := lr.Attributes().Get(AttrRunID)
	assert.Equal(t, "text", id.Str())
}

// TestEveryFieldCostsOnlyItself goes through all keys of the registry, and those inside objects and lists of it.
func TestEveryFieldCostsOnlyItself(t *testing.T) {
	t.Parallel()
	identity := []string{KeyRunID, KeyPart, KeyAttempt, KeySeq, KeyRank}
	tried := 0
	for _, n := range Load().Names {
		if n.Kind != KindRecord || slices.Contains(identity, n.Name) {
			continue
		}
		for _, value := range badValues(n) {
			costsItself(t, EventEpochEnd, []any{n.Name}, value)
			tried++
		}
	}
	for _, event := range LineEvents() {
		for _, n := range Load().Names {
			if n.Kind != KindBody || !slices.Contains(n.Events, event) {
				continue
			}
			for _, value := range badValues(n) {
				costsItself(t, event, []any{KeyBody, n.Name}, value)
				tried++
			}
			for key := range n.Keys {
				inner, known := Load().Inner(n, key)
				if !known || n.Keys[AnyKey] != "" {
					continue
				}
				for _, value := range badValues(inner) {
					path := []any{KeyBody, n.Name, key}
					if n.Elements != "" {
						path = []any{KeyBody, n.Name, 1, key}
					}
					costsItself(t, event, path, value)
					tried++
				}
			}
		}
	}
	assert.Greater(t, tried, 900)
}

// TestWhatNamesTheRecordMustBeRight: without it, the record would be another's. The line stays whole as an event of the log.
func TestWhatNamesTheRecordMustBeRight(t *testing.T) {
	t.Parallel()
	for _, n := range Load().Names {
		if n.Kind != KindRecord || !slices.Contains([]string{KeyRunID, KeyPart, KeyAttempt, KeySeq, KeyRank}, n.Name) {
			continue
		}
		for _, value := range badValues(n) {
			l, _ := decode(t, lineWith(t, EventEpochEnd, []any{n.Name}, value))
			assert.Equal(t, LineError, l.Kind, "%s: %s", n.Name, value)
			assert.Equal(t, ReasonWrongType, l.Reason)
			assert.ErrorContains(t, l.Err, n.Name+": want ")
		}
	}
}

// TestFreeNamesAndElementsStayWhereTheyAre: what is of another type among them is counted.
func TestFreeNamesAndElementsStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, event := range LineEvents() {
		for _, n := range Load().Names {
			if n.Kind != KindBody || !slices.Contains(n.Events, event) {
				continue
			}
			var paths [][]any
			kind := n.Elements
			if kind != "" {
				paths = [][]any{{KeyBody, n.Name, 0}}
			} else if kind = n.Keys[AnyKey]; kind != "" {
				paths = [][]any{{KeyBody, n.Name, "free"}}
				for key := range n.Keys {
					if key != AnyKey {
						paths = append(paths, []any{KeyBody, n.Name, key})
					}
				}
			}
			for _, path := range paths {
				for _, value := range badValues(Name{Type: kind}) {
					line := lineWith(t, event, path, value)
					l, lr := decode(t, line)
					require.Equal(t, LineRecord, l.Kind, "%v", l.Err)
					assert.Equal(t, [2]int{1, 0}, [2]int{l.FieldsDropped, l.OffList}, line)
					assert.Contains(t, l.Flaw, "body."+n.Name)
					asItIs, _ := decode(t, line)
					assert.Equal(t, l, asItIs)
					_, has := lr.Body().Map().Get(BodyFramework)
					assert.False(t, has, line)
					assert.Equal(t, rawOf(t, line).(map[string]any)[KeyBody], lr.Body().Map().AsRaw())
					tried++
				}
			}
		}
	}
	assert.Greater(t, tried, 100)
}

// TestNullIsAbsent in each field.
func TestNullIsAbsent(t *testing.T) {
	t.Parallel()
	for _, event := range LineEvents() {
		for name := range goodLine(event)[KeyBody].(map[string]any) {
			l, lr := decode(t, lineWith(t, event, []any{KeyBody, name}, "null"))
			require.Equal(t, LineRecord, l.Kind, "%v", l.Err)
			assert.Zero(t, l.FieldsDropped+l.OffList, name)
			assert.Equal(t, without(t, event, []any{KeyBody, name}), lr.Body().Map().AsRaw())
		}
	}
}

// TestAKindOfCheckpointOffItsListIsCounted: it becomes other where it is read, and stays.
func TestAKindOfCheckpointOffItsListIsCounted(t *testing.T) {
	t.Parallel()
	for _, path := range [][]any{{EventCheckpointSave, KeyBody, BodyKind}, {EventEpochEnd, KeyBody, BodyCheckpoint, BodyKind}} {
		for value, want := range map[string]int{`"swa"`: 1, `"best"`: 0, `"other"`: 0, `""`: 0} {
			l, lr := decode(t, lineWith(t, path[0].(string), path[1:], value))
			require.Equal(t, LineRecord, l.Kind, "%v", l.Err)
			assert.Equal(t, [2]int{0, want}, [2]int{l.FieldsDropped, l.OffList}, value)
			_, has := lr.Body().Map().Get(BodyFramework)
			assert.False(t, has)
		}
	}
}

// TestEpochsThatNoRuleHoldsAreNoAttribute: a body may have any key.
func TestEpochsThatNoRuleHoldsAreNoAttribute(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"0": true, "1000000000": true, "1795000000": false, "-1": false, `"x"`: false} {
		_, lr := decode(t, `{"event":"heartbeat","ts":1,"run_id":"r","body":{"epoch":`+value+`}}`)
		_, has := lr.Attributes().Get(AttrEpochCurrent)
		assert.Equal(t, want, has, value)
	}
}

// TestALeftOutValueTakesNoOthersPlace: neither a trainer's own details nor a top-level key of the same name is lost.
func TestALeftOutValueTakesNoOthersPlace(t *testing.T) {
	t.Parallel()
	l, lr := decode(t, `{"schema":"pathologize.ml.training/1","event":"epoch.end","run_id":"r","epoch":3,"severity":"loud",`+
		`"resource":{"`+AttrRunID+`":"x"},"body":{"epoch":-2,"framework":{"epoch_":1,"severity":"loud"}}}`)
	require.Equal(t, LineRecord, l.Kind, "%v", l.Err)
	assert.Equal(t, 3, l.FieldsDropped)
	assert.Equal(t, map[string]any{"framework": map[string]any{
		"epoch": int64(3), "epoch_": int64(1), "epoch__": int64(-2), "severity": "loud", "resource." + AttrRunID: "x",
	}}, lr.Body().Map().AsRaw())
}

// leaves counts what holds no other value; null is none.
func leaves(v any) int {
	n := 0
	switch v := v.(type) {
	case nil:
		return 0
	case map[string]any:
		for _, inner := range v {
			n += leaves(inner)
		}
	case []any:
		for _, inner := range v {
			n += leaves(inner)
		}
	default:
		n = 1
	}
	return n
}

// TestNothingIsLost: whatever a body holds, a record keeps each of its values, and what stands under a key of the registry fits it.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	var keys []string
	for _, n := range Load().Names {
		if n.Kind == KindBody {
			keys = append(keys, n.Name)
			keys = slices.AppendSeq(keys, maps.Keys(n.Keys))
		}
	}
	keys = append(slices.Compact(slices.Sorted(slices.Values(keys))), BodyFramework, "own", "artifacts[0].size", "best.mode", "epoch_")
	rapid.Check(t, func(rt *rapid.T) {
		value := values(rt, keys)
		event := rapid.SampledFrom(LineEvents()).Draw(rt, "event")
		line := map[string]any{KeySchema: Schema, KeyEvent: event, KeyRunID: "r", KeyBody: value(0), KeyTS: value(2), KeySeverity: value(2), KeyHost: value(2), "own": value(2)}
		b, err := json.Marshal(line)
		require.NoError(rt, err)
		lr := plog.NewLogRecord()
		l := NewDecoder(DecoderOptions{}).Decode(b, lr)
		require.Equal(rt, LineRecord, l.Kind, "%v", l.Err)
		want := leaves(line[KeyBody]) + leaves(line["own"])
		body := lr.Body().Map()
		got := leaves(body.AsRaw())
		for _, key := range []string{KeyTS, KeySeverity, KeyHost} {
			want += leaves(line[key])
		}
		if lr.Timestamp() != 0 {
			got++
		}
		if _, text := line[KeyHost].(string); text {
			got++
		}
		require.GreaterOrEqual(rt, got, want-overwritten(line), string(b))
		for k, v := range body.All() {
			if r := ruleOf(eventOf(event), k); r != nil && r.rest == nil {
				offList := v.Type() == pcommon.ValueTypeStr && r.list != nil
				require.True(rt, v.Type() != pcommon.ValueTypeEmpty && (r.fits(v) || offList), k)
			}
		}
	})
}

// values draws values of all types, each another one.
func values(rt *rapid.T, keys []string) func(depth int) any {
	unique := 0
	var value func(depth int) any
	value = func(depth int) any {
		unique++
		kind := rapid.IntRange(0, 6).Draw(rt, "kind")
		if depth > 3 {
			kind %= 4
		}
		switch kind {
		case 0:
			return unique
		case 1:
			return -unique
		case 2:
			return fmt.Sprint("t", unique)
		case 3:
			return float64(unique) + 0.5
		case 4:
			return []any{value(depth + 1), value(depth + 1)}
		default:
			o := map[string]any{}
			for range rapid.IntRange(1, 5).Draw(rt, "keys") {
				o[rapid.SampledFrom(keys).Draw(rt, "key")] = value(depth + 1)
			}
			return o
		}
	}
	return value
}

// overwritten is how many values a top-level key takes from the same key of the body's details, which is counted as a duplicate.
func overwritten(line map[string]any) int {
	body, _ := line[KeyBody].(map[string]any)
	details, _ := body[BodyFramework].(map[string]any)
	return leaves(details["own"])
}

// TestHostileRecordsAreMendedInTime: as many bad values, and as many names that are taken, as a line can have.
func TestHostileRecordsAreMendedInTime(t *testing.T) {
	t.Parallel()
	var artifacts, taken strings.Builder
	for i := range MaxElements {
		fmt.Fprintf(&artifacts, `{"role":1,"path":1,"sha256":1,"size":-%d},`, i+1)
	}
	for i := range 3000 {
		fmt.Fprintf(&taken, `"epoch_progress%s":%d,`, strings.Repeat("_", i), i)
	}
	var l Line
	var lr plog.LogRecord
	took := cputime.Of(func() {
		l, lr = decode(t, `{"schema":"`+Schema+`","event":"run.end","run_id":"r","body":{"artifacts":[`+artifacts.String()+`{}],"epoch_progress":-1,"framework":{`+taken.String()+`"a":1}}}`)
	})
	require.Equal(t, LineRecord, l.Kind, "%v", l.Err)
	assert.Less(t, took, 5*time.Second)
	assert.Equal(t, 4*MaxElements+1, l.FieldsDropped)
	details, _ := lr.Body().Map().Get(BodyFramework)
	assert.Equal(t, 4*MaxElements+1+3001, details.Map().Len())
	last, ok := details.Map().Get(BodyEpochProgress + strings.Repeat("_", 3000))
	require.True(t, ok)
	assert.EqualValues(t, -1, last.Int())
}
