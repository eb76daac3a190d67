package cardinalityguardprocessor

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

func pcommonTime(n int64) pcommon.Timestamp { return pcommon.Timestamp(n) }

func parsed(t *testing.T, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("", []byte(text))
	require.NoError(t, err)
	return p
}

const wantReport = `# What cardinality_guard changes, and would change

Policy version 4, mode enforce. 4 points from 1970-01-01T00:00:00Z to 1970-01-01T01:00:00Z.

## Would change (audit)

### off\_list

| Metric | Key | On | Change | Points |
| --- | --- | --- | --- | ---: |
| other\_# | - |  | point dropped | 1 |

### trial

| Metric | Key | On | Change | Points |
| --- | --- | --- | --- | ---: |
| g\|x | user | datapoint | attribute removed | 2 |

## Changed (enforce)

### metric\_name

| Metric | Key | On | Change | Points |
| --- | --- | --- | --- | ---: |
| loss\_run\_id\_# | - |  | point dropped | 1 |

### run

| Metric | Key | On | Change | Points |
| --- | --- | --- | --- | ---: |
| g\|x | run\_id | resource | attribute removed | 2 |
`

func TestTheReportTellsWhatChangesByRuleMetricAndKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "guard.md")
	l := newLab(t, 1, parsed(t, "version: 4\nattributes: {deny: {exact: [user], mode: audit, name: trial}}\nmetrics: {allow: {prefix: [g]}, otherwise: drop, mode: audit}\n"),
		func(c *Config) { c.AuditReport = file })
	require.NoError(t, l.guard.start(t.Context(), componenttest.NewNopHost()))
	md := gaugeBatch("g|x", "user", "a", "b")
	md.ResourceMetrics().At(0).Resource().Attributes().PutStr("run_id", "secret-run")
	l.feed(t, md)
	l.feed(t, gaugeBatch("other_7", "k", "v"))
	l.feed(t, gaugeBatch("loss_run_id_12345", "k", "v"))
	l.at(int64(time.Hour))
	require.NoError(t, l.guard.shutdown(context.Background()))

	markdown, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, wantReport, string(markdown))

	text, err := os.ReadFile(filepath.Join(dir, "guard.json"))
	require.NoError(t, err)
	var d document
	require.NoError(t, json.Unmarshal(text, &d))
	assert.Equal(t, "4", d.Policy)
	assert.EqualValues(t, 4, d.Points)
	require.Len(t, d.Changes, 4)
	assert.Equal(t, counted{reportRow{"trial", "audit", "attribute removed", "datapoint", "g|x", "user"}, 2}, d.Changes[1])
	assert.NotContains(t, string(text)+string(markdown), "secret-run")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 2, "no draft is left")
}

func TestTheReportIsBounded(t *testing.T) {
	t.Parallel()
	r := newAuditReport(filepath.Join(t.TempDir(), "r"))
	p := policy.Default()
	for i := range 3 {
		tally := map[change]int64{}
		for k := range reportChanges {
			tally[change{rule: 1, what: policy.Remove, metric: fmt.Sprint(i), key: strings.Repeat("k", 300) + fmt.Sprint(k)}] = 1
			tally[change{rule: 1, what: policy.Remove, metric: fmt.Sprint(i), key: fmt.Sprint(k)}] = 1
		}
		r.add(p, tally, 1)
	}
	d := r.document(time.Unix(0, 0))
	assert.Len(t, d.Changes, reportChanges)
	assert.Positive(t, d.LeftOut)
	assert.Contains(t, string(d.markdown()), "are left out")
	require.NoError(t, r.write(time.Unix(0, 0)))
	_, err := os.Stat(r.json)
	require.NoError(t, err)
}

func TestAReportThatCannotBeWrittenIsCountedAndStopsNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1, policy.Default(), func(c *Config) { c.AuditReport = filepath.Join(t.TempDir(), "missing", "guard.md") })
	require.NoError(t, l.guard.start(t.Context(), componenttest.NewNopHost()))
	l.feed(t, gaugeBatch("g", "run_id", "a"))
	require.NoError(t, l.guard.shutdown(context.Background()))
	componentcheck.AssertTelemetry(t, l.telemetry, "otelcol_cardinality_guard_storage_errors",
		`otelcol_cardinality_guard_storage_errors{processor="cardinality_guard",reason="report"} 1`)
	assert.Len(t, l.sink.AllMetrics(), 1)
}

func TestTheLogHasAnExampleOfARuleAMinuteAndNeverAValue(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1, parsed(t, "attributes:\n  deny: {exact: [user], mode: audit, name: trial}\n  values: {deny_patterns: [uuid]}\n"))
	core, logs := observer.New(zap.DebugLevel)
	l.guard.samples = newSampleLog(zap.New(core))
	const id = "8b2281de-6d3c-42ed-8ec8-d3b864870b8b"
	for range 10 {
		md := gaugeBatch("loss", "patient_id", "P-4711")
		attrs := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0).Attributes()
		attrs.PutStr("user", "somebody")
		attrs.PutStr("session", id)
		l.feed(t, md)
	}
	require.Equal(t, 3, logs.Len())
	seen := map[any]map[string]any{}
	for _, e := range logs.All() {
		fields := e.ContextMap()
		seen[fields["rule"]] = fields
		for _, secret := range []string{"P-4711", "somebody", id} {
			assert.NotContains(t, fmt.Sprint(e.Message, fields), secret)
		}
		assert.Equal(t, "loss", fields["metric"])
		assert.Len(t, fields["value_hash"], 16)
	}
	assert.Equal(t, "patient_id", seen["patient"]["key"])
	assert.Equal(t, "session", seen["uuid"]["key"])
	assert.Equal(t, "user", seen["trial"]["key"])
	assert.Equal(t, l.guard.samples.hash("P-4711"), seen["patient"]["value_hash"])
	assert.NotEqual(t, newSampleLog(zap.NewNop()).hash("P-4711"), seen["patient"]["value_hash"], "every process has a salt of its own")
}

// TestAuditCountsWhatEnforcingCounts: on a resource whose metrics need different changes, too.
func TestAuditCountsWhatEnforcingCounts(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../config/policy/training.yaml")
	require.NoError(t, err)
	count := func(mode string) []string {
		l := newLab(t, 1, parsed(t, strings.Replace(string(text), "mode: enforce", "mode: "+mode, 1)))
		md := pmetric.NewMetrics()
		rm := md.ResourceMetrics().AppendEmpty()
		for _, key := range []string{"run_id", "k8s.pod.name", "host.name", "service.instance.id"} {
			rm.Resource().Attributes().PutStr(key, "8b2281de-6d3c-42ed-8ec8-d3b864870b8b")
		}
		sm := rm.ScopeMetrics().AppendEmpty()
		sm.Scope().Attributes().PutStr("epoch", "1")
		for _, name := range []string{"tunix.training.loss", "up", "DCGM_FI_DEV_GPU_TEMP", "k8s.pod.cpu.usage", "pathologize.ml.training.run.active", "system.cpu.utilization"} {
			m := sm.Metrics().AppendEmpty()
			m.SetName(name)
			p := m.SetEmptyGauge().DataPoints().AppendEmpty()
			p.SetTimestamp(1)
			p.Attributes().PutStr("run_id", "a")
		}
		l.feed(t, md)
		var lines []string
		for _, line := range componentcheck.FormatTelemetry(t, l.telemetry, "otelcol_cardinality_guard_attributes_removed") {
			lines = append(lines, strings.Replace(line, `mode="audit",`, "", 1))
		}
		return lines
	}
	enforced := count("enforce")
	require.NotEmpty(t, enforced)
	assert.Equal(t, enforced, count("audit"))
}

// TestTheLogOfLostPointsSaysWhy: a value that is no number is no matter of names.
func TestTheLogOfLostPointsSaysWhy(t *testing.T) {
	t.Parallel()
	l, logs := watched(t, func(*Config) {})
	md := pointOf("sum.delta", 1, 2, 1, "run_id", "a")
	md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Sum().DataPoints().At(0).SetDoubleValue(math.NaN())
	l.feed(t, md)
	require.Equal(t, 1, logs.Len())
	assert.Equal(t, "Dropped points", logs.All()[0].Message)
	assert.Equal(t, "not_finite", logs.All()[0].ContextMap()["reason"])
}

func TestTwoGuardsDoNotWriteOneReport(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "guard.md")
	edit := func(c *Config) { c.AuditReport = file }
	a, b := newLab(t, 1, policy.Default(), edit), newLab(t, 1, policy.Default(), edit)
	b.guard.state.claims = a.guard.state.claims
	require.NoError(t, a.guard.start(t.Context(), componenttest.NewNopHost()))
	require.ErrorContains(t, b.guard.start(t.Context(), componenttest.NewNopHost()), "audit_report: "+file+" is another guard's report")
	require.NoError(t, b.guard.shutdown(context.Background()))
	require.NoError(t, a.guard.shutdown(context.Background()))
	require.NoError(t, b.guard.start(t.Context(), componenttest.NewNopHost()), "the file is free again")
	require.NoError(t, b.guard.shutdown(context.Background()))
}

// TestAReportThatHangsHoldsNoShutdown writes it to a pipe that nobody reads.
func TestAReportThatHangsHoldsNoShutdown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := newLab(t, 1, policy.Default(), func(c *Config) { c.AuditReport = filepath.Join(dir, "guard.md") })
	pipe := filepath.Join(dir, ".guard.md.tmp")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	l.guard.watch.patience = time.Millisecond
	require.NoError(t, l.guard.start(t.Context(), componenttest.NewNopHost()))
	done := make(chan error, 1)
	go func() { done <- l.guard.shutdown(context.Background()) }()
	select {
	case err := <-done:
		require.NoError(t, err)
	case <-time.After(10 * time.Second):
		t.Error("the shutdown waits for the report")
	}
	assert.Equal(t, []string{`otelcol_cardinality_guard_storage_errors{processor="cardinality_guard",reason="report"} 1`},
		componentcheck.FormatTelemetry(t, l.telemetry, "otelcol_cardinality_guard_storage_errors"))
	r, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0) // lets the write go on
	require.NoError(t, err)
	require.NoError(t, r.Close())
}

// TestFoxhuntsOwnPolicyKeepsItsDashboard: listed models and folds pass untouched, others go.
func TestFoxhuntsOwnPolicyKeepsItsDashboard(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1, readPolicy(t, "foxhunt.yaml"))
	l.at(1000)
	for i, c := range []struct {
		model string
		fold  string
		kept  bool
	}{{"dqn", "0", true}, {"ppo", "15", true}, {"dqn", "16", false}, {"mine", "1", false}} {
		md := gaugeBatch("foxhunt_training_epoch_loss", "model", c.model)
		p := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0)
		p.Attributes().PutStr("fold", c.fold)
		p.SetTimestamp(pcommonTime(int64(100 + i)))
		before := marshal(t, md)
		l.feed(t, md)
		if c.kept {
			require.Len(t, l.sink.AllMetrics(), 1, "%v", c)
			require.Equal(t, before, marshal(t, l.sink.AllMetrics()[0]))
		} else {
			require.Empty(t, l.sink.AllMetrics(), "%v", c)
		}
		l.sink.Reset()
	}
	l.guard.flush(t.Context(), false)
	require.Empty(t, l.sink.AllMetrics())
}
