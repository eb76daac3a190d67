package componentcheck

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// AssertTelemetry fails unless the self-metrics whose names begin with prefix are exactly these lines, in any order:
//
//	otelcol_x_dropped{reason="full",signal="logs"} 2
//	otelcol_x_size 0
//	otelcol_x_duration_count 3
//
// Attributes are sorted; a histogram shows its count only.
func AssertTelemetry(t testing.TB, tel *componenttest.Telemetry, prefix string, want ...string) bool {
	t.Helper()
	want = slices.Sorted(slices.Values(want))
	return assert.Equal(t, strings.Join(want, "\n"), strings.Join(FormatTelemetry(t, tel, prefix), "\n"))
}

// FormatTelemetry returns the self-metrics whose names begin with prefix, one line a point, sorted.
func FormatTelemetry(t testing.TB, tel *componenttest.Telemetry, prefix string) []string {
	t.Helper()
	var rm metricdata.ResourceMetrics
	require.NoError(t, tel.Reader.Collect(context.Background(), &rm))
	var lines []string
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			if strings.HasPrefix(m.Name, prefix) {
				lines = append(lines, metricLines(m)...)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func metricLines(m metricdata.Metrics) []string {
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		return pointLines(m.Name, data.DataPoints)
	case metricdata.Sum[float64]:
		return pointLines(m.Name, data.DataPoints)
	case metricdata.Gauge[int64]:
		return pointLines(m.Name, data.DataPoints)
	case metricdata.Gauge[float64]:
		return pointLines(m.Name, data.DataPoints)
	case metricdata.Histogram[int64]:
		return countLines(m.Name, data.DataPoints)
	case metricdata.Histogram[float64]:
		return countLines(m.Name, data.DataPoints)
	default:
		return []string{fmt.Sprintf("%s unknown kind %T", m.Name, data)}
	}
}

func pointLines[N int64 | float64](name string, points []metricdata.DataPoint[N]) []string {
	lines := make([]string, 0, len(points))
	for _, p := range points {
		lines = append(lines, fmt.Sprintf("%s%s %v", name, labels(p.Attributes), p.Value))
	}
	return lines
}

func countLines[N int64 | float64](name string, points []metricdata.HistogramDataPoint[N]) []string {
	lines := make([]string, 0, len(points))
	for _, p := range points {
		lines = append(lines, fmt.Sprintf("%s_count%s %d", name, labels(p.Attributes), p.Count))
	}
	return lines
}

func labels(set attribute.Set) string {
	if set.Len() == 0 {
		return ""
	}
	parts := make([]string, 0, set.Len())
	for _, kv := range set.ToSlice() {
		parts = append(parts, fmt.Sprintf("%s=%q", kv.Key, kv.Value.String()))
	}
	return "{" + strings.Join(parts, ",") + "}"
}
