package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/processor"
)

// bucketsOf is the number of buckets of a kind's points.
func bucketsOf(kind string) int {
	if kind == exponential {
		return 40
	}
	return 12
}

// duel is a line of the table: two processors, each with its batch.
type duel struct {
	name       string
	peer, ours maker
	extra      [2][]string // the last attributes of the peer's batch and of ours
	kind       string
	runs       int
	want       target
}

// fight measures a duel. What misses is measured again, as often as the size allows: others on the machine only ever make it worse.
func (d *duel) fight(ctx context.Context, t *table, s size) error {
	for try := 1; ; try++ {
		peer, err := newContender(ctx, batchOf(d.kind, d.extra[0], 0, s.points, d.runs, bucketsOf(d.kind)), d.peer)
		if err != nil {
			return err
		}
		ours, err := newContender(ctx, batchOf(d.kind, d.extra[1], 0, s.points, d.runs, bucketsOf(d.kind)), d.ours)
		if err != nil {
			return err
		}
		if err := race(ctx, s.rounds, peer, ours); err != nil {
			return err
		}
		if try == s.tries || d.want.met(&peer.cost, &ours.cost, t.factor) {
			t.compare(d.name, &peer.cost, &ours.cost, d.want)
			return nil
		}
	}
}

func guarding(trackNative bool) maker {
	return func(ctx context.Context, next *consumertest.MetricsSink) (processor.Metrics, error) {
		return guard(ctx, next, trackNative, 100_000)
	}
}

// untouched holds points that pass against deleting three attributes of as many points.
func untouched(ctx context.Context, t *table, s size) error {
	t.head("untouched point", "attributes, delete", "cost", "allocations a point")
	for _, c := range []struct {
		kind    string
		tracked bool
		most    float64
	}{
		{gauge, true, 2},
		{delta, true, 2},
		{cumulative, false, 2},
		{histogram, false, 2},
		{exponential, false, 2},
		{cumulative, true, 5},
		{histogram, true, 5},
		{exponential, true, 5},
	} {
		d := duel{
			name: c.kind, kind: c.kind, runs: 1, peer: remove, ours: guarding(c.tracked),
			extra: [2][]string{forbiddenKeys, otherKeys}, want: target{atMost: c.most},
		}
		if !c.tracked {
			d.name += ", track_native: false"
		}
		if err := d.fight(ctx, t, s); err != nil {
			return err
		}
	}
	return nil
}

// merged holds known sources against aggregation within the batch.
func merged(ctx context.Context, t *table, s size) error {
	t.head("merged point", "metrics_transform, aggregate_labels", "faster", "allocations a point")
	for _, c := range []struct {
		kind  string
		least float64
	}{
		{cumulative, 4},
		{delta, 0},
		{gauge, 0},
		{histogram, 3},
		{exponential, 3},
	} {
		for _, runs := range s.runs {
			d := duel{
				name: fmt.Sprintf("%s, runs a series: %d", c.kind, runs), kind: c.kind, runs: runs, peer: aggregate, ours: guarding(true),
				extra: [2][]string{forbiddenKeys, forbiddenKeys}, want: target{atLeast: c.least, allocs: -1},
			}
			if c.kind == cumulative {
				d.want.allocs = 1
			}
			if err := d.fight(ctx, t, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// flushes measures what a guard with as many merged series as a batch has points sends at its end.
func flushes(ctx context.Context, t *table, s size) error {
	t.limits("flush", "measured", "at most")
	for _, kind := range []string{cumulative, histogram, exponential} {
		most := 0.0
		if kind == cumulative {
			most = 10
		}
		var least time.Duration    // of the medians: what else the machine does only adds
		for try := range s.tries { // more when it misses
			var times []time.Duration
			for range max(3, s.rounds/3) {
				took, err := flushOnce(ctx, kind, s.points)
				if err != nil {
					return err
				}
				times = append(times, took)
			}
			if took := median(times); try == 0 || took < least {
				least = took
			}
			if most == 0 || milliseconds(least) <= most*t.factor {
				break
			}
		}
		t.bound(fmt.Sprintf("%d series, %s", s.points, kind), milliseconds(least), most, "%.1f ms")
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func flushOnce(ctx context.Context, kind string, points int) (time.Duration, error) {
	c, err := newContender(ctx, batchOf(kind, forbiddenKeys, 0, points, 1, bucketsOf(kind)), guarding(true))
	if err != nil {
		return 0, err
	}
	for range 2 {
		if err := c.round(ctx, false); err != nil {
			return 0, err
		}
	}
	runtime.GC()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := clock()
	err = c.processor.Shutdown(ctx)
	took := clock() - began
	if sent := c.next.DataPointCount(); err == nil && sent != points {
		return 0, fmt.Errorf("the flush sent %d points, %d were expected", sent, points)
	}
	return took, err
}
