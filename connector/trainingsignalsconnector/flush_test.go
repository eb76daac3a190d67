package trainingsignalsconnector

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func only(points []map[string]any, name string) (found []map[string]any) {
	for _, p := range points {
		if p["name"] == trainrecord.Namespace+"."+name {
			found = append(found, p)
		}
	}
	return found
}

func TestDeltaWindowsJoin(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Temporality = delta })
	step := func(seconds float64, n int) {
		b.rec(seconds, 0, "step.end", "r", nil, m{"step": n, "samples": 8, "durations": m{"batch_s": 0.5}})
	}
	step(2, 1)
	b.tick(10)
	points, _ := b.took()
	s := only(points, "sample.processed")
	require.Len(t, s, 1, "a difference shows at once")
	assert.Equal(t, []any{at(0), at(10), 8.0, delta}, []any{s[0]["start"], s[0]["time"], s[0]["value"], s[0]["temporality"]})
	assert.Len(t, only(points, "run.outcomes"), 4)
	assert.Equal(t, cumulative, only(points, "run.active")[0]["temporality"])
	b.tick(20)
	points, _ = b.took()
	assert.Empty(t, only(points, "sample.processed"), "nothing new, no point")
	assert.Empty(t, only(points, "run.outcomes"))
	step(25, 2)
	b.tick(30)
	points, _ = b.took()
	s = only(points, "sample.processed")
	assert.Equal(t, []any{at(10), at(30), 8.0}, []any{s[0]["start"], s[0]["time"], s[0]["value"]})
	h := only(points, "batch.duration")
	assert.Equal(t, []any{at(10), at(30), 1.0, 0.5, []any{0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0}}, []any{h[0]["start"], h[0]["time"], h[0]["count"], h[0]["sum"], h[0]["buckets"]})

	b.refusesMetrics.Store(true)
	step(35, 3)
	b.tick(40)
	b.refusesMetrics.Store(false)
	step(45, 4)
	b.tick(50)
	points, _ = b.took()
	s = only(points, "sample.processed")
	assert.Equal(t, []any{at(30), at(50), 16.0}, []any{s[0]["start"], s[0]["time"], s[0]["value"]}, "what was refused is told later")
	assert.Contains(t, b.self(), `flush_failures{connector="training_signals",signal="metrics"} 1`)
}

func TestARefusedZeroGoesFirstAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rec(2, 0, "step.end", "r", nil, m{"step": 1, "samples": 8})
	b.refusesMetrics.Store(true)
	b.tick(10)
	b.refusesMetrics.Store(false)
	b.tick(20)
	points, _ := b.took()
	assert.InDelta(t, 0, value1(points, "sample.processed", "train"), 0)
	b.tick(30)
	points, _ = b.took()
	assert.InDelta(t, 8, value1(points, "sample.processed", "train"), 0)
}

func TestTheLastFlushShowsZeroAndValue(t *testing.T) {
	t.Parallel()
	for _, temporality := range []string{cumulative, delta} {
		b := newBench(t, func(c *Config) { c.Temporality = temporality })
		b.rec(2, 0, "run.start", "r", nil, nil)
		b.tick(10)
		b.took()
		b.rec(12, 0, "run.end", "r", nil, m{"outcome": "success"})
		b.clock = at(15)
		b.core.finish(context.Background())
		points, _ := b.took()
		d := only(points, "run.duration")
		if temporality == delta {
			require.Len(t, d, 1)
			assert.InDelta(t, 1, d[0]["count"], 0)
			continue
		}
		require.Len(t, d, 2)
		assert.Equal(t, []any{at(10), at(15) - 1e6, 0.0}, []any{d[0]["start"], d[0]["time"], d[0]["count"]})
		assert.Equal(t, []any{at(10), at(15), 1.0}, []any{d[1]["start"], d[1]["time"], d[1]["count"]})
		assert.InDelta(t, 1, value1(points, "run.outcomes", "success"), 0)
		b.core.finish(context.Background())
		points, _ = b.took()
		assert.Empty(t, points, "it is the last")
	}
}

func TestSeriesEndLongAfterTheLastAttempt(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.SeriesExpiry = 60e9 })
	b.rec(2, 0, "run.start", "r", nil, nil)
	b.rec(3, 0, "run.end", "r", nil, m{"outcome": "success"})
	b.tick(10)
	b.tick(20)
	b.tick(60)
	b.took()
	b.tick(70)
	points, _ := b.took()
	require.NotEmpty(t, points)
	for _, p := range points {
		if p["type"] == "sum" {
			assert.Equal(t, "none", p["value"])
		}
	}
	b.tick(80)
	points, _ = b.took()
	assert.Empty(t, points)
	b.tick(90)
	b.rec(95, 0, "run.start", "s", nil, nil)
	b.tick(100)
	points, _ = b.took()
	assert.Equal(t, at(90), only(points, "run.outcomes")[0]["start"], "the series begins anew")
}

func TestTooManyResourcesShareOne(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Limits.Resources, c.Replica = 2, "a" })
	for i := range 5 {
		b.rec(2, 0, "run.start", fmt.Sprint("r", i), m{"resource": m{"service.name": fmt.Sprint("s", i), "k8s.pod.name": "p"}}, nil)
	}
	b.tick(10)
	points, _ := b.took()
	resources := map[string]float64{}
	for _, p := range only(points, "run.active") {
		resources[fmt.Sprint(p["resource"])] += p["value"].(float64)
	}
	assert.Equal(t, map[string]float64{
		"map[service.instance.id:a service.name:s0]": 1, "map[service.instance.id:a service.name:s1]": 1, "map[otel.metric.overflow:true service.instance.id:a]": 3,
	}, resources)
}

func TestTooManyAttemptsAreGivenUp(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Limits.Attempts, c.IdleTimeout = 4, 30e9 })
	for i := range 4 {
		b.rec(float64(i+1), 0, "run.start", fmt.Sprint("r", i), nil, nil)
	}
	b.tick(10)
	b.rec(49, 0, "heartbeat", "r0", nil, nil)
	b.tick(50) // r1, r2 and r3 are stalled
	b.rec(51, 0, "run.start", "new", nil, nil)
	points := b.last(60)
	assert.InDelta(t, 1, value1(points, "run.outcomes", "unknown"), 0)
	assert.InDelta(t, 2, value1(points, "run.active", "running"), 0)
	assert.InDelta(t, 2, value1(points, "run.active", "stalled"), 0)
	assert.Contains(t, b.self(), `evicted{connector="training_signals"} 1`)
	b.rec(70, 0, "run.end", "r1", nil, m{"outcome": "success"})
	points = b.last(80)
	assert.InDelta(t, 0, value1(points, "run.outcomes", "success"), 0, "nothing counts it twice")
}

func TestNamespaces(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.AlsoNamespaces = []string{"acme.train"} })
	b.rec(2, 0, "run.start", "r", nil, nil)
	b.tick(10)
	points, spans := b.took()
	names := map[any]map[string]any{}
	for _, p := range points {
		names[p["name"]] = p["attributes"].(map[string]any)
	}
	assert.Contains(t, names["acme.train.run.active"], "acme.train.framework")
	assert.NotContains(t, names["acme.train.run.active"], trainrecord.AttrFramework)
	assert.Contains(t, names[trainrecord.Namespace+".run.active"], trainrecord.AttrFramework)
	assert.Equal(t, "r", spans[0]["attributes"].(map[string]any)["acme.train.run.id"])
}

func TestExtraAttributesAreBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) {
		c.ExtraAttributes = []ExtraAttribute{{Key: "model", From: "params.agent.model", Values: []string{"dqn", "ppo"}}}
	})
	b.rec(2, 0, "run.start", "a", nil, m{"params": m{"agent": m{"model": "dqn"}}})
	b.rec(2, 0, "run.start", "b", nil, m{"params": m{"agent": m{"model": "mine"}}})
	b.rec(2, 0, "run.start", "c", nil, m{"params": m{"agent": "x"}})
	b.tick(10)
	points, _ := b.took()
	models := map[any]bool{}
	for _, p := range only(points, "run.active") {
		models[p["attributes"].(map[string]any)["model"]] = true
	}
	assert.Equal(t, map[any]bool{"dqn": true, "other": true, nil: true}, models)
}

// TestWhatComesBehindExpiredSeriesBeginsNewOnes: a late phase of an attempt that is still kept is not counted where nobody looks any more.
func TestWhatComesBehindExpiredSeriesBeginsNewOnes(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.SeriesExpiry = 30e9 })
	b.rec(1, 0, "run.start", "r", nil, nil)
	b.rec(2, 0, "run.end", "r", nil, m{"outcome": "success"})
	for s := 10.0; s <= 60; s += 10 {
		b.tick(s)
	}
	require.Zero(t, b.core.table.len())
	b.rec(65, 64, "step.end", "r", nil, m{"step": 1, "samples": 32})
	assert.InDelta(t, 32, value1(b.last(70), "sample.processed", "train"), 0)
}

// TestARunThatComesWhileTheEndOfItsSeriesIsSentIsCounted has so many records come meanwhile that they do not wait for the next tick.
func TestARunThatComesWhileTheEndOfItsSeriesIsSentIsCounted(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.SeriesExpiry = 60e9 })
	b.rec(1, 0, "run.start", "r", nil, nil)
	b.rec(2, 0, "run.end", "r", nil, m{"outcome": "success"})
	b.tick(10)
	b.tick(20)
	b.clock = at(70)
	f := b.core.advance(b.core.moment(), at(70), false)
	require.NotEmpty(t, f.expired)
	b.rec(71, 0, "run.start", "s", nil, nil)
	b.rec(72, 0, "run.end", "s", nil, m{"outcome": "success"})
	b.core.drain(b.core.moment())
	b.core.settle(f, nil)
	b.took()
	assert.InDelta(t, 2, value1(b.last(80), "run.outcomes", "success"), 0)
}

func TestAFullQueueDropsTheOldestSpanThatIsNotOnItsWay(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Limits.PendingSpans = 3 })
	for i, run := range []string{"a", "b", "c", "d", "e"} {
		b.rec(1+float64(i), 0, "run.start", run, nil, nil)
		if i == 1 {
			b.core.flush(context.Background(), at(3)) // makes their spans
			require.Equal(t, 2, b.core.spans.next(at(3)).n)
		}
	}
	b.core.flush(context.Background(), at(10))
	var left []string
	for _, q := range b.core.spans.waiting {
		id, _ := q.span.Attributes().Get(trainrecord.AttrRunID)
		left = append(left, id.Str())
	}
	assert.Equal(t, []string{"a", "b", "e"}, left)
	assert.Contains(t, b.self(), `spans_dropped{connector="training_signals",reason="queue"} 2`)
}
