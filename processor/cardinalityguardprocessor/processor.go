package cardinalityguardprocessor

import (
	"context"

	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processorhelper"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/metadata"
)

// idleWorkers is the number of workers that wait for the next batch; more calls than that at once make new ones.
const idleWorkers = 8

// guard is the processor. It keeps no state about data between batches.
type guard struct {
	rules  *rules
	report *reporter
	idle   chan *worker
	log    lossLog
}

func newGuard(r *rules, set processor.Settings) (*guard, error) {
	telemetry, err := metadata.NewTelemetry(set.TelemetrySettings, set.ID)
	if err != nil {
		return nil, err
	}
	return &guard{
		rules:  r,
		report: newReporter(telemetry, r),
		idle:   make(chan *worker, idleWorkers),
		log:    lossLog{logger: set.Logger},
	}, nil
}

// processMetrics guards one batch. It never fails because of data; a batch without points goes no further.
func (g *guard) processMetrics(ctx context.Context, md pmetric.Metrics) (pmetric.Metrics, error) {
	w := g.take()
	w.guard(md)
	g.report.report(ctx, &w.counts)
	g.log.note(&w.counts)
	w.counts.reset()
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
		return newWorker(g.rules)
	}
}

func (g *guard) put(w *worker) {
	select {
	case g.idle <- w:
	default:
	}
}

// lossLog writes at most one entry a minute about dropped points. It names a metric, never an attribute's value.
type lossLog struct {
	logger *zap.Logger
	seldom componentkit.Seldom
}

func (l *lossLog) note(c *counts) {
	if c.lost == 0 {
		return
	}
	points, due := l.seldom.Note("", c.lost)
	if !due {
		return
	}
	fields := []zap.Field{zap.Int64("points", points), zap.String("reason", reasonNames[c.lostWhy])}
	if c.lostMetric != "" {
		fields = append(fields, zap.String("metric", c.lostMetric))
	}
	l.logger.Warn("Dropped points that had a forbidden name", fields...)
}
