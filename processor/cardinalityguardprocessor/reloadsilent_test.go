package cardinalityguardprocessor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// kindsOfPoints are the types of metrics and their temporalities. Each point has a value of n: of distributions, n measurements of 1.
var kindsOfPoints = []string{"gauge", "sum", "updown", "sum.delta", "hist", "hist.delta", "exp", "exp.delta", "summary"}

func temporalityNamed(kind string) (t pmetric.AggregationTemporality, isDelta bool) {
	if filepath.Ext(kind) == ".delta" {
		return pmetric.AggregationTemporalityDelta, true
	}
	return pmetric.AggregationTemporalityCumulative, false
}

// pointOf is a batch with one point of a kind, from start to at, with attributes.
func pointOf(kind string, start, at, n int64, attrs ...string) pmetric.Metrics {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName(kind)
	temporality, _ := temporalityNamed(kind)
	var to pcommon.Map
	from, until := pcommon.Timestamp(start), pcommon.Timestamp(at)
	switch kind {
	case "gauge", "sum", "updown", "sum.delta":
		points := m.SetEmptyGauge().DataPoints()
		if kind != "gauge" {
			m.SetEmptySum().SetAggregationTemporality(temporality)
			m.Sum().SetIsMonotonic(kind != "updown")
			points = m.Sum().DataPoints()
		}
		p := points.AppendEmpty()
		p.SetIntValue(n)
		p.SetStartTimestamp(from)
		p.SetTimestamp(until)
		to = p.Attributes()
	case "hist", "hist.delta":
		m.SetEmptyHistogram().SetAggregationTemporality(temporality)
		p := m.Histogram().DataPoints().AppendEmpty()
		p.SetCount(uint64(n))
		p.SetSum(float64(n))
		p.SetMin(1)
		p.SetMax(1)
		p.ExplicitBounds().FromRaw([]float64{2})
		p.BucketCounts().FromRaw([]uint64{uint64(n), 0})
		p.SetStartTimestamp(from)
		p.SetTimestamp(until)
		to = p.Attributes()
	case "exp", "exp.delta":
		m.SetEmptyExponentialHistogram().SetAggregationTemporality(temporality)
		p := m.ExponentialHistogram().DataPoints().AppendEmpty()
		p.SetCount(uint64(n))
		p.SetSum(float64(n))
		p.SetMin(1)
		p.SetMax(1)
		p.Positive().SetOffset(-1)
		p.Positive().BucketCounts().FromRaw([]uint64{uint64(n)})
		p.SetStartTimestamp(from)
		p.SetTimestamp(until)
		to = p.Attributes()
	case "summary":
		p := m.SetEmptySummary().DataPoints().AppendEmpty()
		p.SetCount(uint64(n))
		p.SetSum(float64(n))
		p.SetStartTimestamp(from)
		p.SetTimestamp(until)
		to = p.Attributes()
	}
	for i := 0; i < len(attrs); i += 2 {
		to.PutStr(attrs[i], attrs[i+1])
	}
	return md
}

// told is a point as these tests see it.
type told struct {
	value  float64
	user   bool // it has the attribute that is forbidden later
	ended  bool
	start  int64
	bounds bool // it has a smallest or largest value
}

// tell lists the points of a batch.
func tell(md pmetric.Metrics) (list []told) {
	add := func(value float64, attrs pcommon.Map, flags pmetric.DataPointFlags, start pcommon.Timestamp, bounds bool) {
		_, user := attrs.Get("user")
		list = append(list, told{value, user, flags.NoRecordedValue(), int64(start), bounds})
	}
	for _, rm := range md.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				switch m.Type() {
				case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
					for _, p := range numbers(m).All() {
						add(float64(p.IntValue())+p.DoubleValue(), p.Attributes(), p.Flags(), p.StartTimestamp(), false)
					}
				case pmetric.MetricTypeHistogram:
					for _, p := range m.Histogram().DataPoints().All() {
						add(p.Sum(), p.Attributes(), p.Flags(), p.StartTimestamp(), p.HasMin() || p.HasMax())
					}
				case pmetric.MetricTypeExponentialHistogram:
					for _, p := range m.ExponentialHistogram().DataPoints().All() {
						add(p.Sum(), p.Attributes(), p.Flags(), p.StartTimestamp(), p.HasMin() || p.HasMax())
					}
				case pmetric.MetricTypeSummary:
					for _, p := range m.Summary().DataPoints().All() {
						add(p.Sum(), p.Attributes(), p.Flags(), p.StartTimestamp(), false)
					}
				}
			}
		}
	}
	return list
}

const deniesUser = "version: 2\ngauges: {default: sum}\nattributes: {deny: {exact: [user]}}\n"

// silent runs sources a and b under a policy that forbids only the run, puts another one in force, and lets only a go on, if at all. It gives what
// was sent before and after.
func silent(t *testing.T, kind, other string, refuse, goesOn bool) (l *lab, before, after []told) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "p.yaml")
	write(t, file, "version: 1\ngauges: {default: sum}\n")
	l, _ = watched(t, func(c *Config) { c.PolicyFile = file; c.FlushInterval = time.Hour })
	l.at(1000 * second)
	require.NoError(t, l.guard.start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, l.guard.shutdown(context.Background())) })
	_, isDelta := temporalityNamed(kind)
	start := func(at int64) int64 {
		if isDelta {
			return at - 5*second
		}
		return 1001 * second
	}
	feed := func(at, n int64, run string) {
		l.at(at * second)
		l.feed(t, pointOf(kind, start(at*second), at*second, n, "run_id", run, "user", "u"))
	}
	feed(1010, 5, "a")
	feed(1011, 7, "b")
	l.guard.flush(t.Context(), false)
	before = tell(l.taken(t))
	feed(1020, 9, "b") // waits
	next := l.guard.next
	if refuse {
		l.guard.next = consumerOf(func(context.Context, pmetric.Metrics) error { return errors.New("later") })
		l.guard.flush(t.Context(), false)
		l.guard.next = next
	}
	write(t, file, other)
	l.renew(t)
	if goesOn {
		feed(1030, 6, "a")
	}
	for at := int64(1031); at < 15_000; at += 60 {
		l.at(at * second)
		l.guard.flush(t.Context(), false)
	}
	return l, before, tell(l.taken(t))
}

type consumerOf func(context.Context, pmetric.Metrics) error

func (consumerOf) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (c consumerOf) ConsumeMetrics(ctx context.Context, md pmetric.Metrics) error { return c(ctx, md) }

// TestSilentSourcesUnderAnotherPolicy: what a source holds that says nothing more goes on without what is forbidden now; no increment is lost or
// counted twice.
func TestSilentSourcesUnderAnotherPolicy(t *testing.T) {
	t.Parallel()
	for _, kind := range kindsOfPoints {
		for _, how := range []string{"silent", "goes on", "refused", "refused and goes on"} {
			t.Run(kind+" "+how, func(t *testing.T) {
				t.Parallel()
				refuse := how == "refused" || how == "refused and goes on"
				goesOn := how == "goes on" || how == "refused and goes on"
				l, before, after := silent(t, kind, deniesUser, refuse, goesOn)
				require.Len(t, before, 1)
				assert.Equal(t, []any{12., true}, []any{before[0].value, before[0].user})
				require.NotEmpty(t, after)
				for _, p := range after {
					assert.False(t, p.user, "%+v", p)
				}
				_, isDelta := temporalityNamed(kind)
				want := 2. // of b; in totals
				switch {
				case isDelta && goesOn:
					want = 15
				case isDelta:
					want = 9
				case (kind == "gauge" || kind == "updown") && goesOn:
					want = 15 // the level of both
				case kind == "gauge" || kind == "updown":
					want = 14
				case goesOn:
					want = 3
				}
				assert.InDelta(t, want, after[0].value, 1e-9)
				if !isDelta {
					assert.False(t, after[0].bounds, "the smallest value was another series'")
				}
				assert.Equal(t, []string{`otelcol_cardinality_guard_series_rekeyed{processor="cardinality_guard",result="moved"} 1`},
					componentcheck.FormatTelemetry(t, l.telemetry, "otelcol_cardinality_guard_series_rekeyed"))
			})
		}
	}
}

// TestSeriesThatAnotherPolicyEnds: names off the list, gauges and summaries that do not merge any more, and series that one source writes.
func TestSeriesThatAnotherPolicyEnds(t *testing.T) {
	t.Parallel()
	for _, kind := range kindsOfPoints {
		others := []string{
			"metrics: {allow: {prefix: [zz]}, otherwise: drop}\n",
			"exempt: [{metrics: {prefix: ['" + kind + "']}, writer: single}]\n",
			"attributes: {allow_values: {user: {values: [v], otherwise: drop_point}}}\n",
		}
		switch kind {
		case "gauge":
			others = append(others, "gauges: {default: drop}\n")
		case "summary":
			others = append(others, "summaries: {default: drop}\n")
		}
		for i, other := range others {
			t.Run(fmt.Sprint(kind, i), func(t *testing.T) {
				t.Parallel()
				if _, err := policy.Parse("", []byte(other)); err != nil {
					t.Fatal(err)
				}
				l, _, after := silent(t, kind, other, false, false)
				assert.Empty(t, after)
				assert.Zero(t, l.guard.engine.Size().Series)
				assert.Equal(t, []string{`otelcol_cardinality_guard_series_rekeyed{processor="cardinality_guard",result="ended"} 1`},
					componentcheck.FormatTelemetry(t, l.telemetry, "otelcol_cardinality_guard_series_rekeyed"))
				assert.Contains(t, fmt.Sprint(componentcheck.FormatTelemetry(t, l.telemetry, "otelcol_cardinality_guard_points_dropped")), `reason="rule"`)
			})
		}
	}
}

// TestAStoredStateComesUnderThePolicyInForce: what was written under the policy before the stop, on a resource and on exemplars and metadata, too.
func TestAStoredStateComesUnderThePolicyInForce(t *testing.T) {
	t.Parallel()
	for _, kind := range kindsOfPoints {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			host := componentcheck.NewStorageHost(t)
			begin := func(text string, now int64) *lab {
				p, err := policy.Parse("", []byte(text))
				require.NoError(t, err)
				l := newLab(t, now, p, func(c *Config) {
					id := host.StorageID()
					c.Storage, c.FlushInterval = &id, time.Hour
				})
				require.NoError(t, l.guard.start(t.Context(), host))
				return l
			}
			l := begin("gauges: {default: sum}\n", 1000*second)
			for i, run := range []string{"a", "b"} {
				at := (1010 + int64(i)) * second
				l.at(at)
				md := pointOf(kind, at-second, at, 5, "run_id", run)
				md.ResourceMetrics().At(0).Resource().Attributes().PutStr("user", "u")
				md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Metadata().PutStr("user", "u")
				l.feed(t, md)
				if i == 0 {
					l.guard.flush(t.Context(), false)
				}
			}
			l.guard.next = consumerOf(func(context.Context, pmetric.Metrics) error { return errors.New("later") })
			require.NoError(t, l.guard.shutdown(context.Background()))
			l = begin(deniesUser, 1020*second)
			for at := int64(1021); at < 15_000; at += 60 {
				l.at(at * second)
				l.guard.flush(t.Context(), false)
			}
			out := l.taken(t)
			after := tell(out)
			require.NotEmpty(t, after)
			want := 5. // what waited
			if kind == "gauge" || kind == "updown" {
				want = 10
			}
			assert.InDelta(t, want, after[0].value, 1e-9)
			for _, rm := range out.ResourceMetrics().All() {
				assert.Zero(t, rm.Resource().Attributes().Len())
				assert.Zero(t, rm.ScopeMetrics().At(0).Metrics().At(0).Metadata().Len())
			}
			require.NoError(t, l.guard.shutdown(context.Background()))
		})
	}
}

// TestWaitingExemplarsUnderAnotherPolicy: they wait with the point.
func TestWaitingExemplarsUnderAnotherPolicy(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1000*second, policy.Default())
	l.at(1010 * second)
	md := pointOf("sum", 1001*second, 1010*second, 5, "run_id", "a")
	e := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Sum().DataPoints().At(0).Exemplars().AppendEmpty()
	e.FilteredAttributes().PutStr("user", "u")
	e.SetTimestamp(pcommon.Timestamp(1005 * second))
	l.feed(t, md)
	p, err := policy.Parse("", []byte(deniesUser))
	require.NoError(t, err)
	l.guard.govern(p)
	l.guard.flush(t.Context(), false)
	sent := l.taken(t).ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Sum().DataPoints().At(0)
	require.Equal(t, 1, sent.Exemplars().Len())
	assert.Zero(t, sent.Exemplars().At(0).FilteredAttributes().Len())
}

// TestABatchOfThePolicyBefore: one that was on its way when the policy changed makes nothing that is sent as it was.
func TestABatchOfThePolicyBefore(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1000*second, policy.Default())
	l.at(1010 * second)
	w := l.guard.take()
	p, err := policy.Parse("", []byte(deniesUser))
	require.NoError(t, err)
	l.guard.govern(p)
	l.guard.flush(t.Context(), false)
	w.guard(pointOf("sum", 1001*second, 1010*second, 5, "run_id", "a", "user", "u"), 1010*second)
	l.guard.flush(t.Context(), false)
	assert.Equal(t, []told{{value: 5, start: 1001 * second}}, tell(l.taken(t)))
}
