package trainprofile

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// hostileKeys are keys that rules look at, and keys that look like the vocabulary's.
var hostileKeys = []string{
	"epoch", "step", "loss", "learning_rate", "grad_norm", "eval_loss", "eval_runtime", "eval_", "train_loss", "train_runtime",
	"train_samples_per_second", "metrics/mAP50(B)", "metrics/", "lr/pg0", "lr/pg", "time", "val/loss", "lr-Adam", "lr-",
	"val_loss_epoch", "train_loss_step", "_epoch", "test_loss", "test_runtime", "best_fitness", "ts", "run_id", "rank", "seq",
	"attempt", "part", "severity", "trace_id", "span_id", "framework", "body", "event", "timestamp", "", " ", " epoch ", "\x00",
	"$message", "$envelope", "message", "level", "target", "fields", "record", "text", "log", "stream", "namespace", "key", "value",
	"metadata", "status", "verbosity", "date", "data", "type", "kpi", "model", "fold", "attributes", "severity_text",
	trainrecord.AttrRunID, trainrecord.BodyMeasurements, strings.Repeat("x", 5000), "\xff\xfe",
}

func drawValue(t *rapid.T, v pcommon.Value, depth int) {
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	switch {
	case kind == 0:
		v.SetInt(rapid.Int64().Draw(t, "int"))
	case kind == 1:
		v.SetDouble(rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 1 << 63, -1e300, 0.5, 1, 2}).Draw(t, "double"))
	case kind == 2:
		v.SetStr(rapid.SampledFrom([]string{"", "nan", "1e999", "0x10", "1_000", "huggingface", "ultralytics", "lightning", "2026-11-07T10:05:00Z", "9", "\xff", "00f067aa0ba902b7"}).Draw(t, "text"))
	case kind == 3:
		v.SetBool(true)
	case kind == 4:
		v.SetEmptyBytes().FromRaw([]byte{0xff})
	case kind == 5 && depth > 0:
		drawMap(t, v.SetEmptyMap(), depth-1)
	case kind == 6 && depth > 0:
		list := v.SetEmptySlice()
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			drawValue(t, list.AppendEmpty(), depth-1)
		}
	case kind == 7:
		v.SetDouble(rapid.Float64().Draw(t, "any"))
	default: // null
	}
}

func drawMap(t *rapid.T, m pcommon.Map, depth int) {
	for range rapid.IntRange(0, 12).Draw(t, "keys") {
		drawValue(t, m.PutEmpty(rapid.SampledFrom(hostileKeys).Draw(t, "key")), depth)
	}
}

func collect(v pcommon.Value, found map[float64]bool) {
	switch v.Type() {
	case pcommon.ValueTypeDouble:
		found[v.Double()] = true
	case pcommon.ValueTypeMap:
		for name, e := range v.Map().All() {
			if f, err := strconv.ParseFloat(name[strings.LastIndexByte(name, '/')+1:], 64); err == nil {
				found[f] = true // a row names its measurement by it
			}
			collect(e, found)
		}
	default:
	}
}

func parseFloat(t require.TestingT, s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	require.NoError(t, err)
	return f
}

// TestHostileObjects holds for any object: no panic; an object that is not mapped is unchanged; the fields of a mapped one
// have the types of the vocabulary.
func TestHostileObjects(t *testing.T) {
	t.Parallel()
	set := embeddedSet(t)
	m := NewMapper(nil)
	rapid.Check(t, func(t *rapid.T) {
		lr := plog.NewLogRecord()
		drawMap(t, lr.Body().SetEmptyMap(), 3)
		before := show(lr)
		stream := &Stream{}
		stream.Restore(Decision{Profile: rapid.SampledFrom(append(set.profiles, nil)).Draw(t, "decided"), Offset: -1})
		out, all := process(m, set, stream, lr)
		if out.Kind != Mapped {
			require.Equal(t, Unmapped, out.Kind)
			require.Equal(t, before, show(lr))
			return
		}
		for _, lr := range all {
			if out.Profile.unwrap == nil {
				checkRecord(t, lr)
			}
		}
		for _, e := range out.Errors {
			require.Contains(t, []string{ReasonWrongType, ReasonOutOfRange, ReasonOffList, ReasonNoTime, ReasonCollision}, e.Reason)
		}
	})
}

// checkRecord holds a record to the types of the registry.
func checkRecord(t require.TestingT, lr plog.LogRecord) {
	record, ok := trainrecord.FromLog(plog.NewResourceLogs().Resource(), lr)
	require.True(t, ok)
	for key, v := range record.Body.All() {
		if key == trainrecord.BodyFramework {
			continue
		}
		n, known := bodyName(key)
		require.True(t, known, "unknown key %q", key)
		switch n.Type {
		case "int":
			require.Equal(t, pcommon.ValueTypeInt, v.Type(), key)
			if n.Minimum != nil {
				require.GreaterOrEqual(t, v.Int(), *n.Minimum, key)
			}
		case "number":
			_, isNumber := trainrecord.Number(v)
			require.True(t, isNumber, key)
		case "string":
			require.Equal(t, pcommon.ValueTypeStr, v.Type(), key)
		case "object":
			require.Equal(t, pcommon.ValueTypeMap, v.Type(), key)
		}
	}
	if epoch, ok := record.Body.Get(trainrecord.BodyEpoch); ok {
		require.GreaterOrEqual(t, epoch.Int(), int64(0))
	}
	for _, name := range []string{trainrecord.BodyMeasurements, trainrecord.BodyLearningRate} {
		if v, ok := record.Body.Get(name); ok {
			for key, v := range v.Map().All() {
				require.Contains(t, []pcommon.ValueType{pcommon.ValueTypeInt, pcommon.ValueTypeDouble}, v.Type(), key)
			}
		}
	}
}

// TestNothingIsLost looks for every number of an object in its records.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	set := embeddedSet(t)
	m := NewMapper(nil)
	rapid.Check(t, func(t *rapid.T) {
		lr := plog.NewLogRecord()
		obj := lr.Body().SetEmptyMap()
		obj.PutDouble("epoch", 0.5)
		numbers := map[float64]bool{}
		for i := range rapid.IntRange(0, 40).Draw(t, "keys") {
			key := rapid.SampledFrom(hostileKeys).Draw(t, "key")
			if strings.TrimSpace(key) == "epoch" || key == "ts" || key == "timestamp" || key == "rank" {
				continue
			}
			obj.PutDouble(key, 1000.5+float64(i))
		}
		for _, v := range obj.All() {
			if v.Double() > 1000 {
				numbers[v.Double()] = true
			}
		}
		stream := &Stream{}
		stream.Restore(Decision{Profile: set.profiles[rapid.IntRange(0, len(set.profiles)-1).Draw(t, "profile")], Offset: -1})
		_, all := process(m, set, stream, lr)
		found := map[float64]bool{}
		for _, lr := range all {
			collect(lr.Body(), found)
			if v, ok := lr.Attributes().Get(trainrecord.AttrRunPart); ok {
				for _, word := range strings.FieldsFunc(v.Str(), func(r rune) bool { return r == '=' || r == '/' }) {
					if f, err := strconv.ParseFloat(word, 64); err == nil {
						found[f] = true
					}
				}
			}
			if v, ok := lr.Attributes().Get(trainrecord.AttrRunID); ok {
				found[parseFloat(t, v.Str())] = true
			}
		}
		for n := range numbers {
			require.True(t, found[n], "%v is nowhere", n)
		}
	})
}

func TestCacheOfNamesIsBounded(t *testing.T) {
	t.Parallel()
	m, set := NewMapper(nil), embeddedSet(t)
	for i := range 3 * maxCachedKeys {
		lr := decode(t, hfRow)
		lr.Body().Map().PutInt(strings.Repeat("k", i%900+1)+string(rune('a'+i%26))+strings.Repeat("z", i/7800+1), 1)
		lr.Body().Map().PutInt("k"+pcommon.NewValueInt(int64(i)).AsString(), 1)
		out, _ := process(m, set, nil, lr)
		require.Equal(t, Mapped, out.Kind)
	}
	long := 0
	count := func(name string) {
		if len(name) > maxCachedKey {
			long += len(name)
		}
	}
	for name := range m.known {
		count(name)
	}
	assert.LessOrEqual(t, len(m.known), maxKnownKeys)
	for _, names := range m.plans {
		assert.LessOrEqual(t, len(names), maxCachedKeys)
		for name := range names {
			count(name)
		}
	}
	assert.Positive(t, long, "a long name that comes again costs no more than a short one")
	assert.LessOrEqual(t, long, maxLongKeys)
	assert.Equal(t, m.longKeys, long)
}
