package trainprofile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func TestEachPointOfACurveIsCounted(t *testing.T) {
	t.Parallel()
	g := NewGaugeRecords(embeddedSet(t), gaugeOptions())
	first := g.Consume(seconds(1), metricsOf([]shot{{"training.step", "train", 0.5, 3}, {"loss", "train", 0.5, 1}, {"acc", "train", 0.5, 1}}))
	assert.Equal(t, map[string]int{PointUsed: 3, PointDuplicate: 0}, first.Points)
	assert.Equal(t, map[string]int{ValueSent: 2}, first.Values)

	older := g.Consume(seconds(2), metricsOf([]shot{{"training.step", "train", -9, 9}, {"new", "train", -9, 9}, {"loss", "train", 1.5, 1}, {"training.step", "train", 1.5, -1}}))
	assert.Equal(t, map[string]int{PointDuplicate: 1, PointOutOfOrder: 1, PointBadStep: 1}, older.Points, "the loss waits for its step")
	assert.Equal(t, map[string]int{PointUsed: 1}, g.Tick(seconds(5)).Points)

	md := metricsOf([]shot{{"loss", "train", 6, 1}, {"acc", "train", 6, 1}, {"x", "train", 6, 1}})
	metrics := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics()
	metrics.At(0).Gauge().DataPoints().At(0).SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
	metrics.At(1).Gauge().DataPoints().At(0).SetTimestamp(0)
	metrics.At(2).SetName("tunix." + strings.Repeat("x", maxGaugeText+1))
	assert.Equal(t, map[string]int{PointNoValue: 2, PointLimit: 1}, g.Consume(seconds(7), md).Points)

	md = metricsOf([]shot{{"loss", "train", 8, 1}})
	md.ResourceMetrics().At(0).Resource().Attributes().Clear()
	assert.Equal(t, map[string]int{PointNoRun: 1}, g.Consume(seconds(9), md).Points)
	md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).SetEmptySum()
	assert.Empty(t, g.Consume(seconds(9), md).Points, "a sum is no curve")
}

func TestRowsOfOneTimeAndEqualValuesHaveUIDsOfTheirOwn(t *testing.T) {
	t.Parallel()
	g := NewGaugeRecords(embeddedSet(t), gaugeOptions())
	b := g.Consume(seconds(1), metricsOf([]shot{{"loss", "train", 0.5, 1}, {"loss", "eval", 0.5, 1}}))
	lrs := b.Logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords()
	require.Equal(t, 2, lrs.Len())
	one, _ := lrs.At(0).Attributes().Get(trainrecord.AttrLogRecordUID)
	other, _ := lrs.At(1).Attributes().Get(trainrecord.AttrLogRecordUID)
	assert.NotEqual(t, one.Str(), other.Str())
}
