package merge

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"
)

// event is a batch or a flush, at a time.
type event struct {
	now   int64
	batch pmetric.Metrics
	flush bool
}

// history is what happened: what the guard saw, and what was measured as if nobody had recorded the run.
type history struct {
	events   []event
	measured map[string][]float64 // by phase
	touched  map[string][]float64 // without those of native runs
	runs     []*run
	now      int64
}

// drawHistory makes runs begin, measure, reset, end and go on, and scrapes them in batches of any composition.
func drawHistory(t *rapid.T, natives bool) *history {
	h := &history{measured: map[string][]float64{}, touched: map[string][]float64{}}
	steps := rapid.IntRange(2, 12).Draw(t, "steps")
	for i := range steps {
		h.now = sec(float64(10 * (i + 1)))
		last := i == steps-1
		if len(h.runs) < 5 && (i == 0 || rapid.Bool().Draw(t, "a new run")) {
			r := drawRun(t, string(rune('A'+len(h.runs))), h.now-5e9)
			r.native = natives && rapid.IntRange(0, 3).Draw(t, "native") == 0 &&
				!slices.ContainsFunc(h.runs, func(o *run) bool { return o.native && o.phase == r.phase })
			if r.native { // what passes is as wide as it came
				r.scale = min(r.scale, 3)
			}
			h.runs = append(h.runs, r)
		}
		var scrapes []pmetric.Metrics
		for _, r := range h.runs {
			if r.ended {
				continue
			}
			for range rapid.IntRange(0, 3).Draw(t, "measurements") {
				v := rapid.SampledFrom(values).Draw(t, "value")
				r.values, r.fresh = append(r.values, v), append(r.fresh, v)
				h.measured[r.phase] = append(h.measured[r.phase], v)
				if !r.native {
					h.touched[r.phase] = append(h.touched[r.phase], v)
				}
			}
			if rapid.IntRange(0, 4).Draw(t, "rescales") == 0 {
				r.scale--
			}
			if rapid.IntRange(0, 9).Draw(t, "widens its zero bucket") == 0 {
				r.threshold += 0.5
			}
			r.level = float64(rapid.IntRange(-4, 4).Draw(t, "level"))
			if !last && rapid.IntRange(0, 4).Draw(t, "not scraped") == 0 {
				continue
			}
			scrapes = append(scrapes, r.scrape(h.now))
			switch {
			case last:
			case !r.native && rapid.IntRange(0, 5).Draw(t, "reset") == 0:
				r.start, r.values = h.now+1e9, nil
				r.scraped = r.start
			case rapid.IntRange(0, 7).Draw(t, "end") == 0:
				r.ended = true
				scrapes = append(scrapes, r.scrape(h.now+1e9))
			}
		}
		h.batches(t, scrapes)
		if last || rapid.IntRange(0, 2).Draw(t, "flush") > 0 {
			h.events = append(h.events, event{now: h.now + 2e9, flush: true})
		}
	}
	for range 3 { // what was held back
		h.now += 60e9
		h.events = append(h.events, event{now: h.now, flush: true})
	}
	return h
}

// batches puts scrapes together, each run's in order, and sends some batches twice.
func (h *history) batches(t *rapid.T, scrapes []pmetric.Metrics) {
	for len(scrapes) > 0 {
		n := rapid.IntRange(1, len(scrapes)).Draw(t, "batch")
		md := pmetric.NewMetrics()
		for _, s := range scrapes[:n] {
			s.ResourceMetrics().MoveAndAppendTo(md.ResourceMetrics())
		}
		scrapes = scrapes[n:]
		h.events = append(h.events, event{now: h.now + 2e9, batch: md})
		native := false // a repeated native point passes twice: it is not the guard's
		for _, rm := range md.ResourceMetrics().All() {
			native = native || rm.ScopeMetrics().At(0).Metrics().At(0).Type() != pmetric.MetricTypeGauge
		}
		if !native && rapid.IntRange(0, 4).Draw(t, "twice") == 0 {
			h.events = append(h.events, event{now: h.now + 2e9, batch: md})
		}
	}
}

// play feeds a history to an engine and gives what passed of each batch and what each flush sent.
func (h *history) play(t *rapid.T, r *rig, shuffled bool) []pmetric.Metrics {
	var out []pmetric.Metrics
	for _, e := range h.events {
		r.now = e.now
		if e.flush {
			out = append(out, r.flush())
			continue
		}
		md := pmetric.NewMetrics()
		e.batch.CopyTo(md)
		if shuffled {
			order := rapid.Permutation(slices.Collect(intsTo(md.ResourceMetrics().Len()))).Draw(t, "order")
			mixed := pmetric.NewMetrics()
			for _, i := range order {
				md.ResourceMetrics().At(i).CopyTo(mixed.ResourceMetrics().AppendEmpty())
			}
			md = mixed
		}
		out = append(out, r.feed(md))
	}
	return out
}

// flushes gives of what was sent what the flushes sent.
func (h *history) flushes(out []pmetric.Metrics) (flushed []pmetric.Metrics) {
	for i, e := range h.events {
		if e.flush {
			flushed = append(flushed, out[i])
		}
	}
	return flushed
}

func intsTo(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// TestMergedAsIfTheAttributeHadNeverBeenRecorded is the criterion of the whole engine.
func TestMergedAsIfTheAttributeHadNeverBeenRecorded(t *testing.T) {
	property(t, func(t *rapid.T) {
		h := drawHistory(t, true)
		c := &consumer{streams: map[string]*stream{}}
		for _, md := range h.play(t, newRig(testConfig(), plain{}, sec(0)), false) {
			c.take(t, md)
		}
		for _, phase := range []string{"train", "test"} {
			h.require(t, c, phase)
		}
	})
}

func (h *history) require(t *rapid.T, c *consumer, phase string) {
	of := h.measured[phase]
	now := h.liveOf(phase)
	for _, k := range kinds {
		s := c.streams[kindNames[k]+"/"+phase]
		of, live := of, now.live
		if !k.Cumulative() {
			of, live = h.touched[phase], now.touched
		}
		if s == nil {
			require.Empty(t, of, k)
			continue
		}
		where := kindNames[k] + "/" + phase
		require.Equal(t, live == 0, s.ended, where)
		s.requireKind(t, k, of, live > 0, now, where)
	}
}

// levels are what the runs of a phase that have not ended say now: how many there are, how many of them have a run id, what the
// levels add up to, and the last one.
type levels struct {
	live, touched int
	level, last   float64
}

func (h *history) liveOf(phase string) (now levels) {
	var newest int64
	for _, r := range h.runs {
		if r.phase != phase || r.ended {
			continue
		}
		now.live++
		now.level += r.level
		if r.native {
			continue
		}
		now.touched++
		if r.scraped > newest || (r.scraped == newest && r.level > now.last) {
			newest, now.last = r.scraped, r.level
		}
	}
	return now
}

// requireKind holds a stream to what was measured and, if any run is live, to the levels.
func (s *stream) requireKind(t *rapid.T, k Kind, of []float64, live bool, now levels, where string) {
	switch k {
	case Gauge:
		if live {
			require.InDelta(t, now.last, s.number, 0, where)
		}
	case UpDown:
		if live {
			require.InDelta(t, now.level, s.number, 0, where)
		}
	case Sum, DeltaSum:
		require.InDelta(t, float64(len(of)), s.number, 1e-9, where)
	case Histogram, DeltaHistogram:
		s.requireHistogram(t, of, where)
		if k == Histogram {
			require.InDelta(t, sumOf(of), s.before+s.number, 1e-9, where)
		} else {
			require.InDelta(t, sumOf(of), s.sum, 1e-9, where)
		}
		if s.min != nil && len(s.older) == 0 {
			require.InDelta(t, slices.Min(of), *s.min, 0, where)
			require.InDelta(t, slices.Max(of), *s.max, 0, where)
		}
	case Exponential:
		requireExponential(t, s.exp, of, where)
		require.InDelta(t, sumOf(of), s.sum, 1e-9, where)
	case DeltaExponential:
		p := pmetric.NewExponentialHistogramDataPoint()
		s.expTotal.put(p)
		requireExponential(t, p, of, where)
	case Summary:
		require.Equal(t, uint64(len(of)), s.count, where)
		require.InDelta(t, sumOf(of), s.sum, 1e-9*(1+math.Abs(sumOf(of))), where)
	}
}
