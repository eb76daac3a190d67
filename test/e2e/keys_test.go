package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
)

// TestRunZoneExclusionAndTornTailAreAsConfigured has a path that names run and rank, a time without zone, an excluded file, and a last line
// that nobody ends.
func TestRunZoneExclusionAndTornTailAreAsConfigured(t *testing.T) {
	t.Parallel()
	sink := otlpsink.Start(t, otlpsink.Accept)
	f := newFolders(t)
	env := f.env(t)
	env["NETDATA_OTLP_ENDPOINT"] = sink.Endpoint()
	for _, name := range []string{"old", filepath.Join("job-7", "rank3")} {
		require.NoError(t, os.MkdirAll(filepath.Join(f.Runs, name), 0o755))
		text := `{"schema":"pathologize.ml.training/1","ts":"2026-11-20T11:00:00","event":"heartbeat","body":{}}` + "\n" + `{"schema": "path`
		require.NoError(t, os.WriteFile(filepath.Join(f.Runs, name, "train.jsonl"), []byte(text), 0o644))
	}
	startNorm(t, env, `
receivers:
  train_jsonl:
    exclude: ["${env:RUNS_DIR}/old/*"]
    timezone: Europe/Berlin
    torn_after: 200ms
    run_id: {path_regex: "/(?P<run_id>[^/]+)/rank(?P<rank>[0-9]+)/"}
`)
	require.Eventually(t, func() bool { return len(sink.LogRecords()) > 1 }, resultWithin, 20*time.Millisecond)
	records := sink.LogRecords()
	require.Len(t, records, 2)
	for _, lr := range records {
		assert.Equal(t, "job-7", lr.Attributes().AsRaw()[trainrecord.AttrRunID])
		assert.EqualValues(t, 3, lr.Attributes().AsRaw()[trainrecord.AttrRunRank])
	}
	assert.Equal(t, time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC), records[0].Timestamp().AsTime())
	assert.Equal(t, "torn", records[1].Attributes().AsRaw()[trainrecord.AttrRecordError])
}

// TestAnExplicitFrameworkWins has a row that is recognised as another framework's.
func TestAnExplicitFrameworkWins(t *testing.T) {
	t.Parallel()
	for overlay, want := range map[string]string{
		"": "huggingface", "processors: {training_norm: {framework: pytorch}}\n": "pytorch",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			sink := otlpsink.Start(t, otlpsink.Accept)
			f := newFolders(t)
			env := f.env(t)
			env["NETDATA_OTLP_ENDPOINT"] = sink.Endpoint()
			newTrainer(t, f, "r").lines(`{"loss":0.5,"grad_norm":1.0,"learning_rate":5e-05,"epoch":0.5,"step":10}`)
			startNorm(t, env, overlay)
			require.Eventually(t, func() bool { return len(sink.LogRecords()) > 0 }, resultWithin, 20*time.Millisecond)
			assert.Equal(t, want, sink.LogRecords()[0].Attributes().AsRaw()[trainrecord.AttrFramework])
		})
	}
}

// TestARecordThatIsRefusedForGoodCostsNoOther has two among forty that the backend never takes, and no isolate before it.
func TestARecordThatIsRefusedForGoodCostsNoOther(t *testing.T) {
	t.Parallel()
	sink := otlpsink.Start(t, otlpsink.Accept)
	sink.RefuseLogs(func(ld plog.Logs) bool {
		text, err := (&plog.JSONMarshaler{}).MarshalLogs(ld)
		return err != nil || bytes.Contains(text, []byte("poison"))
	})
	f := newFolders(t)
	var text strings.Builder
	for i := range 40 {
		message := fmt.Sprintf("%02d", i)
		if i == 7 || i == 31 {
			message = "poison"
		}
		fmt.Fprintf(&text, `{"schema":"pathologize.ml.training/1","event":"log","run_id":"r","body":{"message":%q}}`+"\n", message)
	}
	newTrainer(t, f, "r").write(text.String())
	c := collector.Start(t, collector.Options{YAML: killLoop, Env: map[string]string{
		"RUNS_DIR": f.Runs, "STATE_DIR": f.State, "OTLP_ENDPOINT": sink.Endpoint(), "LIFE": "0",
	}})
	refused := c.WaitMetric("otelcol_train_jsonl_refused_records", nil, 2, resultWithin)
	assert.InDelta(t, 2, refused, 0)
	require.Eventually(t, func() bool { return len(sink.LogRecords()) >= 38 }, resultWithin, 20*time.Millisecond)
	assert.Len(t, sink.LogRecords(), 38)
}

// startNorm starts a collector with normAlone and what is merged into it.
func startNorm(t *testing.T, env map[string]string, overlay string) {
	t.Helper()
	base := filepath.Join(t.TempDir(), "norm.yaml")
	require.NoError(t, os.WriteFile(base, []byte(normAlone), 0o600))
	collector.Start(t, collector.Options{Configs: []string{base}, Env: env, YAML: overlay})
}
