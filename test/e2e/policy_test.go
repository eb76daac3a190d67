package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/dcgm"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/series"
)

const guardByPolicy = `
processors:
  cardinality_guard/train: {policy_file: %q, policy_poll_interval: 1s, audit_report: %q, flush_interval: 200ms}
`

func guardedBy(t *testing.T, policy, report string) (*collector.Process, *otlpsink.Sink, map[string]string) {
	t.Helper()
	sink := otlpsink.Start(t, otlpsink.Accept)
	env := newFolders(t).env(t)
	env["NETDATA_OTLP_ENDPOINT"] = sink.Endpoint()
	base := filepath.Join(t.TempDir(), "guard.yaml")
	require.NoError(t, os.WriteFile(base, []byte(guardAlone), 0o600))
	return collector.Start(t, collector.Options{Configs: []string{base}, YAML: fmt.Sprintf(guardByPolicy, policy, report), Env: env}), sink, env
}

func shippedPolicy(t *testing.T) string {
	t.Helper()
	return collector.Shipped(t, "policy/training.yaml")
}

// podBatch is a training's metrics and an application's under the resource of one pod.
func podBatch(pod string, value int64) pmetric.Metrics {
	md := pmetric.NewMetrics()
	rm := md.ResourceMetrics().AppendEmpty()
	for k, v := range map[string]string{
		"service.name": guardSource, "k8s.pod.name": pod, "k8s.namespace.name": "ml", "service.instance.id": "8b2281de-6d3c-42ed-8ec8-d3b864870b8b",
	} {
		rm.Resource().Attributes().PutStr(k, v)
	}
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName("tunix")
	base := pcommon.Timestamp(time.Now().Add(-20 * time.Second).UnixNano())
	addGauge(sm, base, "tunix.training.loss", "", value)
	addGauge(sm, base, "tunix.my_reward", "", value)
	addGauge(sm, base, "app.queue", "", value)
	return md
}

// TestTheShippedPolicyOnTheBinary: what carries the run goes from a training's metrics alone, and names off the list go. The report tells so.
func TestTheShippedPolicyOnTheBinary(t *testing.T) {
	t.Parallel()
	report := filepath.Join(t.TempDir(), "guard.md")
	c, sink, env := guardedBy(t, shippedPolicy(t), report)
	batch := podBatch("job-a-x1", 3)
	podBatch("job-b-x2", 4).ResourceMetrics().MoveAndAppendTo(batch.ResourceMetrics())
	exportMetrics(t, env["OTLP_ENDPOINT"], batch)
	points := map[string][]series.Point{}
	require.Eventually(t, func() bool {
		clear(points)
		for _, p := range series.Points(sink.Metrics()...) {
			points[p.Name] = append(points[p.Name], p)
		}
		return len(points["tunix.training.loss"]) >= 1 && len(points["app.queue"]) >= 2
	}, resultWithin, 20*time.Millisecond)
	require.Len(t, points["tunix.training.loss"], 1)
	assert.Equal(t, map[string]any{"service.name": guardSource, "k8s.namespace.name": "ml"}, points["tunix.training.loss"][0].Resource)
	assert.Equal(t, "4", points["tunix.training.loss"][0].Value)
	require.Len(t, points["app.queue"], 2, "the application's metrics keep their pods")
	for _, p := range points["app.queue"] {
		assert.Contains(t, p.Resource["k8s.pod.name"], "job-")
		assert.NotContains(t, p.Resource, "service.instance.id", "random")
	}
	assert.NotContains(t, points, "tunix.my_reward")
	c.WaitMetric("otelcol_cardinality_guard_metrics_rejected", map[string]string{"reason": "off_list"}, 2, resultWithin)
	c.WaitMetric("otelcol_cardinality_guard_policy_info", map[string]string{"version": "1", "mode": "enforce"}, 1, resultWithin)
	c.Stop()
	text, err := os.ReadFile(report)
	require.NoError(t, err)
	assert.Contains(t, string(text), `| tunix.my\_reward | - |  | point dropped | 2 |`)
	assert.Contains(t, string(text), `| tunix.training.loss | k8s.pod.name | resource | attribute removed | 2 |`)
	assert.NotContains(t, string(text), "job-a")
	_, err = os.Stat(strings.TrimSuffix(report, ".md") + ".json")
	require.NoError(t, err)
}

// TestAPolicyIsChangedWhileTheBinaryRuns by writing the file; a bad one changes nothing and is counted, and a bad one at the start stops it.
func TestAPolicyIsChangedWhileTheBinaryRuns(t *testing.T) {
	t.Parallel()
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(policy, []byte(text), 0o600)) }
	write("version: before\n")
	c, sink, env := guardedBy(t, policy, "")
	write("version: after\nmode: nonsense\n")
	c.WaitMetric("otelcol_cardinality_guard_policy_reloads", map[string]string{"result": "invalid"}, 1, resultWithin)
	require.Eventually(t, func() bool {
		return strings.Contains(c.Logs(), "line 2: mode: want one of enforce, audit, off")
	}, resultWithin, 20*time.Millisecond, "the mistake is not named")
	write("version: after\nresource: {deny: [k8s.pod.name]}\n")
	c.WaitMetric("otelcol_cardinality_guard_policy_info", map[string]string{"version": "after"}, 1, resultWithin)
	exportMetrics(t, env["OTLP_ENDPOINT"], podBatch("job-a-x1", 3))
	require.Eventually(t, func() bool { return len(series.Points(sink.Metrics()...)) == 3 }, resultWithin, 20*time.Millisecond)
	for _, p := range series.Points(sink.Metrics()...) {
		assert.NotContains(t, p.Resource, "k8s.pod.name")
	}

	write("mode: nonsense\n")
	bad := strings.Replace(guardAlone, "cardinality_guard/train: {flush_interval: 1s}", fmt.Sprintf("cardinality_guard/train: {policy_file: %q}", policy), 1)
	out, err := collector.Validate(t, collector.Options{YAML: bad, Env: env})
	require.Error(t, err)
	assert.Contains(t, out, "policy_file: "+policy+": line 1: mode: want one of enforce, audit, off")
}

// TestTheShippedPolicyKeepsTheExportersSeries compares all that a backend tells series apart by, and the values.
func TestTheShippedPolicyKeepsTheExportersSeries(t *testing.T) {
	t.Parallel()
	for _, exposition := range []string{"metrics.prom", "metrics-60s-later.prom", "metrics-Hostname-label-pre-2026-05.prom"} {
		t.Run(exposition, func(t *testing.T) {
			t.Parallel()
			exporter := dcgm.Serve(t, filepath.Join("..", "testdata", "dcgm", exposition))
			before := scrapedTwice(t, exporter, collector.Options{})
			overlay := strings.Replace(withGuard, "cardinality_guard/gpu: {}", fmt.Sprintf("cardinality_guard/gpu: {policy_file: %q}", shippedPolicy(t)), 1)
			require.Contains(t, overlay, "training.yaml")
			after := scrapedTwice(t, exporter, collector.Options{YAML: overlay})
			require.GreaterOrEqual(t, len(valuesOf(exporter, before)), 60)
			assert.Equal(t, series.Keys(before, nil), series.Keys(after, nil))
			assert.Equal(t, valuesOf(exporter, before), valuesOf(exporter, after))
		})
	}
}
