package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/attributesprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/metricstransformprocessor"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor"
)

// started creates a processor from its configuration, as a Collector does, and starts it.
func started(ctx context.Context, factory processor.Factory, cfg map[string]any, next *consumertest.MetricsSink) (processor.Metrics, error) {
	config := factory.CreateDefaultConfig()
	if err := confmap.NewFromStringMap(cfg).Unmarshal(config); err != nil {
		return nil, fmt.Errorf("configuration of %s: %w", factory.Type(), err)
	}
	p, err := factory.CreateMetrics(ctx, processortest.NewNopSettings(factory.Type()), config, next)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", factory.Type(), err)
	}
	return p, p.Start(ctx, componenttest.NewNopHost())
}

// guard is cardinality_guard with room for every series and no flush but the one at its end.
func guard(ctx context.Context, next *consumertest.MetricsSink, trackNative bool, sources int) (processor.Metrics, error) {
	return started(ctx, cardinalityguardprocessor.NewFactory(), map[string]any{
		"flush_interval": "1h",
		"track_native":   trackNative,
		"limits":         map[string]any{"series_per_metric": 50_000, "sources_total": sources, "tombstones": sources},
	}, next)
}

// aggregate is metrics_transform with the operation that keeps what is not forbidden.
func aggregate(ctx context.Context, next *consumertest.MetricsSink) (processor.Metrics, error) {
	return started(ctx, metricstransformprocessor.NewFactory(), map[string]any{"transforms": []any{map[string]any{
		"include": metricName, "action": "update",
		"operations": []any{map[string]any{"action": "aggregate_labels", "label_set": cleanKeys, "aggregation_type": "sum"}},
	}}}, next)
}

// remove is the attributes processor that deletes what is forbidden.
func remove(ctx context.Context, next *consumertest.MetricsSink) (processor.Metrics, error) {
	var actions []any
	for _, key := range forbiddenKeys {
		actions = append(actions, map[string]any{"key": key, "action": "delete"})
	}
	return started(ctx, attributesprocessor.NewFactory(), map[string]any{"actions": actions}, next)
}

// contender is a processor and the batch that it gets a copy of, at the next scrape's time each.
type contender struct {
	processor processor.Metrics
	next      *consumertest.MetricsSink
	batch     pmetric.Metrics
	cost      cost
}

// cost is what a batch cost, for each round, and what it allocated in all of them.
type cost struct {
	points        int
	times         []time.Duration
	allocs, bytes uint64
}

// maker makes a started processor.
type maker func(context.Context, *consumertest.MetricsSink) (processor.Metrics, error)

func newContender(ctx context.Context, batch pmetric.Metrics, create maker) (*contender, error) {
	next := &consumertest.MetricsSink{}
	p, err := create(ctx, next)
	return &contender{processor: p, next: next, batch: batch, cost: cost{points: batch.DataPointCount()}}, err
}

// round feeds a copy of the batch; copying it is not part of the cost.
func (c *contender) round(ctx context.Context, count bool) error {
	work := pmetric.NewMetrics()
	c.batch.CopyTo(work)
	retime(work, time.Now())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := clock()
	err := c.processor.ConsumeMetrics(ctx, work)
	took := clock() - began
	runtime.ReadMemStats(&after)
	c.next.Reset()
	if count {
		c.cost.times = append(c.cost.times, took)
		c.cost.allocs += after.Mallocs - before.Mallocs
		c.cost.bytes += after.TotalAlloc - before.TotalAlloc
	}
	return err
}

// race lets contenders take turns, after rounds in which they learn the series.
func race(ctx context.Context, rounds int, all ...*contender) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for i := range rounds + 2 {
		runtime.GC() // what building the batches left is nobody's cost
		for _, c := range all {
			if err := c.round(ctx, i >= 2); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	for _, c := range all {
		if err := c.processor.Shutdown(ctx); err != nil {
			return err
		}
	}
	return nil
}

// perPoint is the median time of a point in nanoseconds.
func (c *cost) perPoint() float64 {
	return float64(median(c.times).Nanoseconds()) / float64(c.points)
}

func (c *cost) allocsPerPoint() float64 {
	return float64(c.allocs) / float64(len(c.times)) / float64(c.points)
}

func (c *cost) bytesPerPoint() float64 {
	return float64(c.bytes) / float64(len(c.times)) / float64(c.points)
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
