package merge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"
)

// ruled is a guard as the table of the design has it: the conditions of a cumulative point in their order, word by word, for one output.
type ruled struct {
	sources  map[string]*ruledSource
	glitches bool

	merged, sent, waiting bool
	total                 float64
	double                bool
	start, last, newest   float64
	since                 float64
	known                 bool // there is a candidate for the start
	ends                  bool
	endTime               float64
}

type ruledSource struct {
	start, time, value float64
	double, live       bool
	known              bool
	ended              float64
}

// ruledPoint is a point of a cumulative series; times in seconds, a start of zero is absent. An empty run is native.
type ruledPoint struct {
	run                string
	start, time, value float64
	double, ends       bool
}

// take takes a batch in and gives the points that pass.
func (g *ruled) take(now float64, in []ruledPoint) (passed []ruledPoint) {
	for _, p := range in {
		if p.run != "" && !p.ends {
			g.collide()
		}
	}
	for _, p := range in {
		if p.run == "" && !g.merged {
			passed = append(passed, p)
		}
	}
	in = slices.Clone(in)
	slices.SortStableFunc(in, func(a, b ruledPoint) int { return cmp.Compare(a.time, b.time) })
	for _, p := range in {
		g.point(now, p)
	}
	return passed
}

// collide makes the output merged: a native series that passed goes on from its value.
func (g *ruled) collide() {
	if g.merged {
		return
	}
	g.merged = true
	if s := g.sources[""]; s != nil && s.known {
		g.total, g.double, g.start, g.known, g.sent, g.last = s.value, s.double, s.start, true, true, max(s.time, s.ended)
	}
}

func (g *ruled) point(now float64, p ruledPoint) {
	s := g.sources[p.run]
	if p.ends { // 1
		if s != nil && p.time >= s.time {
			g.end(now, p.time, s)
		}
		return
	}
	if s == nil {
		s = &ruledSource{}
		g.sources[p.run] = s
	}
	if s.known && p.time <= s.time { // 7
		return
	}
	if g.merged {
		add, start := g.adds(p, s)
		if !g.sent && (!g.known || start < g.start) {
			g.start, g.known = start, true
		}
		g.total += add
		g.double = g.double || p.double
		if !g.waiting && !g.ends {
			g.since = now
		}
		if p.time > s.ended { // else the source ended meanwhile, and the end still goes on behind the value
			g.ends = false
		}
		g.waiting, g.newest = true, max(g.newest, p.time)
	}
	*s = ruledSource{p.start, p.time, p.value, p.double, p.time > s.ended, true, s.ended}
}

// end takes a source for ended that is known, and not newer.
func (g *ruled) end(now, at float64, s *ruledSource) {
	s.ended = max(s.ended, at)
	if !s.live {
		return
	}
	s.live = false
	if !g.merged {
		return
	}
	g.endTime = max(g.endTime, at)
	if slices.ContainsFunc(slices.Collect(maps.Values(g.sources)), func(o *ruledSource) bool { return o.live }) {
		return
	}
	if !g.waiting && !g.ends {
		g.since = now
	}
	g.ends = true
}

// adds gives what a point that is not late adds, and from when on that counts.
func (g *ruled) adds(p ruledPoint, s *ruledSource) (add, start float64) {
	fell, little := p.value < s.value, g.glitches && s.value-p.value < s.value/8
	switch {
	case !s.known && p.run == "" && !g.sent: // 3
		return p.value, p.start
	case !s.known && p.start != 0 && p.start >= 100 && p.start < p.time: // 4
		return p.value, p.start
	case !s.known: // 5, within the warm-up
		return 0, p.time
	case p.start > s.start && p.start >= s.time && p.start < p.time: // 8
		return p.value, p.start
	case fell && little && p.start == s.start: // a glitch
		return 0, p.time
	case fell: // 9
		return p.value, p.start
	}
	return p.value - s.value, s.time // 10
}

// flush gives the point that goes on, as sent writes it.
func (g *ruled) flush(now float64) []string {
	if !g.waiting && !g.ends {
		return nil
	}
	at, value := g.newest, fmt.Sprint(g.total)
	if !g.waiting {
		at, value = max(g.endTime, g.newest), "end"
	}
	if at <= g.last {
		if now-g.since < 30 {
			return nil
		}
		at = g.last + 0.001
	}
	if !g.waiting {
		g.ends = false
	} else {
		g.waiting, g.since = false, now
	}
	g.sent, g.last, g.newest = true, at, 0
	start := "none"
	if g.start != 0 {
		start = fmt.Sprintf("%.3f", min(g.start, at))
	}
	if value == "end" {
		return []string{fmt.Sprintf("(%s, %.3f] end", start, at)}
	}
	return []string{fmt.Sprintf("(%s, %.3f] %s %v", start, at, value, g.double)}
}

// ruledBatch makes a batch of points of a kind, whose value is a number or a count.
func ruledBatch(k Kind, in []ruledPoint) pmetric.Metrics {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("total")
	head := func(p movable, r ruledPoint) (flags pmetric.DataPointFlags) {
		if r.run != "" {
			p.Attributes().PutStr("run_id", r.run)
		}
		if r.start != 0 {
			p.SetStartTimestamp(pcommon.Timestamp(sec(r.start)))
		}
		p.SetTimestamp(pcommon.Timestamp(sec(r.time)))
		return pmetric.DefaultDataPointFlags.WithNoRecordedValue(r.ends)
	}
	switch k {
	case Sum:
		m.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		m.Sum().SetIsMonotonic(true)
	case Histogram:
		m.SetEmptyHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	case Exponential:
		m.SetEmptyExponentialHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	default:
		m.SetEmptySummary()
	}
	for _, r := range in {
		n := uint64(r.value)
		switch k {
		case Sum:
			p := m.Sum().DataPoints().AppendEmpty()
			p.SetFlags(head(p, r))
			if r.double {
				p.SetDoubleValue(r.value)
			} else {
				p.SetIntValue(int64(r.value))
			}
		case Histogram:
			p := m.Histogram().DataPoints().AppendEmpty()
			p.SetFlags(head(p, r))
			p.SetCount(n)
			p.ExplicitBounds().FromRaw([]float64{1})
			p.BucketCounts().FromRaw([]uint64{n, 0})
		case Exponential:
			p := m.ExponentialHistogram().DataPoints().AppendEmpty()
			p.SetFlags(head(p, r))
			p.SetCount(n)
			p.Negative().BucketCounts().FromRaw([]uint64{n})
		default:
			p := m.Summary().DataPoints().AppendEmpty()
			p.SetFlags(head(p, r))
			p.SetCount(n)
		}
	}
	return md
}

func ruledSent(md pmetric.Metrics) (out []string) {
	for _, rm := range md.ResourceMetrics().All() {
		for _, m := range rm.ScopeMetrics().At(0).Metrics().All() {
			eachPoint(m, func(p movable) {
				start := "none"
				if p.StartTimestamp() != 0 {
					start = fmt.Sprintf("%.3f", float64(int64(p.StartTimestamp())-sec(0))/1e9)
				}
				var n number
				switch p := p.(type) {
				case pmetric.NumberDataPoint:
					n = numberOf(p)
				case pmetric.HistogramDataPoint:
					n.bits = p.Count()
				case pmetric.ExponentialHistogramDataPoint:
					n.bits = p.Count()
				case pmetric.SummaryDataPoint:
					n.bits = p.Count()
				}
				value := fmt.Sprint(n.float(), n.double)
				if p.Flags().NoRecordedValue() {
					value = "end"
				}
				out = append(out, fmt.Sprintf("(%s, %.3f] %s", start, float64(int64(p.Timestamp())-sec(0))/1e9, value))
			})
		}
	}
	return out
}

func TestEveryPointCountsAsTheTableSays(t *testing.T) {
	property(t, func(t *rapid.T) {
		k := rapid.SampledFrom([]Kind{Sum, Sum, Histogram, Exponential, Summary}).Draw(t, "kind")
		g := &ruled{sources: map[string]*ruledSource{}, glitches: k == Sum}
		r := newRig(testConfig(), plain{}, sec(100))
		now := 100.
		for range rapid.IntRange(1, 10).Draw(t, "steps") {
			now += float64(rapid.IntRange(1, 20).Draw(t, "later"))
			var in []ruledPoint
			seen := map[string]bool{}
			for range rapid.IntRange(0, 4).Draw(t, "points") {
				p := ruledPoint{
					run:   rapid.SampledFrom([]string{"", "a", "a", "b", "b", "c"}).Draw(t, "run"),
					time:  now - float64(rapid.SampledFrom([]int{0, 0, 0, 1, 2, 5, 9, 20}).Draw(t, "ago")),
					value: rapid.SampledFrom([]float64{0, 1, 2, 8, 9, 90, 95, 100, 101, 103}).Draw(t, "value"),
					ends:  rapid.IntRange(0, 7).Draw(t, "ends") == 0,
				}
				p.start = max(p.time-float64(rapid.SampledFrom([]int{0, 1, 2, 3, 10, 11, 50}).Draw(t, "since")), 1)
				if rapid.IntRange(0, 3).Draw(t, "usual start") > 0 {
					p.start = min(float64(rapid.SampledFrom([]int{0, 50, 101}).Draw(t, "start")), p.time)
				}
				if p.double = k == Sum && rapid.IntRange(0, 5).Draw(t, "double") == 0; p.double {
					p.value += 0.5
				}
				if key := fmt.Sprint(p.run, p.time); seen[key] {
					continue
				} else {
					seen[key] = true
				}
				in = append(in, p)
			}
			r.now = sec(now)
			passed := g.take(now, in)
			require.ElementsMatch(t, ruledSent(ruledBatch(k, passed)), ruledSent(r.feed(ruledBatch(k, in))), "what passes at %v", now)
			require.Equal(t, g.flush(now), ruledSent(r.flush()), "at %v", now)
		}
	})
}
