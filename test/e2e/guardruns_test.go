package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpclient"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/ports"
	"github.com/pathologize/otelcol-train/test/internal/series"
)

// guardScraped sends merged series to a backend and shows them to a scraper.
const guardScraped = `
receivers:
  otlp: {protocols: {grpc: {endpoint: "${env:OTLP_ENDPOINT}"}}}
processors:
  cardinality_guard: {flush_interval: 1s}
exporters:
  otlp_grpc: {endpoint: "${env:NETDATA_OTLP_ENDPOINT}", tls: {insecure: true}}
  prometheus: {endpoint: "${env:SCRAPE_ENDPOINT}"}
service:
  pipelines:
    metrics: {receivers: [otlp], processors: [cardinality_guard], exporters: [otlp_grpc, prometheus]}
`

const (
	manyRuns  = 50
	runsFor   = 90 * time.Second
	runsShort = 20 * time.Second // go test -short
	runTick   = 500 * time.Millisecond
)

// trainRun is a run that counts its steps. It resets once, as a process does that begins again, and ends with a word or without.
type trainRun struct {
	id                 string
	from, until, reset time.Duration
	began              time.Time
	steps              int64 // since it began
	buckets            [3]uint64
	restarted          bool
}

func newRuns(length time.Duration) []*trainRun {
	var runs []*trainRun
	for i := range manyRuns {
		from := time.Duration(i) * (length * 3 / 4) / manyRuns
		life := length/8 + time.Duration(i%7)*length/64
		runs = append(runs, &trainRun{id: fmt.Sprintf("run-%04x-%d", 7919*i, i), from: from, until: from + life, reset: from + life/2})
	}
	return runs
}

// truth is what all runs did together.
type truth struct {
	steps   int64
	buckets [3]uint64
}

// scrapeOf adds what a run shows at a moment. Its id is on the point, on the resource or on the scope, depending on the run.
func (r *trainRun) scrapeOf(md pmetric.Metrics, i int, now time.Time, ended bool) {
	rm := md.ResourceMetrics().AppendEmpty()
	rm.Resource().Attributes().PutStr("service.name", guardSource)
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName("trainer")
	on := pcommon.NewMap()
	on.PutStr("phase", "train")
	switch i % 3 {
	case 0:
		on.PutStr("run_id", r.id)
	case 1:
		rm.Resource().Attributes().PutStr(runIDKey, r.id)
	default:
		sm.Scope().Attributes().PutStr("mlflow.runId", r.id)
	}
	start, at, none := pcommon.NewTimestampFromTime(r.began), pcommon.NewTimestampFromTime(now), pmetric.DefaultDataPointFlags.WithNoRecordedValue(ended)
	steps := sm.Metrics().AppendEmpty()
	steps.SetName("training.steps")
	steps.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	steps.Sum().SetIsMonotonic(true)
	p := steps.Sum().DataPoints().AppendEmpty()
	p.SetStartTimestamp(start)
	p.SetTimestamp(at)
	p.SetFlags(none)
	p.SetIntValue(r.steps)
	on.CopyTo(p.Attributes())
	durations := sm.Metrics().AppendEmpty()
	durations.SetName("training.step.duration")
	durations.SetEmptyHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	h := durations.Histogram().DataPoints().AppendEmpty()
	h.SetStartTimestamp(start)
	h.SetTimestamp(at)
	h.SetFlags(none)
	h.ExplicitBounds().FromRaw([]float64{0.1, 1})
	h.BucketCounts().FromRaw(r.buckets[:])
	h.SetCount(uint64(r.steps))
	h.SetSum(float64(r.steps) / 2)
	on.CopyTo(h.Attributes())
}

// tick moves a run on and adds what it shows.
func (r *trainRun) tick(md pmetric.Metrics, i int, since time.Duration, now time.Time, all *truth) {
	switch {
	case since < r.from || r.until < 0:
		return
	case r.began.IsZero():
		r.began = now.Add(-time.Millisecond)
	case since >= r.until:
		if i%2 == 0 {
			r.scrapeOf(md, i, now, true)
		}
		r.until = -1
		return
	case since >= r.reset && !r.restarted:
		r.began, r.steps, r.buckets, r.restarted = now.Add(-time.Millisecond), 0, [3]uint64{}, true
	}
	for range 1 + rand.IntN(9) {
		at := rand.IntN(3)
		r.steps++
		r.buckets[at]++
		all.steps++
		all.buckets[at]++
	}
	r.scrapeOf(md, i, now, false)
}

// TestRunsThatComeAndGoAreOneSeries has runs that start, reset and end; a backend and a scraper must see one counter that tells the truth.
func TestRunsThatComeAndGoAreOneSeries(t *testing.T) {
	t.Parallel()
	length := runsFor
	if testing.Short() {
		length = runsShort
	}
	sink := otlpsink.Start(t, otlpsink.Accept)
	env := newFolders(t).env(t)
	env["NETDATA_OTLP_ENDPOINT"], env["SCRAPE_ENDPOINT"] = sink.Endpoint(), ports.Free(t)
	c := collector.Start(t, collector.Options{YAML: guardScraped, Env: env})
	client := otlpclient.Connect(t, env["OTLP_ENDPOINT"])

	runs, all, seen := newRuns(length), &truth{}, &scraper{t: t, url: "http://" + env["SCRAPE_ENDPOINT"] + "/metrics"}
	began, beat := time.Now(), time.NewTicker(runTick)
	defer beat.Stop()
	for n := 0; time.Since(began) < length; n++ {
		now := <-beat.C
		md := pmetric.NewMetrics()
		for i, r := range runs {
			r.tick(md, i, now.Sub(began), now, all)
		}
		if md.DataPointCount() > 0 {
			require.NoError(t, client.Metrics(t.Context(), md))
		}
		if n%2 == 1 {
			seen.look()
		}
	}
	for i, r := range runs {
		require.True(t, r.until < 0 && r.restarted, "run %d did not live out", i)
	}
	require.Eventually(t, func() bool { seen.look(); return seen.last == float64(all.steps) }, resultWithin, 200*time.Millisecond,
		"the scraped counter does not come to the truth")
	c.Stop()
	assert.InDelta(t, float64(all.steps), seen.first+seen.grown, 0, "first sample and reset-aware growth")
	assert.Zero(t, seen.resets, "one sequence")
	assert.Greater(t, seen.samples, int(length/time.Second)/2)
	requireOneSeries(t, sink, all)
}

// requireOneSeries wants in all that the backend got one series a metric, in order, no time twice, and the truth at its end.
func requireOneSeries(t *testing.T, sink *otlpsink.Sink, all *truth) {
	t.Helper()
	last := map[string]series.Point{}
	for _, p := range series.Points(sink.Metrics()...) {
		assert.Equal(t, map[string]any{"phase": "train"}, p.Attributes)
		assert.Equal(t, map[string]any{"service.name": guardSource}, p.Resource)
		assert.Empty(t, p.ScopeAttributes)
		if before, known := last[p.Name]; known {
			require.Equal(t, before.Key(), p.Key(), "one series a metric")
			require.Greater(t, p.Time, before.Time, "in order, each time once: %s", p.Name)
			require.Equal(t, before.Start, p.Start, "one sequence")
		}
		require.Less(t, p.Start, p.Time)
		last[p.Name] = p
	}
	require.Len(t, last, 2)
	assert.Equal(t, strconv.FormatInt(all.steps, 10), last["training.steps"].Value)
	var counts []uint64
	for _, md := range sink.Metrics() {
		for _, rm := range md.ResourceMetrics().All() {
			for _, m := range rm.ScopeMetrics().At(0).Metrics().All() {
				if m.Type() == pmetric.MetricTypeHistogram {
					counts = m.Histogram().DataPoints().At(0).BucketCounts().AsRaw()
				}
			}
		}
	}
	assert.Equal(t, all.buckets[:], counts)
}

// scraper reads the counter as a server that knows nothing of starts: a fall is a reset.
type scraper struct {
	t                  *testing.T
	url                string
	samples, resets    int
	first, last, grown float64
}

func (s *scraper) look() {
	s.t.Helper()
	resp, err := http.Get(s.url)
	require.NoError(s.t, err)
	defer func() { _ = resp.Body.Close() }()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	require.NoError(s.t, err)
	for name, f := range families {
		switch name {
		case "target_info":
		case "training_steps_total", "training_step_duration":
			require.Len(s.t, f.GetMetric(), 1, "%s: one series a metric", name)
			require.Equal(s.t, map[string]string{"job": guardSource, "phase": "train", "otel_scope_name": "trainer"}, labelsOf(f.GetMetric()[0]))
		default:
			require.Fail(s.t, "a metric that nobody sent", name)
		}
	}
	if f := families["training_steps_total"]; f != nil {
		s.sample(f.GetMetric()[0].GetCounter().GetValue())
	}
}

func (s *scraper) sample(v float64) {
	s.samples++
	switch {
	case s.samples == 1:
		s.first = v
	case v < s.last:
		s.resets++
		s.grown += v
	default:
		s.grown += v - s.last
	}
	s.last = v
}

// labelsOf gives the labels that have a value.
func labelsOf(m *dto.Metric) map[string]string {
	labels := map[string]string{}
	for _, l := range m.GetLabel() {
		if l.GetValue() != "" {
			labels[l.GetName()] = l.GetValue()
		}
	}
	return labels
}
