package trainingsignalsconnector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func stored(h *componentcheck.StorageHost) benchOption {
	id := h.StorageID()
	return func(c *Config) { c.Storage = &id }
}

// finals gives the last value of each series, and all spans.
func finals(points []map[string]any) []string {
	last := map[string]string{}
	for _, p := range points {
		last[pointKey(p)] = fmt.Sprint(rounded(p["value"]), p["count"], rounded(p["sum"]), p["buckets"])
	}
	var out []string
	for k, v := range last {
		out = append(out, k+" "+v)
	}
	sort.Strings(out)
	return out
}

func spanIDs(spans []map[string]any) map[string]string {
	ids := map[string]string{}
	for _, s := range spans {
		b, _ := json.Marshal(s)
		ids[fmt.Sprint(s["trace_id"], s["span_id"])] = string(b)
	}
	return ids
}

// TestKillsChangeNoTotal is S7: a process that is killed between any two things it does, again and again, tells the same in the end.
func TestKillsChangeNoTotal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		list := workload(rt)
		setup := func(c *Config) { c.AbandonAfter, c.IdleTimeout = 30*60e9, 20*60e9 }
		var want, got, wantSpans, gotSpans []map[string]any
		play(t, newBench(t, setup), list, 480, func(p, s []map[string]any) { want, wantSpans = append(want, p...), append(wantSpans, s...) })

		h := componentcheck.NewStorageHost(t)
		back := &backend{}
		b := newBenchAt(t, t0, h, back, setup, stored(h))
		b.core.store.least = 500 // snapshots come often
		kill := func() {
			h.Crash()
			b = newBenchAt(t, b.clock, h, back, setup, stored(h))
			b.core.store.least = 500
		}
		next := 0
		for second := 10.0; second <= 480; second += 10 {
			for next < len(list) && list[next].at < at(second) {
				b.line(list[next].at, []byte(list[next].line), list[next].uid)
				next++
				if rapid.IntRange(0, 9).Draw(rt, "kill") == 0 {
					kill()
				}
			}
			if b.clock = max(b.clock, at(second)); rapid.IntRange(0, 9).Draw(rt, "kill after the tick is written") == 0 {
				b.core.mu.Lock()
				now := b.core.moment()
				since := b.core.table.since
				b.core.advance(now, at(second), false)
				written := b.core.mark(now, since)
				b.core.mu.Unlock()
				b.core.await(context.Background(), written)
				kill()
				continue
			}
			b.tick(second)
			if rapid.IntRange(0, 9).Draw(rt, "kill after it is sent") == 0 {
				kill()
			}
		}
		b.tick(490)
		b.tick(500)
		got, gotSpans = b.took()
		last := map[string]map[string]any{}
		for _, p := range got {
			checkGoesOn(rt, last, p)
		}
		require.Equal(rt, finals(want), finals(got))
		require.Equal(rt, spanIDs(wantSpans), spanIDs(gotSpans))
		_ = b.core.close(context.Background())
	})
}

// TestKillsRepeatNoDifference kills a process that tells differences behind its ticks, again and again: nothing is told twice or lost, and each difference begins where
// the one before ended. One that is killed between the writing of a tick and its sending loses that tick.
func TestKillsRepeatNoDifference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		list := workload(rt)
		var want, got []map[string]any
		play(t, newBench(t), list, 480, func(p, _ []map[string]any) { want = append(want, p...) })
		h, back := componentcheck.NewStorageHost(t), &backend{}
		least := rapid.SampledFrom([]int64{500, minJournal}).Draw(rt, "journal")
		start := func(clock int64) *bench {
			b := newBenchAt(t, clock, h, back, stored(h), func(c *Config) { c.Temporality = delta })
			b.core.store.least = least
			return b
		}
		b := start(t0)
		next := 0
		for second := 10.0; second <= 500; second += 10 {
			for next < len(list) && list[next].at < at(second) {
				b.line(list[next].at, []byte(list[next].line), list[next].uid)
				next++
			}
			b.tick(second)
			if rapid.IntRange(0, 2).Draw(rt, "kill") == 0 {
				h.Crash()
				b = start(b.clock)
			}
		}
		got, _ = b.took()
		told, ends := map[string]float64{}, map[string]any{}
		for _, p := range got {
			if p["temporality"] != delta {
				continue
			}
			k, n := pointKey(p), p["count"]
			if n == nil {
				n = p["value"]
			}
			told[k] += n.(float64)
			if end, ok := ends[k]; ok {
				require.Equal(rt, end, p["start"], k)
			}
			ends[k] = p["time"]
		}
		last := map[string]float64{}
		for _, p := range want {
			if n, ok := p["count"].(float64); ok {
				last[pointKey(p)] = n
			} else if p["monotonic"] == true {
				last[pointKey(p)] = p["value"].(float64)
			}
		}
		for k, n := range last {
			require.InDelta(rt, n, told[k], 1e-6, k)
		}
		_ = b.core.close(context.Background())
	})
}

// checkGoesOn wants that nothing told by a later process is below what an earlier one told. Zero may be told again.
func checkGoesOn(rt *rapid.T, last map[string]map[string]any, p map[string]any) {
	k := pointKey(p)
	before := last[k]
	last[k] = p
	switch {
	case p["monotonic"] == false:
		return
	case before == nil && p["type"] == "histogram":
		require.Equal(rt, 0.0, p["count"], k)
		return
	case before == nil:
		require.Equal(rt, 0.0, p["value"], "%s: zero does not go first", k)
		return
	}
	require.Equal(rt, before["start"], p["start"], k)
	if p["type"] == "histogram" {
		require.GreaterOrEqual(rt, p["count"], before["count"], k)
		return
	}
	require.GreaterOrEqual(rt, p["value"], before["value"], k)
}

func TestAStorageThatRefusesHoldsNothingBack(t *testing.T) {
	t.Parallel()
	h := componentcheck.NewStorageHost(t)
	b := newBenchAt(t, t0, h, &backend{}, stored(h))
	h.FailWrites(errors.New("full"))
	b.rec(2, 0, "run.start", "r", nil, nil)
	b.tick(10)
	points, _ := b.took()
	assert.InDelta(t, 1, value1(points, "run.active", "running"), 0)
	assert.Contains(t, b.self(), `storage_errors{connector="training_signals",reason="write"}`)
	h.FailWrites(nil)
	b.tick(20)
	h.Crash()
	b = newBenchAt(t, at(25), h, &backend{}, stored(h))
	b.tick(30)
	points, _ = b.took()
	assert.InDelta(t, 1, value1(points, "run.active", "running"), 0, "what the storage had missed is there")
	require.NoError(t, b.core.close(context.Background()))
}

func TestDifferencesThatWereRefusedAreToldAfterAKill(t *testing.T) {
	t.Parallel()
	for _, snapshots := range []bool{false, true} {
		h, back := componentcheck.NewStorageHost(t), &backend{}
		differences := func(c *Config) { c.Temporality = delta }
		b := newBenchAt(t, t0, h, back, stored(h), differences)
		b.rec(1, 0, "run.start", "r", nil, nil)
		b.tick(10)
		b.took()
		if snapshots {
			b.core.store.least = 0
		}
		back.refusesMetrics.Store(true)
		for i := range 3 {
			b.rec(float64(11+10*i), 0, "step.end", "r", nil, m{"step": i, "samples": 1})
			b.tick(float64(20 + 10*i))
		}
		h.Crash()
		back.refusesMetrics.Store(false)
		b = newBenchAt(t, at(45), h, back, stored(h), differences)
		b.tick(50)
		points, _ := b.took()
		assert.InDelta(t, 3, value1(points, "sample.processed", "train"), 0)
		h.Crash()
		b = newBenchAt(t, at(55), h, back, stored(h), differences)
		b.tick(60)
		points, _ = b.took()
		assert.Nil(t, value1(points, "sample.processed", "train"), "once")
		require.NoError(t, b.core.close(context.Background()))
	}
}

func TestADamagedStorageBeginsAnew(t *testing.T) {
	t.Parallel()
	h := componentcheck.NewStorageHost(t)
	b := newBenchAt(t, t0, h, &backend{}, stored(h))
	b.rec(2, 0, "run.start", "r", nil, nil)
	require.NoError(t, b.core.store.client.Set(context.Background(), partKey(0), []byte("damaged")))
	h.Crash()
	b = newBenchAt(t, at(5), h, &backend{}, stored(h))
	b.tick(10)
	points, _ := b.took()
	assert.Empty(t, points)
	assert.Contains(t, b.self(), `storage_errors{connector="training_signals",reason="damaged"} 1`)
	b.rec(12, 0, "run.start", "r", nil, nil)
	b.tick(20)
	points, _ = b.took()
	assert.InDelta(t, 1, value1(points, "run.active", "running"), 0)
	require.NoError(t, b.core.close(context.Background()))
}

func TestSilenceIsMeasuredAnewAfterARestart(t *testing.T) {
	t.Parallel()
	h := componentcheck.NewStorageHost(t)
	b := newBenchAt(t, t0, h, &backend{}, stored(h))
	b.rec(2, 0, "run.start", "r", nil, nil)
	b.tick(10)
	require.NoError(t, b.core.close(context.Background()))
	b = newBenchAt(t, at(90000), h, &backend{}, stored(h)) // longer than abandon_after
	b.tick(90010)
	points, _ := b.took()
	assert.InDelta(t, 1, value1(points, "run.active", "running"), 0)
	b.rec(90020, 80000, "run.end", "r", nil, m{"outcome": "success"}) // the backlog: history, but the attempt was announced
	points = b.last(90030)
	assert.InDelta(t, 1, value1(points, "run.outcomes", "success"), 0)
	assert.InDelta(t, 0, value1(points, "run.active", "running"), 0)
	require.NoError(t, b.core.close(context.Background()))
}

func TestSentSpansDoNotComeBackAfterAKill(t *testing.T) {
	t.Parallel()
	h := componentcheck.NewStorageHost(t)
	b := newBenchAt(t, t0, h, &backend{}, stored(h))
	b.rec(2, 0, "run.start", "r", nil, nil)
	b.tick(10)
	b.tick(20) // which writes what became of the one before
	_, spans := b.took()
	require.Len(t, spans, 1)
	h.Crash()
	b = newBenchAt(t, at(25), h, &backend{}, stored(h))
	b.tick(30)
	_, spans = b.took()
	assert.Empty(t, spans)
	require.NoError(t, b.core.close(context.Background()))
}

// TestASnapshotInTheMiddleOfThingsKeepsAll has records waiting and spans on their way when it is written.
func TestASnapshotInTheMiddleOfThingsKeepsAll(t *testing.T) {
	t.Parallel()
	h := componentcheck.NewStorageHost(t)
	b := newBenchAt(t, t0, h, &backend{}, stored(h))
	b.rec(2, 0, "run.start", "a", nil, nil)
	b.tick(10)
	b.took()
	b.rec(12, 0, "run.start", "b", nil, nil)
	b.core.flush(context.Background(), at(20))
	b.core.mu.Lock()
	p := b.core.spans.next(b.clock)
	b.core.mu.Unlock()
	b.rec(22, 0, "run.start", "c", nil, nil)
	assert.True(t, b.core.sent(&p, nil))
	b.core.mu.Lock()
	written := b.core.replace()
	b.core.mu.Unlock()
	b.core.await(context.Background(), written)
	b.rec(23, 0, "run.start", "d", nil, nil)
	b.core.flush(context.Background(), at(30)) // marks what was sent, and no more
	h.Crash()
	b = newBenchAt(t, at(35), h, &backend{}, stored(h))
	b.tick(40)
	points, spans := b.took()
	assert.InDelta(t, 4, value1(points, "run.active", "running"), 0)
	var runs []any
	for _, s := range named(spans, "start") {
		runs = append(runs, s["attributes"].(map[string]any)[trainrecord.AttrRunID])
	}
	assert.ElementsMatch(t, []any{"c", "d"}, runs)
	require.NoError(t, b.core.close(context.Background()))
}
