package trainprofile

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// shot is a gauge's value in an export.
type shot struct {
	name, mode string
	at         float64
	value      float64
}

func drawExports(t *rapid.T) (exports [][]shot) {
	step := map[string]float64{}
	for i := range rapid.IntRange(1, 6).Draw(t, "exports") {
		var export []shot
		for _, mode := range []string{"train", "eval"} {
			step[mode] += float64(rapid.IntRange(0, 2).Draw(t, "steps"))
			jitter := func() float64 { return float64(10*i) + float64(rapid.IntRange(0, 400).Draw(t, "jitter"))/1000 }
			export = append(export, shot{"training.step", mode, jitter(), step[mode]})
			for _, name := range []string{"loss", "acc", "training.learning_rate"} {
				value := rapid.SampledFrom([]float64{0, 1, math.Inf(1), math.NaN()}).Draw(t, "value")
				export = append(export, shot{name, mode, jitter(), value})
			}
		}
		exports = append(exports, export)
	}
	return exports
}

func metricsOf(shots []shot) pmetric.Metrics {
	md := pmetric.NewMetrics()
	rm := md.ResourceMetrics().AppendEmpty()
	rm.Resource().Attributes().PutStr("run_id", "r")
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName("tunix")
	for _, s := range shots {
		m := sm.Metrics().AppendEmpty()
		m.SetName("tunix." + s.name)
		dp := m.SetEmptyGauge().DataPoints().AppendEmpty()
		dp.SetTimestamp(pcommon.NewTimestampFromTime(seconds(s.at)))
		dp.SetDoubleValue(s.value)
		dp.Attributes().PutStr("tunix.training.mode", s.mode)
	}
	return md
}

func logsJSON(t require.TestingT, ld plog.Logs) string {
	text, err := (&plog.JSONMarshaler{}).MarshalLogs(ld)
	require.NoError(t, err)
	return string(text)
}

// TestOrderOfPointsAndRedeliveryOfGauges shuffles the points of each call, sends calls again, takes batches back and restarts: the
// records are the same, and an export that came again gives none. Records are never more than changes.
func TestOrderOfPointsAndRedeliveryOfGauges(t *testing.T) {
	t.Parallel()
	set := embeddedSet(t)
	rapid.Check(t, func(t *rapid.T) {
		a, b := NewGaugeRecords(set, gaugeOptions()), NewGaugeRecords(set, gaugeOptions())
		changes, steps, sent := 0, 0, 0
		last := map[string]string{}
		for i, export := range drawExports(t) {
			now := seconds(float64(10*i) + 1)
			want := logsJSON(t, a.Consume(now, metricsOf(export)).Logs)
			mixed := metricsOf(rapid.Permutation(export).Draw(t, "mixed"))
			if rapid.Bool().Draw(t, "refused") {
				b.Consume(now, mixed).Undo()
			}
			if rapid.Bool().Draw(t, "restarted") {
				b = restarted(t, set, b, now)
			}
			got := b.Consume(now, mixed)
			require.Equal(t, want, logsJSON(t, got.Logs))
			require.Zero(t, b.Consume(now.Add(time.Second), metricsOf(export)).Logs.LogRecordCount())
			for _, s := range export {
				key, value := s.name+s.mode, strconv.FormatFloat(s.value, 'g', -1, 64)
				if last[key] == value {
					continue
				}
				if last[key] = value; s.name == "training.step" {
					steps++
				} else {
					changes++
				}
			}
			sent += got.Values[ValueSent]
			require.LessOrEqual(t, sent, changes)
			require.Equal(t, a.Len(), b.Len())
		}
	})
}

// restarted gives an engine that knows what another stored.
func restarted(t require.TestingT, set *Set, g *GaugeRecords, now time.Time) *GaugeRecords {
	for shard := range GaugeShards {
		g.Keep(shard)
	}
	parts, err := g.Changed()
	require.NoError(t, err)
	other := NewGaugeRecords(set, gaugeOptions())
	for _, data := range parts {
		require.NoError(t, other.Restore(data, now))
	}
	for _, run := range g.runs {
		other.runs[run.id].lastRecord = run.lastRecord // silence begins anew
	}
	return other
}

// lastValues gives what is known of each step at the end.
func lastValues(t require.TestingT, all map[string]string, ld plog.Logs) {
	for _, rl := range ld.ResourceLogs().All() {
		for _, lr := range rl.ScopeLogs().At(0).LogRecords().All() {
			body := lr.Body().Map()
			step, _ := body.Get("step")
			phase, _ := lr.Attributes().Get(trainrecord.AttrPhase)
			for _, object := range []string{"measurements", "learning_rate"} {
				if m, ok := body.Get(object); ok {
					for name, v := range m.Map().All() {
						all[phase.AsString()+step.AsString()+name] = v.AsString()
					}
				}
			}
		}
	}
}

// TestSplitExportsGiveTheSameCurves cuts each export in two calls: every step has the same values in the end.
func TestSplitExportsGiveTheSameCurves(t *testing.T) {
	t.Parallel()
	set := embeddedSet(t)
	rapid.Check(t, func(t *rapid.T) {
		a, b := NewGaugeRecords(set, gaugeOptions()), NewGaugeRecords(set, gaugeOptions())
		whole, cut := map[string]string{}, map[string]string{}
		for i, export := range drawExports(t) {
			now := seconds(float64(10*i) + 1)
			lastValues(t, whole, a.Consume(now, metricsOf(export)).Logs)
			mixed := export
			at := len(export)
			if i > 0 { // before, nobody knows that a step will come
				mixed = rapid.Permutation(export).Draw(t, "mixed")
				at = rapid.IntRange(0, len(mixed)).Draw(t, "cut")
			}
			lastValues(t, cut, b.Consume(now, metricsOf(mixed[:at])).Logs)
			lastValues(t, cut, b.Consume(now.Add(100*time.Millisecond), metricsOf(mixed[at:])).Logs)
			lastValues(t, cut, b.Tick(now.Add(3*time.Second)).Logs)
		}
		lastValues(t, whole, a.Flush(seconds(100)).Logs)
		lastValues(t, cut, b.Flush(seconds(100)).Logs)
		require.Equal(t, whole, cut)
	})
}

func TestRowsAreBoundedAndForgotten(t *testing.T) {
	t.Parallel()
	options := gaugeOptions()
	options.MaxRows = 3
	g := NewGaugeRecords(embeddedSet(t), options)
	for i := range 10 {
		md := metricsOf([]shot{{"loss", strconv.Itoa(i), float64(i), 1}})
		b := g.Consume(seconds(float64(i)), md)
		assert.Equal(t, 1, b.Logs.LogRecordCount())
		assert.Equal(t, map[bool]int{true: 1}[i >= 3], b.Forgotten)
	}
	assert.Equal(t, 3, g.Len())
	assert.Len(t, g.runs, 1)
	g.Tick(seconds(3608.5))
	assert.Equal(t, 1, g.Len())
	g.Tick(seconds(3700))
	assert.Empty(t, g.rows)
	assert.Empty(t, g.runs)
	assert.Zero(t, g.recent.Len())
}
