package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/series"
)

// TestNoFrameworkPutsAnythingElseOnAPointOrSpan reads a stream of every framework as if it were written now, and wants nothing but keys and
// values of the registry's sets on metrics, and spans that hang together. SIGNAL_SAMPLES names a folder of further streams.
func TestNoFrameworkPutsAnythingElseOnAPointOrSpan(t *testing.T) {
	t.Parallel()
	sink := otlpsink.Start(t, otlpsink.Accept)
	f := newFolders(t)
	streams := frameworkStreams(t)
	require.NotEmpty(t, streams)
	for _, s := range streams {
		newTrainer(t, f, s.run).lines(s.in...)
	}
	if dir := os.Getenv("SIGNAL_SAMPLES"); dir != "" {
		samples, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		require.NoError(t, err)
		for _, path := range samples {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			newTrainer(t, f, "sample-"+strings.TrimSuffix(filepath.Base(path), ".jsonl")).write(string(data))
		}
	}
	c := signals(t, f, sink, ", history_age: 876000h, progress: true, spans: {max_age: 876000h}")
	c.Start()
	require.Eventually(t, func() bool { return total(sink.Metrics(), "run.active", nil) >= 5 }, resultWithin, 100*time.Millisecond)
	last := 0.0
	require.Eventually(t, func() bool { // nothing new comes
		before := last
		last = c.Metrics().Sum("otelcol_training_signals_records", nil)
		return last == before && last > 100
	}, resultWithin, time.Second)
	c.Stop()

	values := trainrecord.Load().Values
	sets := map[string][]string{
		trainrecord.AttrFramework: values["framework"], trainrecord.AttrTaskFamily: values["task_family"], trainrecord.AttrPhase: trainrecord.OnMetrics("phase"),
		trainrecord.AttrRunOutcome: trainrecord.OnMetrics("outcome"), trainrecord.AttrRunState: values["run_state"],
	}
	for _, p := range series.Points(sink.Metrics()...) {
		_, known := trainrecord.Load().Metric(strings.TrimPrefix(p.Name, trainingPrefix))
		assert.True(t, known, p.Name)
		for k, v := range p.Attributes {
			assert.Contains(t, sets[k], v, "%s: %s", p.Name, k)
		}
		for k := range p.Resource {
			assert.Contains(t, []string{"service.name", "service.namespace", "host.name", "deployment.environment.name"}, k, p.Name)
		}
	}
	spans := map[string]otlpsink.Span{}
	for _, s := range sink.Spans() {
		spans[s.TraceID().String()+s.SpanID().String()] = s
		assert.True(t, s.Name() == "training.other" || slices.Contains(values["span_name"], s.Name()), s.Name())
	}
	require.NotEmpty(t, runSpans(sink, "training.run"))
	for _, run := range runSpans(sink, "training.run") {
		for _, s := range spans {
			if s.TraceID() == run.TraceID() && s.ParentSpanID() == run.SpanID() {
				assert.GreaterOrEqual(t, s.StartTimestamp(), run.StartTimestamp(), s.Name())
				assert.LessOrEqual(t, s.EndTimestamp(), run.EndTimestamp(), s.Name())
			}
		}
	}
}
