package isolateconnector

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/connector/isolateconnector/internal/metadata"
	"github.com/pathologize/otelcol-train/internal/componentkit"
)

// reason says why items were dropped; the set is closed.
type reason string

const (
	reasonQueueFull reason = "queue_full"
	reasonTooLarge  reason = "too_large"
	reasonRefused   reason = "refused"
	reasonShutdown  reason = "shutdown"
)

var reasons = [...]reason{reasonQueueFull, reasonTooLarge, reasonRefused, reasonShutdown}

// reporter tells the operator what happens: counters, component status, and a log line at most once a minute.
type reporter struct {
	logger  *zap.Logger
	metrics *metadata.TelemetryBuilder
	signal  string
	base    metric.MeasurementOption
	drop    map[reason]metric.MeasurementOption

	lines componentkit.Seldom // about data

	mu      sync.Mutex
	host    component.Host
	failing bool
	ending  bool
}

func newReporter(set connector.Settings, signal string, capacity int, size func() int) (*reporter, error) {
	metrics, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	attrs := []attribute.KeyValue{attribute.String("connector", set.ID.String()), attribute.String("signal", signal)}
	r := &reporter{
		logger:  set.Logger,
		metrics: metrics,
		signal:  signal,
		base:    metric.WithAttributeSet(attribute.NewSet(attrs...)),
		drop:    make(map[reason]metric.MeasurementOption, len(reasons)),
	}
	for _, why := range reasons {
		with := append([]attribute.KeyValue{attribute.String("reason", string(why))}, attrs...)
		r.drop[why] = metric.WithAttributeSet(attribute.NewSet(with...))
	}
	err = errors.Join(
		metrics.RegisterIsolateQueueSizeCallback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(int64(size()), r.base)
			return nil
		}),
		metrics.RegisterIsolateQueueCapacityCallback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(int64(capacity), r.base)
			return nil
		}),
	)
	return r, err
}

// start makes every series visible at zero: a series that is missing looks like a healthy zero.
func (r *reporter) start(host component.Host) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.host = host
	ctx := context.Background()
	r.metrics.IsolateSentItems.Add(ctx, 0, r.base)
	r.metrics.IsolateRetries.Add(ctx, 0, r.base)
	for _, why := range reasons {
		r.metrics.IsolateDroppedItems.Add(ctx, 0, r.drop[why])
	}
}

// stopping ends status reports: the collector owns the status from here on.
func (r *reporter) stopping() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ending = true
}

// stopped counts what was left and says whether the worker came back.
func (r *reporter) stopped(left int, ended bool) {
	if left > 0 {
		r.metrics.IsolateDroppedItems.Add(context.Background(), int64(left), r.drop[reasonShutdown])
		r.logger.Warn("Stopped with undelivered data", zap.String("signal", r.signal), zap.Int("dropped_items", left))
	}
	if !ended {
		r.logger.Warn("Stopped while the next consumer still hangs in a call", zap.String("signal", r.signal))
	}
	r.metrics.Shutdown()
}

func (r *reporter) retried() { r.metrics.IsolateRetries.Add(context.Background(), 1, r.base) }

// sent counts a delivered batch; the first one after a refusal makes the status OK.
func (r *reporter) sent(items int) {
	r.metrics.IsolateSentItems.Add(context.Background(), int64(items), r.base)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failing && !r.ending {
		componentstatus.ReportStatus(r.host, componentstatus.NewEvent(componentstatus.StatusOK))
	}
	r.failing = false
}

// refusing notes a refusal that will be tried again.
func (r *reporter) refusing(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	r.fail(err)
	r.say("Next consumer refuses, trying again", "", 0, err)
}

// refused counts a batch that the next consumer will never take.
func (r *reporter) refused(items int, err error) {
	r.fail(err)
	r.dropped(reasonRefused, items, err)
}

func (r *reporter) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.failing && !r.ending {
		componentstatus.ReportStatus(r.host, componentstatus.NewRecoverableErrorEvent(err))
	}
	r.failing = true
}

// dropped counts items that will not be delivered.
func (r *reporter) dropped(why reason, items int, err error) {
	r.metrics.IsolateDroppedItems.Add(context.Background(), int64(items), r.drop[why])
	r.say("Dropped data", why, items, err)
}

func (r *reporter) say(message string, why reason, items int, err error) {
	total, due := r.lines.Note("", int64(items))
	if !due {
		return
	}
	fields := []zap.Field{zap.String("signal", r.signal)}
	if why != "" {
		fields = append(fields, zap.String("reason", string(why)))
	}
	if total > 0 {
		fields = append(fields, zap.Int64("dropped_items_since_last_line", total))
	}
	if err != nil {
		fields = append(fields, zap.Error(err))
	}
	r.logger.Warn(message, fields...)
}
