package resultfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/digest"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// verdicts are all that the watcher of a run may say.
func verdicts(st *trainrun.State) []Verdict {
	out := []Verdict{
		{Provisional: true},
		{Final: true, Provisional: true, Outcome: trainrecord.OutcomeStalled, From: "silence"},
		{Final: true, Provisional: true, Outcome: trainrecord.OutcomeUnknown, From: "restart"},
	}
	if st.Outcome != "" {
		out = append(out, Verdict{Final: true, Provisional: st.OutcomeFrom == trainrun.FromParts, Outcome: st.Outcome, From: st.OutcomeFrom})
	}
	return out
}

func TestEndWithAnUnheardOfOutcomeKeepsTheSchema(t *testing.T) {
	t.Parallel()
	fold := trainrun.New("x")
	for i, rec := range []trainrecord.Record{
		{Event: trainrecord.EventEpochEnd, Part: "a"}, {Event: trainrecord.EventRunEnd, Part: "a"}, {Event: trainrecord.EventRunEnd},
	} {
		rec.RunID, rec.Attempt, rec.Time, rec.UID, rec.Resource = "x", 1, 1796045300e9, fmt.Sprint(i), pcommon.NewMap()
		rec.Body = mapOf(t, map[string]any{trainrecord.BodyEpoch: 0, trainrecord.BodyOutcome: "completed"})
		entry, ok := trainrun.Reduce(rec)
		require.True(t, ok)
		require.True(t, fold.Apply(entry))
	}
	st := fold.State()
	require.Equal(t, trainrecord.OutcomeUnknown, st.Attempts[0].Outcome)
	require.Equal(t, trainrecord.OutcomeUnknown, st.Parts[0].Outcome)
	for _, v := range verdicts(st) {
		checkSchema(t, []byte(byName(Render(st, v, options))[ResultName]))
	}
}

func TestNamesThatAreNoUTF8StayApart(t *testing.T) {
	t.Parallel()
	st := &trainrun.State{
		RunID: "r", Series: []trainrun.Series{curve("", "\xfe", 1), curve("", "\xff", 2)},
		Parts:         []trainrun.Part{{Name: "\xfe"}, {Name: "\xff"}},
		ParamsChanges: []trainrun.ParamsChange{{Attempt: 2, Key: "", Old: trainrun.Absent{}, New: int64(1)}},
	}
	got := byName(Render(st, ended, options))
	checkSchema(t, []byte(got[ResultName]))
	requireDistinctKeys(t, []byte(got[ResultName]))
	second := hash("\xff", 8)
	require.Contains(t, got, "plots/metrics/_.tsv")
	require.Contains(t, got[ResultName], "\"\uFFFD-"+second+`": {`)
}

// Whatever the records say, the result keeps its schema.
func TestEveryResultKeepsTheSchema(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile("../../result.schema.json")
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(rapid.StringN(1, 30, 200), rapid.SampledFrom(hostile[1:])).Draw(t, "run")
		fold := trainrun.New(id)
		for i := range rapid.IntRange(1, 25).Draw(t, "records") {
			rec := drawRecord(t, id, int64(i))
			if entry, ok := trainrun.Reduce(rec); ok {
				fold.Apply(entry)
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "thin") == 0 {
			fold.Thin(1)
		}
		st := fold.State()
		opts := Options{MaxPoints: 10, FullFidelity: rapid.Bool().Draw(t, "full"), GPUs: drawGPUs(t), Report: rapid.Bool().Draw(t, "report"), Digests: map[string]digest.Digest{}}
		for _, f := range Files(st) {
			opts.Digests[f.Key] = drawDigest(t)
		}
		for _, v := range verdicts(st) {
			for _, f := range Render(st, v, opts) {
				if f.Name == ResultName {
					doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(f.Bytes))
					require.NoError(t, err)
					require.NoError(t, schema.Validate(doc), "%s", f.Bytes)
				}
				switch f.Name {
				case ResultName, MetricsName:
					requireDistinctKeys(t, f.Bytes)
				case ParamsName:
					require.NoError(t, yaml.Unmarshal(f.Bytes, new(any)), "%s", f.Bytes) // it refuses a key that comes twice
				}
			}
		}
	})
}

// requireDistinctKeys reads a document and finds a key that an object has twice, which readers take in different ways.
func requireDistinctKeys(t require.TestingT, doc []byte) {
	d := json.NewDecoder(bytes.NewReader(doc))
	var value func()
	value = func() {
		token, err := d.Token()
		require.NoError(t, err)
		switch token {
		case json.Delim('{'):
			keys := map[any]bool{}
			for d.More() {
				key, err := d.Token()
				require.NoError(t, err)
				require.False(t, keys[key], "key %q twice in %s", key, doc)
				keys[key] = true
				value()
			}
			_, err = d.Token()
		case json.Delim('['):
			for d.More() {
				value()
			}
			_, err = d.Token()
		}
		require.NoError(t, err)
	}
	value()
	_, err := d.Token()
	require.True(t, errors.Is(err, io.EOF), "%v", err)
}

// hostile are texts that break readers, names of other things, and no UTF-8.
var hostile = []string{
	"", " ", "a", "a/b", "a/b/c", "loss", "val/loss", "step", "step_", "loss_step", "fold=0/loss", "..", "/", "//", `"x`, `a"b`, "\x00", "\t", "\n",
	"\xff", "\xfe", "a\xff", "\uFFFD", "\u2028", "é", "__proto__", "null", "NaN", "python", "torch", "***", "hf_abcdefghijklmnop",
}

func drawText(t *rapid.T, label string) string {
	return rapid.OneOf(rapid.SampledFrom(hostile), rapid.SampledFrom(hostile), rapid.String(),
		rapid.Map(rapid.IntRange(1, 9000), func(n int) string { return string(bytes.Repeat([]byte("é"), n/2+1)) })).Draw(t, label)
}

func drawNumber(t *rapid.T, label string) any {
	switch rapid.IntRange(0, 5).Draw(t, label+"_kind") {
	case 0:
		return rapid.Int64().Draw(t, label)
	case 1:
		return rapid.Float64().Draw(t, label)
	case 2:
		return rapid.SampledFrom([]any{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.Copysign(0, -1), int64(math.MaxInt64), int64(math.MinInt64), int64(-1)}).Draw(t, label)
	case 3:
		return rapid.SampledFrom([]any{"nan", "Infinity", "", "18446744073709551616", nil, true}).Draw(t, label)
	default:
		return rapid.Int64Range(0, 5).Draw(t, label)
	}
}

// drawAny is a value of any type, as deep as records go.
func drawAny(t *rapid.T, label string, depth int) any {
	switch k := rapid.IntRange(0, 5).Draw(t, label+"_type"); {
	case k == 0 && depth > 0:
		m := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, label+"_len") {
			m[drawText(t, label+"_key")] = drawAny(t, label, depth-1)
		}
		return m
	case k == 1 && depth > 0:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, label+"_len") {
			list = append(list, drawAny(t, label, depth-1))
		}
		return list
	case k == 2:
		return drawNumber(t, label)
	default:
		return drawText(t, label)
	}
}

func drawObject(t *rapid.T, label string, value func(*rapid.T, string) any, keys ...string) any {
	if rapid.IntRange(0, 19).Draw(t, label+"_odd") == 0 {
		return drawAny(t, label, 1)
	}
	m := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, label+"_len") {
		key := drawText(t, label+"_key")
		if len(keys) > 0 {
			key = rapid.SampledFrom(keys).Draw(t, label+"_key")
		}
		m[key] = value(t, label)
	}
	return m
}

func anyValue(t *rapid.T, label string) any { return drawAny(t, label, 2) }

func fileValue(t *rapid.T, label string) any {
	if rapid.Bool().Draw(t, label+"_text") {
		return rapid.SampledFrom([]string{"best", "last", "min", "max", "val/loss", "loss", "best.pt"}).Draw(t, label)
	}
	return drawAny(t, label, 0)
}

// drawBody has any keys of the vocabulary, with values that fit, most of the time.
func drawBody(t *rapid.T) map[string]any {
	body := map[string]any{}
	maybe := func(key string, draw func() any) {
		if rapid.IntRange(0, 2).Draw(t, "has_"+key) == 0 {
			body[key] = draw()
		}
	}
	for _, key := range []string{trainrecord.BodyEpoch, trainrecord.BodyStep, trainrecord.BodyPlannedEpochs, trainrecord.BodyPlannedSteps, trainrecord.BodyEpochsCompleted, trainrecord.BodySize, trainrecord.BodyEpochProgress} {
		maybe(key, func() any { return drawNumber(t, key) })
	}
	for _, key := range []string{trainrecord.BodyErrorType, trainrecord.BodyMessage, trainrecord.BodyStack, trainrecord.BodyStopReason, trainrecord.BodyCommand, trainrecord.BodyTaskFamily, trainrecord.BodyState} {
		maybe(key, func() any { return drawAny(t, key, 1) })
	}
	maybe(trainrecord.BodyOutcome, func() any {
		return rapid.SampledFrom([]any{"success", "failed", "aborted", "unknown", "stalled", "completed", "", "\xff", nil, int64(1)}).Draw(t, "outcome")
	})
	for _, key := range []string{trainrecord.BodyPath, trainrecord.BodyKind, trainrecord.BodySHA256} {
		maybe(key, func() any { return fileValue(t, key) })
	}
	maybe(trainrecord.BodyMeasurements, func() any { return drawObject(t, "measurements", drawNumber) })
	maybe(trainrecord.BodyDurations, func() any {
		return drawObject(t, "durations", drawNumber, "run_s", "train_s", "epoch_s", "phase_s", "validation_s", "x_s")
	})
	maybe(trainrecord.BodyParams, func() any { return drawObject(t, "params", anyValue) })
	maybe(trainrecord.BodyVersions, func() any { return drawObject(t, "versions", anyValue) })
	maybe(trainrecord.BodyObjective, func() any {
		return drawObject(t, "objective", fileValue, trainrecord.BodyMetric, trainrecord.InnerMode)
	})
	maybe(trainrecord.BodyBest, func() any {
		return drawObject(t, "best", fileValue, trainrecord.BodyMetric, trainrecord.InnerMode, trainrecord.BodyValue)
	})
	maybe(trainrecord.BodyCheckpoint, func() any {
		return drawObject(t, "checkpoint", fileValue, trainrecord.BodyPath, trainrecord.BodyKind, trainrecord.BodySHA256, trainrecord.BodySize)
	})
	maybe(trainrecord.BodyGit, func() any {
		return drawObject(t, "git", anyValue, trainrecord.InnerCommit, trainrecord.InnerBranch, trainrecord.InnerDirty)
	})
	maybe(trainrecord.BodyResumedFrom, func() any {
		return drawObject(t, "resumed", drawNumber, trainrecord.BodyEpoch, trainrecord.BodyStep)
	})
	maybe(trainrecord.BodyArtifacts, func() any {
		return []any{drawObject(t, "artifact", fileValue, trainrecord.BodyRole, trainrecord.BodyPath, trainrecord.BodySHA256, trainrecord.BodySize)}
	})
	return body
}

func mapOf(t require.TestingT, m map[string]any) pcommon.Map {
	out := pcommon.NewMap()
	require.NoError(t, out.FromRaw(m))
	return out
}

// drawRecord makes a log record of the vocabulary, as it may come from anywhere, and reads it.
func drawRecord(t *rapid.T, run string, place int64) trainrecord.Record {
	lr := plog.NewLogRecord()
	event := rapid.SampledFrom([]string{
		trainrecord.EventRunStart, trainrecord.EventRunEnd, trainrecord.EventRunFailure, trainrecord.EventEpochEnd, trainrecord.EventEpochEnd,
		trainrecord.EventStepEnd, trainrecord.EventStepEnd, trainrecord.EventCheckpointSave, trainrecord.EventPhaseEnd, trainrecord.EventLog,
	}).Draw(t, "event")
	lr.SetEventName(trainrecord.Namespace + "." + event)
	switch rapid.IntRange(0, 3).Draw(t, "timed") {
	case 0:
		lr.SetTimestamp(pcommon.Timestamp(rapid.Uint64().Draw(t, "time")))
	case 1:
		lr.SetTimestamp(pcommon.Timestamp(1796045300e9 + rapid.Int64Range(0, 100e9).Draw(t, "time")))
	}
	require.NoError(t, lr.Body().SetEmptyMap().FromRaw(drawBody(t)))
	a := lr.Attributes()
	a.PutStr(trainrecord.AttrRunID, run)
	a.PutStr(trainrecord.AttrLogRecordUID, fmt.Sprint(run, place))
	a.PutStr(trainrecord.AttrRunPart, rapid.SampledFrom([]string{"", "", "a", "fold=0", "a/b", "\xff", "\xfe"}).Draw(t, "part"))
	for _, key := range []string{trainrecord.AttrRunAttempt, trainrecord.AttrRunRank, trainrecord.AttrRecordSeq} {
		if rapid.IntRange(0, 2).Draw(t, key) == 0 {
			a.PutInt(key, rapid.OneOf(rapid.Int64Range(-1, 3), rapid.Int64Range(0, 3), rapid.Int64()).Draw(t, key+"_value"))
		}
	}
	a.PutBool(trainrecord.AttrRecordSampled, rapid.IntRange(0, 5).Draw(t, "sampled") == 0)
	a.PutStr(trainrecord.AttrFramework, drawText(t, "framework"))
	resource := pcommon.NewResource()
	resource.Attributes().PutStr(trainrecord.AttrHostName, rapid.SampledFrom([]string{"", "h1", "h2", "\xff"}).Draw(t, "host"))
	rec, ok := trainrecord.FromLog(resource, lr)
	require.True(t, ok)
	return rec
}

// TestEachFieldOfTheSchemaSaysWhatItIs, for the schema is all that a reader of a result has.
func TestEachFieldOfTheSchemaSaysWhatItIs(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../result.schema.json")
	require.NoError(t, err)
	var schema map[string]any
	require.NoError(t, json.Unmarshal(raw, &schema))
	fields := 0
	var walk func(path string, node any)
	walk = func(path string, node any) {
		switch n := node.(type) {
		case map[string]any:
			for key, v := range n {
				if properties, ok := v.(map[string]any); ok && key == "properties" {
					for name, field := range properties {
						fields++
						said, _ := field.(map[string]any)["description"].(string)
						assert.NotEmpty(t, said, "%s.%s", path, name)
						walk(path+"."+name, field)
					}
					continue
				}
				walk(path+"/"+key, v)
			}
		case []any:
			for _, v := range n {
				walk(path, v)
			}
		}
	}
	walk("", schema)
	assert.Greater(t, fields, 100)
}
