package e2e

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpclient"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/series"
)

// guardAlone is the guard between two ends of OTLP.
const guardAlone = `
receivers:
  otlp: {protocols: {grpc: {endpoint: "${env:OTLP_ENDPOINT}"}}}
processors:
  cardinality_guard/train: {flush_interval: 1s}
exporters:
  otlp_grpc: {endpoint: "${env:NETDATA_OTLP_ENDPOINT}", tls: {insecure: true}}
service:
  pipelines:
    metrics: {receivers: [otlp], processors: [cardinality_guard/train], exporters: [otlp_grpc]}
`

const (
	secretRun   = "run-5e77-must-not-arrive"
	secretEpoch = 8086123 // looks like nothing else in the data
	guardSource = "guard-test"
)

// trainerBatch is what a trainer sends that knows no better: run ids and epochs at every place where a metric can have them. Besides, it has
// series that nobody may touch.
func trainerBatch(base pcommon.Timestamp, run string, value int64) pmetric.Metrics {
	md := pmetric.NewMetrics()
	rm := md.ResourceMetrics().AppendEmpty()
	rm.Resource().Attributes().PutStr("service.name", guardSource)
	rm.Resource().Attributes().PutStr(runIDKey, run)
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName("trainer")
	sm.Scope().Attributes().PutStr("mlflow.runId", run)
	samples := addSum(sm, base, "training.samples", pmetric.AggregationTemporalityDelta, run, value)
	samples.Metadata().PutStr("wandb.run.id", run)
	addSum(sm, base, "training.steps", pmetric.AggregationTemporalityCumulative, run, value)
	addGauge(sm, base, "training.loss", run, value)
	addGauge(sm, base, "DCGM_FI_DEV_GPU_TEMP", run, 61)
	addGauge(sm, base, fmt.Sprintf("loss_run_id_%d", secretEpoch), run, value)
	addGauge(sm, base, "foxhunt_training_current_epoch", run, value)

	clean := md.ResourceMetrics().AppendEmpty()
	clean.Resource().Attributes().PutStr("service.name", guardSource)
	m := clean.ScopeMetrics().AppendEmpty()
	m.Scope().SetName("trainer")
	addSum(m, base, "clean.total", pmetric.AggregationTemporalityCumulative, "", value)
	return md
}

func addSum(sm pmetric.ScopeMetrics, base pcommon.Timestamp, name string, temporality pmetric.AggregationTemporality, run string, value int64) pmetric.Metric {
	m := sm.Metrics().AppendEmpty()
	m.SetName(name)
	m.SetEmptySum().SetAggregationTemporality(temporality)
	m.Sum().SetIsMonotonic(true)
	addPoint(m.Sum().DataPoints().AppendEmpty(), base, run, value)
	return m
}

func addGauge(sm pmetric.ScopeMetrics, base pcommon.Timestamp, name, run string, value int64) {
	m := sm.Metrics().AppendEmpty()
	m.SetName(name)
	addPoint(m.SetEmptyGauge().DataPoints().AppendEmpty(), base, run, value)
}

func addPoint(p pmetric.NumberDataPoint, base pcommon.Timestamp, run string, value int64) {
	p.SetIntValue(value)
	p.SetStartTimestamp(base + pcommon.Timestamp(value))
	p.SetTimestamp(base + 10e9 + pcommon.Timestamp(value))
	p.Attributes().PutStr("phase", "train")
	if run == "" {
		return
	}
	p.Attributes().PutStr("RUN_ID", run)
	p.Attributes().PutInt("trainer/epoch", secretEpoch)
	nested := p.Attributes().PutEmptyMap("ctx")
	nested.PutStr("region", "eu")
	nested.PutEmptySlice("list").AppendEmpty().SetEmptyMap().PutStr("run.id", run)
	e := p.Exemplars().AppendEmpty()
	e.SetIntValue(1)
	e.SetTimestamp(p.Timestamp())
	e.FilteredAttributes().PutStr("run-id", run)
	e.FilteredAttributes().PutInt("epoch", secretEpoch)
}

// TestNoRunIDReachesABackendOnAMetric sends metrics of two runs over OTLP through the guard alone and through the shipped configuration.
func TestNoRunIDReachesABackendOnAMetric(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]collector.Options{
		"alone":      {YAML: guardAlone},
		"as shipped": {Configs: []string{collector.Shipped(t, "host-training.yaml")}, YAML: "processors: {batch: {timeout: 100ms}, cardinality_guard/train: {flush_interval: 1s}}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := otlpsink.Start(t, otlpsink.Accept)
			opts.Env = newFolders(t).env(t)
			opts.Env["NETDATA_OTLP_ENDPOINT"] = sink.Endpoint()
			c := collector.Start(t, opts)
			base := pcommon.NewTimestampFromTime(time.Now()) // the runs begin under the guard's eyes
			batch := trainerBatch(base, secretRun+"-a", 3)
			trainerBatch(base, secretRun+"-b", 4).ResourceMetrics().MoveAndAppendTo(batch.ResourceMetrics())
			exportMetrics(t, opts.Env["OTLP_ENDPOINT"], batch)
			requireGuarded(t, sink, base)
			dropped := c.WaitMetric("otelcol_cardinality_guard_points_dropped", map[string]string{"reason": "metric_name"}, 2, resultWithin)
			assert.InDelta(t, 2, dropped, 0, "a metric of each run with a value in its name")
			c.WaitMetric("otelcol_cardinality_guard_points_merged", nil, 8, resultWithin)
		})
	}
}

func exportMetrics(t *testing.T, endpoint string, md pmetric.Metrics) {
	t.Helper()
	require.NoError(t, otlpclient.Connect(t, endpoint).Metrics(t.Context(), md))
}

// requireGuarded wants, of what was sent, exactly the points that may arrive, and no run id and no epoch in any byte of the metrics.
func requireGuarded(t *testing.T, sink *otlpsink.Sink, base pcommon.Timestamp) {
	t.Helper()
	arrived := func() map[string][]series.Point {
		points := map[string][]series.Point{}
		for _, p := range series.Points(sink.Metrics()...) {
			if p.Resource["service.name"] == guardSource {
				points[p.Name] = append(points[p.Name], p)
			}
		}
		return points
	}
	require.Eventually(t, func() bool { return len(arrived()["clean.total"]) == 2 && len(arrived()["training.loss"]) > 0 }, resultWithin, 20*time.Millisecond, "nothing arrived")
	points := arrived()
	require.Equal(t,
		[]string{"DCGM_FI_DEV_GPU_TEMP", "clean.total", "foxhunt_training_current_epoch", "training.loss", "training.samples", "training.steps"},
		slices.Sorted(maps.Keys(points)))
	want := map[string]any{"phase": "train", "ctx": map[string]any{"region": "eu", "list": []any{map[string]any{}}}}
	for name, value := range map[string]string{"training.samples": "7", "training.steps": "7", "training.loss": "4", "foxhunt_training_current_epoch": "4"} {
		require.Len(t, points[name], 1, "%s of two runs is one series with one point", name)
		p := points[name][0]
		assert.Equal(t, value, p.Value, name)
		assert.Equal(t, want, p.Attributes, name)
		assert.Equal(t, map[string]any{"service.name": guardSource}, p.Resource, name)
		assert.Empty(t, p.ScopeAttributes, name)
		assert.Len(t, p.Exemplars, 2, name)
	}
	samples := points["training.samples"][0]
	assert.Equal(t, base+3, samples.Start)
	assert.Equal(t, base+10e9+4, samples.Time)
	for _, p := range points["clean.total"] {
		assert.Equal(t, map[string]any{"phase": "train"}, p.Attributes)
	}
	for _, md := range sink.Metrics() {
		text, err := (&pmetric.JSONMarshaler{}).MarshalMetrics(md)
		require.NoError(t, err)
		assert.NotContains(t, string(text), secretRun)
		assert.NotContains(t, string(text), fmt.Sprint(secretEpoch))
	}
}
