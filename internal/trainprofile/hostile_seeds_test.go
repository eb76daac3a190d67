package trainprofile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// wrongTypes are values that no number, text or object of a row should be.
var wrongTypes = []string{`"x"`, `""`, `-1`, `1e999`, `1e308`, `NaN`, `-Infinity`, `true`, `null`, `[]`, `[[1]]`, `{}`, `{"a": {"b": 1}}`, `"1e-05"`, `"\u0000"`, `9223372036854775807`}

// huge is a name longer than any that is kept, and one of as many words.
var huge = []string{strings.Repeat("x", 3*maxCachedKey), strings.Repeat("train/", maxCachedKey) + "loss", strings.Repeat("a.", maxCachedKey) + "epoch"}

// attributeLike are names that the record has as attributes, events or body keys, none of which a row may set by having it.
func attributeLike() (keys []string) {
	for _, n := range trainrecord.Load().Names {
		keys = append(keys, trainrecord.Namespace+"."+n.Name)
	}
	return append(keys, trainrecord.AttrLogFilePath, trainrecord.AttrLogRecordUID, trainrecord.AttrLogFileRecordOffset)
}

// renameCycles are rows whose names are what other names of the same row become.
var renameCycles = []string{
	`{"loss": 1, "train/loss": 2, "train_loss": 3, "val/loss": 4, "eval_loss": 5, "val_loss": 6, "epoch": 1, "epoch_progress": 2, "step": 3}`,
	`{"train/train/loss": 1, "train/loss": 2, "val/train/loss": 3, "measurements": {"train/loss": 4}, "measurements.train/loss": 5, "loss": 6, "grad_norm": 1, "learning_rate": {"0": 1}}`,
	`{"learning_rate": 0.1, "lr": 0.2, "learning_rate.0": 0.3, "lr/pg0": 0.4, "0": 0.5, "epoch": 0.5, "loss": 1, "eval_eval_loss": 1, "eval_train_loss": 2}`,
	`{"framework": {"framework": {"framework": "huggingface"}}, "body": {"body": {"epoch": 1}}, "event": "epoch.end", "epoch": 1, "loss": 1}`,
	`{"message": "{\"message\": \"{\\\"message\\\": \\\"epoch=1 loss=2\\\"}\"}", "level": "INFO", "fields": {"fields": {"epoch": 1}}, "target": "a"}`,
	`{"name": "value", "value": "name", "key": "value", "metadata": {"key": "key"}, "time_ms": 1, "event_type": "key", "namespace": ""}`,
}

// hostileLines makes hostile rows of a row that is none: each value in turn of a wrong type, all of them, huge names and names that
// look like attributes beside its own.
func hostileLines(t testing.TB, line string) (all []string) {
	t.Helper()
	var row map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &row) != nil { // it has NaN
		return nil
	}
	keys := slices.Sorted(mapKeysOf(row))
	write := func(value func(i int, key string) string, more ...string) {
		var parts []string
		for i, key := range keys {
			parts = append(parts, fmt.Sprintf("%s: %s", appendText(nil, key), value(i, key)))
		}
		all = append(all, "{"+strings.Join(append(parts, more...), ", ")+"}")
	}
	own := func(_ int, key string) string { return string(row[key]) }
	for at := range keys {
		write(func(i int, key string) string {
			if i == at {
				return wrongTypes[(len(all)+i)%len(wrongTypes)]
			}
			return own(i, key)
		})
	}
	write(func(i int, _ string) string { return wrongTypes[i%len(wrongTypes)] })
	write(own, fmt.Sprintf(`%q: 1, %q: 0.5`, huge[0], huge[1]))
	var likes []string
	for _, key := range append(attributeLike(), factMark+"message", factMark+"envelope", factMark+"body", factScope, factItem) {
		likes = append(likes, fmt.Sprintf("%q: %q", key, "evil"))
	}
	write(own, likes...)
	return all
}

func mapKeysOf(m map[string]json.RawMessage) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// Forms in which an object reaches the mapper.
const (
	asBody = iota
	asAttributes
	asText
	forms
)

// formed gives the log record of an object's line in a form; ok is false when the line is no object.
func formed(line []byte, form int) (lr plog.LogRecord, ok bool) {
	lr = plog.NewLogRecord()
	if trainrecord.NewDecoder(trainrecord.DecoderOptions{}).Decode(line, lr).Kind != trainrecord.LineObject {
		return lr, false
	}
	switch form {
	case asAttributes:
		lr.Body().Map().MoveTo(lr.Attributes())
		lr.Body().SetStr("epoch done")
	case asText:
		lr.Body().SetStr(string(line))
	default:
	}
	return lr, true
}

// checkForm maps an object in a form and holds what comes of it: untouched or as it was, or records of the registry's types and lists.
func checkForm(t require.TestingT, m *Mapper, set *Set, stream *Stream, lr plog.LogRecord) {
	before := show(lr)
	out, all := process(m, set, stream, lr)
	if out.Kind != Mapped {
		require.Equal(t, before, show(lr))
		return
	}
	for _, lr := range all {
		if out.Profile.unwrap != nil { // it is a record as its writer wrote it
			continue
		}
		checkRecord(t, lr)
		checkLists(t, lr.Attributes())
	}
}

// checkLists holds attributes that the mapper may set to the registry's lists and types.
func checkLists(t require.TestingT, attrs pcommon.Map) {
	for key, set := range map[string]string{trainrecord.AttrFramework: "framework", trainrecord.AttrPhase: "phase"} {
		if v, ok := attrs.Get(key); ok && v.Type() == pcommon.ValueTypeStr {
			require.Equal(t, v.Str(), trainrecord.Load().Bounded(set, v.Str()), key)
		}
	}
}

var forbiddenOnMetrics = sync.OnceValue(func() map[string]bool {
	keys := map[string]bool{}
	for _, key := range trainrecord.Load().ForbiddenKeys() {
		keys[key] = true
	}
	return keys
})

// checkAttributes maps an object's keys as attributes of each signal: what stood there stays, what is added is of the registry, and a
// data point gets nothing that metrics may not carry.
func checkAttributes(t require.TestingT, m *Mapper, set *Set, attributes pcommon.Map, name string) {
	for _, signal := range []Signal{SignalLog, SignalSpan, SignalMetric} {
		attrs := pcommon.NewMap()
		attributes.CopyTo(attrs)
		m.Identities(set, attributes)
		m.MapAttributes(set, signal, Item{Attributes: attrs, Resource: none, Name: name})
		m.MapAttributes(set, signal, Item{Attributes: pcommon.NewMap(), Resource: attributes, Scope: name})
		for key, v := range attrs.All() {
			if had, ok := attributes.Get(key); ok {
				require.Equal(t, pcommonText(had), pcommonText(v), key)
				continue
			}
			require.True(t, strings.HasPrefix(key, trainrecord.Namespace+"."), key)
			if signal == SignalMetric {
				require.False(t, forbiddenOnMetrics()[key], key)
			}
		}
	}
}

func pcommonText(v pcommon.Value) string {
	var b strings.Builder
	showValue(&b, v)
	return b.String()
}

// TestHostileRowsInEveryForm maps what FuzzMapper begins with.
func TestHostileRowsInEveryForm(t *testing.T) {
	t.Parallel()
	set, m := embeddedSet(t), NewMapper(nil)
	lines := slices.Clone(renameCycles)
	for _, line := range sampleLines(t) {
		lines = append(lines, hostileLines(t, line)...)
	}
	require.Greater(t, len(lines), 5000)
	for _, line := range lines {
		for form := range forms {
			if lr, ok := formed([]byte(line), form); ok {
				checkForm(t, m, set, nil, lr)
			}
		}
		if lr, ok := formed([]byte(line), asBody); ok {
			checkAttributes(t, m, set, lr.Body().Map(), "tunix.model.train")
		}
	}
}

// TestAWideLineWithARowInItsMessageIsMapped has as many keys beside the message as make a view keep an index.
func TestAWideLineWithARowInItsMessageIsMapped(t *testing.T) {
	t.Parallel()
	line := &strings.Builder{}
	line.WriteString(`{"timestamp": "2026-11-29T13:27:26Z", "level": "INFO", "fields": {"message": "loss=0.5 epoch=1"}, "target": "a"`)
	for i := range 2 * indexFrom {
		fmt.Fprintf(line, `, "k%d": "x"`, i)
	}
	line.WriteString("}")
	lr, ok := formed([]byte(line.String()), asBody)
	require.True(t, ok)
	out, _ := process(NewMapper(nil), embeddedSet(t), nil, lr)
	assert.Equal(t, Mapped, out.Kind)
}

// TestNamesThatLookLikeAttributesChangeNoSharedField adds such names, and huge ones, to every row of the fixtures. Those that the record
// has at the top of its body stay what they were; in objects of free names, no value changes.
func TestNamesThatLookLikeAttributesChangeNoSharedField(t *testing.T) {
	t.Parallel()
	set, m := embeddedSet(t), NewMapper(nil)
	compared := 0
	for _, line := range sampleLines(t) {
		plain, ok := formed([]byte(line), asBody)
		if !ok {
			continue
		}
		hostile := plog.NewLogRecord()
		plain.CopyTo(hostile)
		for _, key := range append(attributeLike(), huge[0], huge[2]) {
			hostile.Body().Map().PutStr(key, "evil")
		}
		one, before := process(m, set, nil, plain)
		two, after := process(m, set, nil, hostile)
		if one.Kind != Mapped || two.Kind != Mapped || one.Profile != two.Profile || len(before) != len(after) {
			continue // a row that must have no other keys is another row now
		}
		for i := range before {
			if before[i].EventName() == after[i].EventName() {
				compared++
				assert.Equal(t, before[i].Timestamp(), after[i].Timestamp(), line)
				assert.Equal(t, before[i].Attributes().AsRaw(), after[i].Attributes().AsRaw(), line)
				requireKept(t, before[i].Body(), after[i].Body(), line)
			}
		}
	}
	assert.Greater(t, compared, 500)
}

// requireKept wants everything of one value in another, which may have more in its objects.
func requireKept(t *testing.T, want, got pcommon.Value, line string) {
	t.Helper()
	if want.Type() != pcommon.ValueTypeMap || got.Type() != pcommon.ValueTypeMap {
		assert.Equal(t, pcommonText(want), pcommonText(got), line)
		return
	}
	for key, v := range want.Map().All() {
		other, ok := got.Map().Get(key)
		if assert.True(t, ok, "%s is gone: %s", key, line) && key != trainrecord.BodyFramework {
			requireKept(t, v, other, line)
		}
	}
}
