package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// memory measures what a source of a merged series takes.
func memory(ctx context.Context, t *table, s size) error {
	t.limits("heap", "measured", "at most")
	for _, c := range []struct {
		kind    string
		buckets int
		most    float64
	}{{cumulative, 0, 200}, {histogram, 12, 400}, {exponential, 160, 3000}} {
		const sources = 20_000
		next := &consumertest.MetricsSink{}
		before := heap()
		p, err := guard(ctx, next, true, 100_000)
		if err != nil {
			return err
		}
		for first := 0; first < sources; first += 1000 {
			md := batchOf(c.kind, forbiddenKeys, first, 1000, 1000, c.buckets)
			retime(md, time.Now())
			if err := p.ConsumeMetrics(ctx, md); err != nil {
				return err
			}
			next.Reset()
		}
		a := float64(heap()-before) / sources
		name := "a source, " + c.kind
		if c.kind == exponential {
			name += ", 160 buckets"
		}
		t.bound(name, a, c.most, "%.0f B")
		if err := p.Shutdown(ctx); err != nil {
			return err
		}
	}
	return nil
}

// manyRuns lets runs come and end, more than the guard may remember: after its bounds are reached, the heap stays as it is.
func manyRuns(ctx context.Context, t *table, s size) error {
	next := &consumertest.MetricsSink{}
	p, err := guard(ctx, next, true, s.limit)
	if err != nil {
		return err
	}
	const step = 5000
	var reached int64
	for first := 0; first < s.ids; first += step {
		if first == s.warm {
			reached = heap()
		}
		md := batchOf(cumulative, forbiddenKeys, first, step, s.ids, 0)
		for _, end := range []bool{false, true} {
			work := pmetric.NewMetrics()
			md.CopyTo(work)
			retime(work, time.Now())
			for _, point := range work.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Sum().DataPoints().All() {
				point.SetFlags(point.Flags().WithNoRecordedValue(end))
			}
			if err := p.ConsumeMetrics(ctx, work); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	grown := float64(heap()-reached) / (1 << 20)
	t.bound(fmt.Sprintf("growth from %d to %d runs that came and ended, %d remembered", s.warm, s.ids, s.limit), max(grown, 0), 2, "%.2f MiB")
	if err := p.Shutdown(ctx); err != nil {
		return err
	}
	points := next.AllMetrics()
	if len(points) != 1 || points[0].DataPointCount() != 1 {
		return fmt.Errorf("%d runs gave %d batches, one point was expected", s.ids, len(points))
	}
	return nil
}
