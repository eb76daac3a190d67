package cardinalityguardprocessor

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processorhelper"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/merge"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/metadata"
)

// idleWorkers is the number of workers that wait for the next batch; more calls than that at once make new ones.
const idleWorkers = 8

// guard is the processor.
type guard struct {
	cfg     *Config
	rules   *rules
	engine  *merge.Engine
	next    consumer.Metrics
	now     func() time.Time
	report  *reporter
	merges  *mergeReporter
	idle    chan *worker
	log     lossLog
	flushes flushes
}

func newGuard(cfg *Config, r *rules, set processor.Settings, next consumer.Metrics, now func() time.Time) (*guard, error) {
	telemetry, err := metadata.NewTelemetry(set.TelemetrySettings, set.ID)
	if err != nil {
		return nil, err
	}
	g := &guard{
		cfg:    cfg,
		rules:  r,
		next:   next,
		now:    now,
		report: newReporter(telemetry, r),
		merges: newMergeReporter(telemetry),
		idle:   make(chan *worker, idleWorkers),
		log:    lossLog{logger: set.Logger},
	}
	g.engine = merge.New(cfg.engine(), defaultRules{}, now().UnixNano())
	return g, nil
}

// start begins to watch and to flush.
func (g *guard) start(context.Context, component.Host) error {
	g.engine.Begin(g.now().UnixNano())
	g.flushes.start(g)
	return nil
}

// shutdown sends on what waits. It works before start, and twice.
func (g *guard) shutdown(ctx context.Context) error {
	if g.flushes.stop() {
		g.flush(ctx, true)
	}
	return nil
}

// processMetrics guards one batch. It never fails because of data; a batch without points goes no further.
func (g *guard) processMetrics(ctx context.Context, md pmetric.Metrics) (pmetric.Metrics, error) {
	w := g.take()
	thinExemplars(md, g.cfg.Exemplars)
	w.guard(md, g.now().UnixNano())
	g.report.report(ctx, &w.counts)
	g.merges.report(ctx, &w.batch.Counts)
	g.log.note(&w.counts)
	g.log.noteMerge(&w.batch.Counts)
	w.counts.reset()
	w.batch.Counts.Reset()
	g.put(w)
	if md.DataPointCount() == 0 {
		return md, processorhelper.ErrSkipProcessingData
	}
	return md, nil
}

func (g *guard) take() *worker {
	select {
	case w := <-g.idle:
		return w
	default:
		return newWorker(g.rules, g.engine, g.cfg.TrackNative)
	}
}

func (g *guard) put(w *worker) {
	select {
	case g.idle <- w:
	default:
	}
}

// defaultRules is what holds for metrics that no policy names.
type defaultRules struct{}

func (defaultRules) GaugeRule(string) (merge.GaugeRule, bool) { return merge.Last, false }
func (defaultRules) Bounds(string) []float64                  { return nil }
func (defaultRules) DropSummary(string) bool                  { return false }
func (defaultRules) SeriesLimit(string) int                   { return 0 }

// lossLog writes at most one entry a minute about dropped points. It names a metric, never an attribute's value.
type lossLog struct {
	logger *zap.Logger
	seldom componentkit.Seldom
}

func (l *lossLog) note(c *counts) {
	if c.lost > 0 {
		l.tell(c.lost, reasonNames[c.lostWhy], c.lostMetric)
	}
}

func (l *lossLog) noteMerge(c *merge.Counts) {
	if c.Lost > 0 {
		l.tell(c.Lost, merge.ReasonNames[c.LostReason], c.LostMetric)
	}
}

func (l *lossLog) tell(n int64, why, name string) {
	points, due := l.seldom.Note("", n)
	if !due {
		return
	}
	fields := []zap.Field{zap.Int64("points", points), zap.String("reason", why)}
	if name != "" {
		fields = append(fields, zap.String("metric", name))
	}
	l.logger.Warn("Dropped points that had a forbidden name", fields...)
}
