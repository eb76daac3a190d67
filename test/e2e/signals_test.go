package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/series"
)

const trainingPrefix = trainrecord.Namespace + "."

// signalLine writes a record of a run.
func signalLine(run string, ts time.Time, event, phase, body string) string {
	return fmt.Sprintf(`{"schema":"pathologize.ml.training/1","ts":%q,"event":%q,"run_id":%q,"framework":"pytorch","phase":%q,`+
		`"resource":{"service.name":"trainer","host.name":"gpu-01","process.pid":4242},"body":{%s}}`, ts.UTC().Format(time.RFC3339Nano), event, run, phase, body)
}

// signalRun is a run of three epochs with steps and phases, a tenth of a second each, from a time on.
func signalRun(run string, from time.Time) []string {
	n := 0
	next := func() time.Time {
		n++
		return from.Add(time.Duration(n) * 10 * time.Millisecond)
	}
	lines := []string{signalLine(run, next(), "run.start", "run", `"planned_epochs":3,"task_family":"detection"`)}
	for epoch := range 3 {
		lines = append(lines, signalLine(run, next(), "phase.start", "train", fmt.Sprintf(`"epoch":%d`, epoch)))
		for step := range 5 {
			lines = append(lines, signalLine(run, next(), "step.end", "train", fmt.Sprintf(
				`"step":%d,"epoch":%d,"samples":32,"durations":{"batch_s":0.2,"data_wait_s":0.03}`, epoch*5+step, epoch)))
		}
		lines = append(lines,
			signalLine(run, next(), "phase.end", "train", fmt.Sprintf(`"epoch":%d`, epoch)),
			signalLine(run, next(), "epoch.end", "train", fmt.Sprintf(`"epoch":%d,"samples":200,"durations":{"validation_s":0.005,"data_wait_s":0.01}`, epoch)))
	}
	return append(lines, signalLine(run, next(), "run.end", "run", `"outcome":"success","stop_reason":"max_epochs"`))
}

// total is what the last points of a metric add up to: values of sums, counts of histograms.
func total(all []pmetric.Metrics, name string, attributes map[string]string) (sum float64) {
	last := map[string]float64{}
	for _, md := range all {
		for _, rm := range md.ResourceMetrics().All() {
			for _, sm := range rm.ScopeMetrics().All() {
				for _, m := range sm.Metrics().All() {
					if m.Name() != trainingPrefix+name {
						continue
					}
					switch m.Type() {
					case pmetric.MetricTypeSum:
						for _, dp := range m.Sum().DataPoints().All() {
							if has(dp.Attributes().AsRaw(), attributes) {
								last[fmt.Sprint(rm.Resource().Attributes().AsRaw(), dp.Attributes().AsRaw())] = dp.DoubleValue() + float64(dp.IntValue())
							}
						}
					case pmetric.MetricTypeHistogram:
						for _, dp := range m.Histogram().DataPoints().All() {
							if has(dp.Attributes().AsRaw(), attributes) {
								last[fmt.Sprint(rm.Resource().Attributes().AsRaw(), dp.Attributes().AsRaw())] = float64(dp.Count())
							}
						}
					default:
					}
				}
			}
		}
	}
	for _, v := range last {
		sum += v
	}
	return sum
}

func has(attrs map[string]any, want map[string]string) bool {
	for k, v := range want {
		if attrs[trainingPrefix+k] != v {
			return false
		}
	}
	return true
}

// totals is what a run has counted.
func totals(all []pmetric.Metrics) map[string]float64 {
	got := map[string]float64{}
	for _, name := range []string{"run.active", "run.outcomes", "run.duration", "phase.duration", "phase.time", "batch.duration", "data_wait.duration", "data_wait.time", "sample.processed"} {
		got[name] = float64(int64(total(all, name, nil)*1e6+0.5)) / 1e6
	}
	return got
}

// TestSignalsOfALiveRunPassTheGuard runs the host configuration on a run that is written now: metrics and spans arrive, the guard
// has changed no point, and the trace is what anybody computes from the run's id.
func TestSignalsOfALiveRunPassTheGuard(t *testing.T) {
	t.Parallel()
	sink, raw := otlpsink.Start(t, otlpsink.Accept), otlpsink.Start(t, otlpsink.Accept)
	f := newFolders(t)
	env := f.env(t)
	env["NETDATA_OTLP_ENDPOINT"], env["SIGNALS_INTERVAL"], env["GUARD_POLICY"] = sink.Endpoint(), "250ms", collector.Shipped(t, "policy/training.yaml")
	c := collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, "host-training.yaml")}, Env: env,
		YAML: "processors: {batch: {timeout: 50ms}}\nexporters: {otlp_grpc/raw: {endpoint: '" + raw.Endpoint() + "', tls: {insecure: true}}}\n" +
			"service: {pipelines: {metrics/raw: {receivers: [training_signals], exporters: [otlp_grpc/raw]}}}\n",
	})
	newTrainer(t, f, "run-a").lines(signalRun("run-a", time.Now())...)
	require.Eventually(t, func() bool {
		return total(sink.Metrics(), "run.duration", map[string]string{"run.outcome": "success"}) == 1 && len(runSpans(sink, "training.run")) == 1
	}, resultWithin, 50*time.Millisecond)
	assert.Equal(t, map[string]float64{
		"run.active": 0, "run.outcomes": 1, "run.duration": 1, "phase.duration": 6, "phase.time": 0.195, "batch.duration": 15,
		"data_wait.duration": 15, "data_wait.time": 0.03, "sample.processed": 600,
	}, totals(sink.Metrics()))
	for _, name := range []string{"attributes_removed", "values_replaced", "points_merged", "points_dropped", "metrics_rejected"} {
		assert.Zero(t, c.Metrics().Sum("otelcol_cardinality_guard_"+name, map[string]string{"processor": "cardinality_guard/train"}), name)
	}
	c.Stop()

	guarded, given := training(sink.Metrics()), training(raw.Metrics())
	require.NotEmpty(t, given)
	for key := range guarded {
		assert.Contains(t, given, key, "the guard changed a point")
	}
	assert.Equal(t, len(given), len(guarded), "the guard or the way took away points")

	spans := map[string]int{}
	for _, s := range sink.Spans() {
		spans[s.Name()]++
		assert.Equal(t, "f4705d0fcb27dd35a6a3a47af3d5c22f", s.TraceID().String(), s.Name())
		pid, ok := s.Resource.Attributes().Get("process.pid")
		assert.True(t, ok && pid.Int() == 4242, "the span's resource is not whole")
	}
	assert.Equal(t, map[string]int{"training.start": 1, "training.train": 3, "training.validation": 3, "training.run": 1}, spans)
	assert.Equal(t, "4694bada95eca655", runSpans(sink, "training.run")[0].SpanID().String())
}

func runSpans(sink *otlpsink.Sink, name string) (found []otlpsink.Span) {
	for _, s := range sink.Spans() {
		if s.Name() == name {
			found = append(found, s)
		}
	}
	return found
}

// training gives the points of derived metrics with their times and values.
func training(all []pmetric.Metrics) map[string]bool {
	points := map[string]bool{}
	for _, p := range series.Points(all...) {
		if strings.HasPrefix(p.Name, trainingPrefix) {
			points[fmt.Sprint(p.Key(), p.Start, p.Time, p.Value)] = true
		}
	}
	return points
}

// signals is a configuration of receiver, connector and backend only.
func signals(t *testing.T, f folders, sink *otlpsink.Sink, more string) *collector.Process {
	t.Helper()
	return collector.New(t, collector.Options{Configs: []string{collector.Shipped(t, "quickstart.yaml")}, Env: f.env(t), YAML: signalsYAML(sink, more)})
}

func signalsYAML(sink *otlpsink.Sink, more string) string {
	return fmt.Sprintf(`
connectors: {training_signals: {storage: file_storage, flush_interval: 100ms, late_grace: 200ms, idle_timeout: 1m%s}}
exporters: {otlp_grpc: {endpoint: '%s', tls: {insecure: true}, sending_queue: {enabled: false}}}
service: {pipelines: {logs: {exporters: [dvc_result, training_signals]}, metrics: {receivers: [training_signals], exporters: [otlp_grpc]},
  traces: {receivers: [training_signals], exporters: [otlp_grpc]}}}
`, more, sink.Endpoint())
}

// TestSignalsSurviveKills kills the collector again and again while runs are written, and wants the totals of one that nothing disturbed.
func TestSignalsSurviveKills(t *testing.T) {
	t.Parallel()
	runs := []string{"run-a", "run-b", "run-c"}
	began := time.Now()
	write := func(f folders, between func(i int)) {
		for i := range signalRun("", began) {
			for _, run := range runs {
				newTrainer(t, f, run).lines(signalRun(run, began)[i])
			}
			between(i)
		}
	}
	settle := func(sink *otlpsink.Sink) {
		require.Eventually(t, func() bool {
			return total(sink.Metrics(), "run.duration", nil) == 3 && total(sink.Metrics(), "data_wait.time", nil) > 0.0899 && distinct(runSpans(sink, "training.run")) == 3
		}, resultWithin, 50*time.Millisecond)
	}
	calm, disturbed := otlpsink.Start(t, otlpsink.Accept), otlpsink.Start(t, otlpsink.Accept)

	f := newFolders(t)
	c := signals(t, f, disturbed, "")
	c.Start()
	write(f, func(i int) {
		pause(t, time.Duration(rand.IntN(120))*time.Millisecond)
		if i%4 == 2 {
			c.Kill()
			c.Start()
		}
	})
	settle(disturbed)

	quiet := newFolders(t)
	d := signals(t, quiet, calm, "")
	d.Start()
	write(quiet, func(int) { pause(t, 10*time.Millisecond) })
	settle(calm)
	assert.Equal(t, totals(calm.Metrics()), totals(disturbed.Metrics()))
	assert.Equal(t, spanSet(calm), spanSet(disturbed), "spans are not the same, byte for byte")
}

// distinct counts spans that are not the same: one may be sent again after a kill.
func distinct(spans []otlpsink.Span) int {
	ids := map[string]bool{}
	for _, s := range spans {
		ids[s.SpanID().String()] = true
	}
	return len(ids)
}

// spanSet is the distinct contents of spans.
func spanSet(sink *otlpsink.Sink) []string {
	set := map[string]bool{}
	for _, s := range sink.Spans() {
		set[fmt.Sprint(s.Name(), s.TraceID(), s.SpanID(), s.ParentSpanID(), s.StartTimestamp(), s.EndTimestamp(), s.Attributes().AsRaw(), s.Resource.Attributes().AsRaw(), s.Status().Code())] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// TestAFinishedDirectoryChangesNoMetric replays runs that ended long ago: history, whose spans are sent.
func TestAFinishedDirectoryChangesNoMetric(t *testing.T) {
	t.Parallel()
	sink := otlpsink.Start(t, otlpsink.Accept)
	f := newFolders(t)
	lines := 0
	for i := range 20 {
		run := fmt.Sprintf("old-%d", i)
		old := signalRun(run, time.Now().Add(-time.Duration(i+1)*time.Hour))
		newTrainer(t, f, run).lines(old...)
		lines += len(old)
	}
	c := signals(t, f, sink, "")
	c.Start()
	c.WaitMetric("otelcol_training_signals_records", map[string]string{"result": "history"}, float64(lines), resultWithin)
	require.Eventually(t, func() bool { return len(runSpans(sink, "training.run")) == 20 }, resultWithin, 50*time.Millisecond)
	c.Kill()
	require.NoError(t, os.RemoveAll(f.State))
	c.Start() // nothing is known any more
	c.WaitMetric("otelcol_training_signals_records", map[string]string{"result": "history"}, float64(lines), resultWithin)
	require.Eventually(t, func() bool { return len(runSpans(sink, "training.run")) == 40 }, resultWithin, 50*time.Millisecond)
	assert.Empty(t, sink.Metrics(), "history was counted")
	assert.Len(t, spanSet(sink), 20*8, "the same records gave other spans")
}
