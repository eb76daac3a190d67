package componentcheck

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

func TestCaseReadsItsParts(t *testing.T) {
	t.Parallel()
	EachCase(t, "testdata", func(t *testing.T, c *Case) {
		assert.Equal(t, "Text before the first part is a comment.\n", c.Comment())
		assert.Equal(t, []string{"config.yaml", "logs", "metrics", "traces", "telemetry"}, c.Names())
		cfg := CaseConfig[*fakeConfig](t, c, goodFake().factory())
		assert.Equal(t, &fakeConfig{Size: 7, Wait: 5 * time.Second}, cfg)

		ld := c.Logs(t, "logs")
		lr := ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
		assert.Equal(t, int64(1700000000123456789), lr.Timestamp().AsTime().UnixNano())
		assert.Equal(t, "a.b", lr.EventName())
		assert.Equal(t, "hello", lr.Body().Str())
		c.EqualLogs(t, "logs", ld)

		md := c.Metrics(t, "metrics")
		assert.Equal(t, int64(3), md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Sum().DataPoints().At(0).IntValue())
		c.EqualMetrics(t, "metrics", md)

		td := c.Traces(t, "traces")
		assert.Equal(t, "run", td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Name())
		c.EqualTraces(t, "traces", td)

		c.EqualTelemetry(t, someTelemetry(t), "otelcol_fake_")
	})
}

// someTelemetry holds one instrument of several kinds, and one of another component.
func someTelemetry(t *testing.T) *componenttest.Telemetry {
	t.Helper()
	tel := componenttest.NewTelemetry()
	t.Cleanup(func() { assert.NoError(t, tel.Shutdown(context.Background())) })
	meter := tel.NewTelemetrySettings().MeterProvider.Meter("x")
	dropped, err := meter.Int64Counter("otelcol_fake_dropped")
	require.NoError(t, err)
	dropped.Add(t.Context(), 2, metric.WithAttributes(attribute.String("signal", "logs"), attribute.String("reason", "full")))
	ratio, err := meter.Float64Gauge("otelcol_fake_ratio")
	require.NoError(t, err)
	ratio.Record(t.Context(), 0.5)
	wait, err := meter.Float64Histogram("otelcol_fake_wait")
	require.NoError(t, err)
	wait.Record(t.Context(), 1)
	wait.Record(t.Context(), 9)
	other, err := meter.Int64UpDownCounter("otelcol_other")
	require.NoError(t, err)
	other.Add(t.Context(), 1)
	return tel
}

func TestAssertTelemetryWantsExactlyTheLines(t *testing.T) {
	t.Parallel()
	tel := someTelemetry(t)
	lines := []string{`otelcol_fake_wait_count 2`, `otelcol_fake_ratio 0.5`, `otelcol_fake_dropped{reason="full",signal="logs"} 2`}
	assert.True(t, AssertTelemetry(t, tel, "otelcol_fake_", lines...))
	assert.False(t, AssertTelemetry(new(testing.T), tel, "otelcol_fake_", lines[:2]...))
	assert.False(t, AssertTelemetry(new(testing.T), tel, "otelcol_", lines...))
}

func TestGoldenIsComparedAndRewritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "case.txt")
	require.NoError(t, os.WriteFile(path, []byte("why\n-- in --\nx\n-- out --\nold\n"), 0o600))
	c := ReadCase(t, path)
	c.update = false
	c.Equal(t, "out", "old")
	failed := new(testing.T)
	c.Equal(failed, "out", "new")
	assert.True(t, failed.Failed())

	c.update = true
	c.Equal(t, "out", "new")
	c.Equal(t, "more", "added\n")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "why\n-- in --\nx\n-- out --\nnew\n-- more --\nadded\n", string(text))
}
