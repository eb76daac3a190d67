package merge

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// tick is one point of a cumulative sum; an empty run is a native point.
type tick struct {
	run         string
	start, time float64 // seconds; a negative start is absent
	value       int64
	phase       string
	ends        bool
}

// sums makes a batch of ticks.
func sums(monotonic bool, ticks ...tick) pmetric.Metrics {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("total")
	m.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	m.Sum().SetIsMonotonic(monotonic)
	for _, k := range ticks {
		p := m.Sum().DataPoints().AppendEmpty()
		if k.run != "" {
			p.Attributes().PutStr("run_id", k.run)
		}
		if k.phase != "" {
			p.Attributes().PutStr("phase", k.phase)
		}
		if k.start >= 0 {
			p.SetStartTimestamp(pcommon.Timestamp(sec(k.start)))
		}
		p.SetTimestamp(pcommon.Timestamp(sec(k.time)))
		p.SetIntValue(k.value)
		if k.ends {
			p.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
		}
	}
	return md
}

// sent lists the points of a batch of sums: "phase (start, time] value", times in seconds after the tests' zero.
func sent(md pmetric.Metrics) []string {
	out := []string{}
	for _, rm := range md.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				for _, p := range Numbers(m).All() {
					value := fmt.Sprint(p.IntValue())
					if p.Flags().NoRecordedValue() {
						value = "end"
					}
					start := "none"
					if p.StartTimestamp() != 0 {
						start = fmt.Sprint(float64(int64(p.StartTimestamp())-sec(0)) / 1e9)
					}
					attrs := fmt.Sprint(p.Attributes().AsRaw())[3:]
					out = append(out, fmt.Sprintf("%s (%s, %v] %s", attrs, start, float64(int64(p.Timestamp())-sec(0))/1e9, value))
				}
			}
		}
	}
	return out
}

// scene is a series of inputs, each followed by a flush, and what passes and what is flushed.
type scene struct {
	name    string
	cfg     func(*Config)
	falls   bool // the sum is not monotonic
	steps   []sceneStep
	restart int // after this step, without a state; 0: never
}

type sceneStep struct {
	at    float64
	in    []tick
	want  []string
	after func(*testing.T, *rig)
}

var scenes = []scene{
	{name: "a source that was there before the guard is a baseline", steps: []sceneStep{
		{at: 20, in: []tick{{run: "a", start: -1, time: 19, value: 100}}, want: []string{"[] (19, 19] 0"}},
		{at: 30, in: []tick{{run: "a", start: -1, time: 29, value: 130}}, want: []string{"[] (19, 29] 30"}},
		{at: 40, in: []tick{{run: "b", start: 35, time: 35, value: 7}}, want: []string{"[] (19, 35] 30"}},
		{at: 50, in: []tick{{run: "b", start: 35, time: 45, value: 9}}, want: []string{"[] (19, 45] 32"}},
	}},
	{name: "after the warm-up a source without a start is new", steps: []sceneStep{
		{at: 400, in: []tick{{run: "a", start: -1, time: 399, value: 100}}, want: []string{"[] (none, 399] 100"}},
	}},
	{name: "drop counts no first point", cfg: func(c *Config) { c.Initial = None }, steps: []sceneStep{
		{at: 400, in: []tick{{run: "a", start: -1, time: 399, value: 100}, {run: "b", start: 390, time: 399, value: 5}}, want: []string{"[] (399, 399] 0"}},
	}},
	{name: "keep counts every first point", cfg: func(c *Config) { c.Initial = Keep }, steps: []sceneStep{
		{at: 20, in: []tick{{run: "a", start: -5, time: 19, value: 100}}, want: []string{"[] (none, 19] 100"}},
	}},
	{name: "a small fall is a glitch, a large one a reset", steps: []sceneStep{
		{at: 20, in: []tick{{run: "a", start: 10, time: 19, value: 100}}, want: []string{"[] (10, 19] 100"}},
		{at: 30, in: []tick{{run: "a", start: 10, time: 29, value: 90}}, want: []string{"[] (10, 29] 100"}},
		{at: 40, in: []tick{{run: "a", start: 10, time: 39, value: 95}}, want: []string{"[] (10, 39] 105"}},
		{at: 50, in: []tick{{run: "a", start: 10, time: 49, value: 20}}, want: []string{"[] (10, 49] 125"}},
	}},
	{name: "a start that moves without a reset counts the difference", steps: []sceneStep{
		{at: 20, in: []tick{{run: "a", start: 10, time: 19, value: 100}}, want: []string{"[] (10, 19] 100"}},
		{at: 30, in: []tick{{run: "a", start: 11, time: 29, value: 110}}, want: []string{"[] (10, 29] 110"}},
		{at: 40, in: []tick{{run: "a", start: 39, time: 39, value: 115}}, want: []string{"[] (10, 39] 115"}},
	}},
	{name: "late and repeated points count nothing", steps: []sceneStep{
		{at: 20, in: []tick{{run: "a", start: 10, time: 19, value: 100}, {run: "a", start: 10, time: 19, value: 100}, {run: "a", start: 10, time: 15, value: 50}}, want: []string{"[] (10, 19] 100"}},
		{at: 30, in: []tick{{run: "a", start: 10, time: 18, value: 99}}, want: []string{}},
	}},
	{name: "what is late for the output is held for two flush intervals", steps: []sceneStep{
		{at: 20, in: []tick{{run: "a", start: 10, time: 19, value: 100}}, want: []string{"[] (10, 19] 100"}},
		{at: 21, in: []tick{{run: "b", start: 10, time: 15, value: 7}}, want: []string{}},
		{at: 36, want: []string{}},
		{at: 51, want: []string{"[] (10, 19.001] 107"}},
		{at: 52, in: []tick{{run: "a", start: 10, time: 29, value: 101}}, want: []string{"[] (10, 29] 108"}},
	}},
	{name: "a point from the future is taken at its arrival", steps: []sceneStep{
		{at: 20, in: []tick{{run: "a", start: 10, time: 19, value: 100}}, want: []string{"[] (10, 19] 100"}},
		{at: 30, in: []tick{{run: "a", start: 10, time: 1000, value: 101}}, want: []string{"[] (10, 30] 101"}},
		{at: 40, in: []tick{{run: "a", start: 10, time: 39, value: 102}}, want: []string{"[] (10, 39] 102"}},
	}},
	{name: "where the clock is wrong, a source is as old as its point says", steps: []sceneStep{
		{at: 20, in: []tick{{run: "a", start: 10, time: 1000, value: 100}, {run: "b", start: 1003, time: 1013, value: 7}}, want: []string{"[] (10, 20] 7"}},
		{at: 30, in: []tick{{run: "a", start: 10, time: 1010, value: 105}, {run: "c", start: 25, time: 90, value: 3}}, want: []string{"[] (10, 90] 15"}},
	}},
	{name: "a native point from the future passes, and what follows is later", steps: []sceneStep{
		{at: 20, in: []tick{{start: 10, time: 1000, value: 100}}, want: []string{"[] (10, 1000] 100"}},
		{at: 30, in: []tick{{run: "a", start: 21, time: 29, value: 5}}, want: []string{}},
		{at: 61, want: []string{"[] (10, 1000.001] 105"}},
	}},
	{name: "a native series goes on when a touched one joins", steps: []sceneStep{
		{at: 20, in: []tick{{start: -1, time: 19, value: 100}}, want: []string{"[] (none, 19] 100"}},
		{at: 30, in: []tick{{start: -1, time: 29, value: 110}}, want: []string{"[] (none, 29] 110"}},
		{at: 40, in: []tick{{run: "a", start: 31, time: 39, value: 5}}, want: []string{"[] (none, 39] 115"}},
		{at: 50, in: []tick{{start: -1, time: 49, value: 120}}, want: []string{"[] (none, 49] 125"}},
	}},
	{name: "a native series that joins late is counted by its start", cfg: func(c *Config) { c.TrackNative = false }, steps: []sceneStep{
		{at: 20, in: []tick{{start: 5, time: 19, value: 100}}, want: []string{"[] (5, 19] 100"}},
		{at: 40, in: []tick{{run: "a", start: 31, time: 39, value: 5}}, want: []string{"[] (31, 39] 5"}},
		{at: 50, in: []tick{{start: 5, time: 49, value: 120}}, want: []string{"[] (31, 49] 5"}},
		{at: 60, in: []tick{{start: 5, time: 59, value: 121}}, want: []string{"[] (31, 59] 6"}},
	}},
	{name: "a native series that joins in the batch of the first touched one, too", cfg: func(c *Config) { c.TrackNative = false }, steps: []sceneStep{
		{at: 20, in: []tick{{start: 5, time: 19, value: 100}}, want: []string{"[] (5, 19] 100"}},
		{at: 40, in: []tick{{start: 5, time: 39, value: 102}, {run: "a", start: 31, time: 39, value: 5}}, want: []string{"[] (31, 39] 5"}},
		{at: 50, in: []tick{{start: 5, time: 49, value: 103}}, want: []string{"[] (31, 49] 6"}},
	}},
	{name: "a sum that may fall loses what expires", falls: true, steps: []sceneStep{
		{at: 20, in: []tick{{run: "a", start: 10, time: 19, value: 1}, {run: "b", start: 10, time: 19, value: 1}}, want: []string{"[] (10, 19] 2"}},
		{at: 1000, in: []tick{{run: "b", start: 10, time: 999, value: 1}}, want: []string{"[] (10, 999] 2"}},
		{at: 3620, want: []string{}},
		{at: 3651, want: []string{"[] (10, 999.001] 1"}},
		{at: 4600, want: []string{}},
		{at: 4631, want: []string{"[] (10, 999.002] end"}},
	}},
	{name: "a source that comes back after it expired goes on", steps: []sceneStep{
		{at: 20, in: []tick{{run: "a", start: 10, time: 19, value: 100}}, want: []string{"[] (10, 19] 100"}},
		{at: 4000, want: []string{}},
		{at: 4100, in: []tick{{run: "a", start: 10, time: 4099, value: 130}}, want: []string{"[] (10, 4099] 130"}, after: func(t *testing.T, r *rig) {
			assert.Equal(t, Size{Series: 1, Sources: 1}, r.Size())
		}},
	}},
	{name: "without tombstones it loses, and never counts twice", cfg: func(c *Config) { c.Tombstones = 0 }, steps: []sceneStep{
		{at: 20, in: []tick{{run: "a", start: 10, time: 19, value: 100}}, want: []string{"[] (10, 19] 100"}},
		{at: 4000, want: []string{}},
		{at: 4031, want: []string{}},
		{at: 4100, in: []tick{{run: "a", start: 10, time: 4099, value: 130}}, want: []string{"[] (10, 4099] 100"}},
		{at: 4200, in: []tick{{run: "b", start: 4150, time: 4199, value: 3}}, want: []string{"[] (10, 4199] 103"}},
	}},
	{name: "an output is forgotten after a day", steps: []sceneStep{
		{at: 20, in: []tick{{run: "a", start: 10, time: 19, value: 100}}, want: []string{"[] (10, 19] 100"}},
		{at: 4000, want: []string{}},
		{at: 4031, want: []string{}},
		{at: 90_000, want: []string{}, after: func(t *testing.T, r *rig) { assert.Equal(t, Size{Tombstones: 1}, r.Size()) }},
		{at: 90_100, in: []tick{{run: "b", start: 50, time: 90_099, value: 7}}, want: []string{"[] (90099, 90099] 0"}},
	}},
	{name: "over the limit there is one more series", cfg: func(c *Config) { c.SeriesPerMetric = 3 }, steps: []sceneStep{
		{at: 20, in: []tick{
			{run: "a", phase: "1", start: 10, time: 19, value: 1}, {run: "a", phase: "2", start: 10, time: 19, value: 2},
			{run: "a", phase: "3", start: 10, time: 19, value: 4}, {run: "a", phase: "4", start: 10, time: 19, value: 8},
		}, want: []string{"[otel.metric.overflow:true] (10, 19] 12", "[phase:1] (10, 19] 1", "[phase:2] (10, 19] 2"}},
		{at: 30, in: []tick{{run: "a", phase: "3", start: 10, time: 29, value: 5}, {run: "a", phase: "1", start: 10, time: 29, value: 2}},
			want: []string{"[otel.metric.overflow:true] (10, 29] 13", "[phase:1] (10, 29] 2"}},
	}},
	{name: "native series count and go over the limit too", cfg: func(c *Config) { c.SeriesPerMetric = 3 }, steps: []sceneStep{
		{at: 20, in: []tick{{phase: "1", start: 10, time: 19, value: 1}, {phase: "2", start: 10, time: 19, value: 2}, {phase: "3", start: 10, time: 19, value: 4}},
			want: []string{"[otel.metric.overflow:true] (10, 19] 4", "[phase:1] (10, 19] 1", "[phase:2] (10, 19] 2"}},
	}},
	{name: "a native overflow series fits the limit", cfg: func(c *Config) { c.SeriesPerMetric = 2 }, steps: []sceneStep{
		{at: 20, in: []tick{{phase: "1", start: 10, time: 19, value: 1}}, want: []string{"[phase:1] (10, 19] 1"}},
	}},
	{name: "over the limit of all series there is one more, for good, and those that are known go on", cfg: func(c *Config) { c.Series = 2 }, steps: []sceneStep{
		{at: 20, in: []tick{
			{run: "a", phase: "1", start: 10, time: 19, value: 1}, {run: "a", phase: "2", start: 10, time: 19, value: 2},
			{run: "a", phase: "3", start: 10, time: 19, value: 4}, {run: "b", phase: "4", start: 10, time: 19, value: 8},
		}, want: []string{"[otel.metric.overflow:true] (10, 19] 12", "[phase:1] (10, 19] 1", "[phase:2] (10, 19] 2"}, after: func(t *testing.T, r *rig) {
			assert.Equal(t, Size{Series: 3, Sources: 4}, r.Size())
			assert.Equal(t, int64(2), r.batch.Counts.Overflow)
		}},
		{at: 30, in: []tick{{run: "a", phase: "3", start: 10, time: 29, value: 5}, {run: "c", phase: "1", start: 21, time: 29, value: 2}, {phase: "5", start: 10, time: 29, value: 7}},
			want: []string{"[otel.metric.overflow:true] (10, 29] 13", "[phase:1] (10, 29] 3", "[phase:5] (10, 29] 7"}},
	}},
	{name: "without room a source waits, and counts in full later", cfg: func(c *Config) { c.Sources = 1 }, steps: []sceneStep{
		{at: 20, in: []tick{{run: "a", start: 10, time: 19, value: 1}, {run: "b", start: 10, time: 19, value: 2}}, want: []string{"[] (10, 19] 1"}},
		{at: 30, in: []tick{{run: "a", start: 10, time: 25, ends: true}}, want: []string{"[] (10, 25] end"}},
		{at: 40, in: []tick{{run: "b", start: 10, time: 39, value: 3}}, want: []string{"[] (10, 39] 4"}},
		{at: 50, in: []tick{{run: "b", start: 10, time: 41, ends: true}, {run: "a", start: 10, time: 49, value: 6}}, want: []string{"[] (10, 41] end"}},
		{at: 60, in: []tick{{run: "a", start: 10, time: 59, value: 7}}, want: []string{"[] (10, 59] 10"}},
	}},
	{name: "a value and the end of the last source are two points", steps: []sceneStep{
		{at: 20, in: []tick{{run: "a", start: 10, time: 19, value: 1}, {run: "a", start: 10, time: 19.5, ends: true}}, want: []string{"[] (10, 19] 1"}},
		{at: 30, want: []string{"[] (10, 19.5] end"}},
		{at: 40, want: []string{}},
	}},
	{name: "a restart without a state begins a new sequence", restart: 1, steps: []sceneStep{
		{at: 20, in: []tick{{run: "a", start: 10, time: 19, value: 100}}, want: []string{"[] (10, 19] 100"}},
		{at: 40, in: []tick{{run: "a", start: 10, time: 39, value: 110}, {run: "b", start: 32, time: 39, value: 3}}, want: []string{"[] (32, 39] 3"}},
		{at: 50, in: []tick{{run: "a", start: 10, time: 49, value: 111}}, want: []string{"[] (32, 49] 4"}},
	}},
}

func TestScenes(t *testing.T) {
	t.Parallel()
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig()
			if s.cfg != nil {
				s.cfg(&cfg)
			}
			r := newRig(cfg, plain{}, sec(0))
			for i, step := range s.steps {
				r.now = sec(step.at)
				passed := r.feed(sums(!s.falls, step.in...))
				got := append(sent(passed), sent(r.flush())...)
				require.ElementsMatch(t, step.want, got, "step %d", i+1)
				if step.after != nil {
					step.after(t, r)
				}
				if s.restart == i+1 {
					r = newRig(cfg, plain{}, sec(step.at+10))
				}
			}
		})
	}
}
