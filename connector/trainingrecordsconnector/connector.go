package trainingrecordsconnector

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/connector/trainingrecordsconnector/internal/metadata"
	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/internal/trainrun/secret"
)

// tickEvery is how often rows that wait are looked at.
const tickEvery = time.Second

// records is the connector.
type records struct {
	next      consumer.Logs
	logger    *zap.Logger
	telemetry *metadata.Telemetry
	now       func() time.Time
	refusals  componentkit.Seldom
	id        component.ID
	storage   *component.ID
	unsaved   componentkit.Seldom

	turn   chan struct{} // one call at a time: the records of a run keep their order
	engine *trainprofile.GaugeRecords
	client storage.Client // nil without storage, before Start and after Shutdown
	rows   atomic.Int64

	stop     sync.Once
	cancel   context.CancelFunc // nil before Start
	finished chan struct{}
}

func newRecords(set connector.Settings, cfg *Config, next consumer.Logs) (*records, error) {
	profiles, err := cfg.profiles()
	if err != nil {
		return nil, err
	}
	c := &records{next: next, logger: set.Logger, id: set.ID, storage: cfg.Storage, now: time.Now, turn: make(chan struct{}, 1)}
	c.engine = trainprofile.NewGaugeRecords(profiles, trainprofile.GaugeOptions{
		RunIDFrom: cfg.RunIDFrom, RowTolerance: cfg.RowTolerance, Heartbeat: cfg.HeartbeatInterval, MaxRows: cfg.Limits.Rows, Mask: mask,
	})
	c.telemetry, err = metadata.NewTelemetry(set.TelemetrySettings, set.ID, c.rows.Load)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// mask masks the secrets of a resource that the storage may hold, as what makes results and signals does.
func mask(resource pcommon.Map) int64 {
	w := secret.Walker{URLs: secret.UserInfo}
	w.Map(resource)
	return w.Masked
}

// Capabilities says that the metrics are only read.
func (c *records) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: false}
}

// Start begins to look at what waits. Its context is its own: the one given here is for starting only.
func (c *records) Start(start context.Context, host component.Host) error {
	c.telemetry.Begin(trainprofile.PointResults, trainprofile.ValueResults, storageReasons)
	if err := c.open(start, host); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel, c.finished = cancel, make(chan struct{})
	go func() {
		defer close(c.finished)
		ticker := time.NewTicker(tickEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				c.tick(ctx)
			}
		}
	}()
	return nil
}

// Shutdown hands on what waits.
func (c *records) Shutdown(ctx context.Context) (err error) {
	c.stop.Do(func() {
		defer c.telemetry.Shutdown()
		if c.cancel != nil {
			c.cancel()
			select {
			case <-c.finished:
			case <-ctx.Done():
				return // the next consumer hangs in a tick
			}
			if err := c.hand(ctx, c.engine.Flush); err != nil {
				c.logger.Warn("Stopped with values that nobody took", zap.Error(err))
			}
			err = c.close(ctx)
		}
	})
	return err
}

// ConsumeMetrics makes records of learning-curve gauges. The answer is the next consumer's; one that refuses gets the same
// records when the same points come again.
func (c *records) ConsumeMetrics(ctx context.Context, md pmetric.Metrics) error {
	return c.hand(ctx, func(now time.Time) *trainprofile.GaugeBatch { return c.engine.Consume(now, md) })
}

func (c *records) tick(ctx context.Context) {
	if err := c.hand(ctx, c.engine.Tick); err != nil && ctx.Err() == nil {
		if _, due := c.refusals.Note("", 1); due {
			c.logger.Warn("Next consumer refuses records, trying again", zap.Error(err))
		}
	}
}

// hand has the engine make a batch and hands it on; one that is refused is as if it had never been.
func (c *records) hand(ctx context.Context, make func(time.Time) *trainprofile.GaugeBatch) error {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	b := make(c.now())
	defer func() { c.rows.Store(int64(c.engine.Len())) }()
	if b.Logs.LogRecordCount() > 0 {
		if err := c.next.ConsumeLogs(ctx, b.Logs); err != nil {
			b.Undo()
			return err
		}
	}
	c.telemetry.Count(ctx, b.Points, b.Values, b.Forgotten, b.Masked)
	c.save(ctx)
	return nil
}
