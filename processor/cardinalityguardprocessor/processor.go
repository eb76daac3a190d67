package cardinalityguardprocessor

import (
	"context"
	"sync/atomic"
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
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// idleWorkers is the number of workers that wait for the next batch; more calls than that at once make new ones.
const idleWorkers = 8

// guard is the processor.
type guard struct {
	cfg        *Config
	government atomic.Pointer[government]
	engine     *merge.Engine
	next       consumer.Metrics
	now        func() time.Time
	merges     *mergeReporter
	idle       chan *worker
	log        lossLog
	samples    *sampleLog
	flushes    flushes
	state      state
	watch      watch
	audit      *auditReport // nil: not wanted
	tenants    tenants
}

func newGuard(cfg *Config, p *policy.Policy, set processor.Settings, next consumer.Metrics, claims *componentkit.Claims, now func() time.Time) (*guard, error) {
	telemetry, err := metadata.NewTelemetry(set.TelemetrySettings, set.ID)
	if err != nil {
		return nil, err
	}
	g := &guard{
		cfg:     cfg,
		next:    next,
		now:     now,
		merges:  newMergeReporter(telemetry),
		idle:    make(chan *worker, idleWorkers),
		log:     lossLog{logger: set.Logger},
		samples: newSampleLog(set.Logger),
		state:   state{id: set.ID, claims: claims},
		watch:   watch{patience: reportPatience},
		tenants: newTenants(cfg.MetadataKeys),
	}
	if cfg.AuditReport != "" {
		g.audit = newAuditReport(cfg.AuditReport)
		g.audit.since = now()
	}
	g.engine = merge.New(cfg.engine(), mergeRules{p}, now().UnixNano())
	g.govern(p)
	return g, nil
}

// start begins to watch and to flush.
func (g *guard) start(ctx context.Context, host component.Host) error {
	if err := g.first(ctx); err != nil {
		return err
	}
	if err := g.claimReport(); err != nil {
		return err
	}
	g.engine.Begin(g.now().UnixNano())
	if err := g.state.open(ctx, g, host); err != nil {
		g.releaseReport()
		return err
	}
	g.flushes.start(g)
	g.watch.start(g)
	tellPolicy(g.merges.telemetry, g.government.Load().policy, 1)
	return nil
}

// shutdown sends on what waits. It works before start, and twice.
func (g *guard) shutdown(ctx context.Context) error {
	g.watch.stop(ctx, g)
	g.releaseReport()
	if g.flushes.stop(ctx) {
		g.flush(ctx, true)
	}
	return g.state.close(ctx, g)
}

// processMetrics guards one batch. It never fails because of data; a batch without points goes no further.
func (g *guard) processMetrics(ctx context.Context, md pmetric.Metrics) (pmetric.Metrics, error) {
	w := g.take()
	if w.policy.Mode() != policy.Off && (g.audit != nil || w.policy.Audits()) {
		g.survey(w, md)
	}
	if w.policy.Mode() == policy.Enforce {
		thinExemplars(md, g.cfg.Exemplars)
		w.tenant = g.tenants.of(ctx)
		w.guard(md, g.now().UnixNano())
	}
	w.report.report(ctx, &w.counts)
	g.samples.note(w.policy, w.examples)
	g.merges.report(ctx, &w.batch.Counts)
	g.log.note(&w.counts)
	g.log.noteMerge(&w.batch.Counts)
	w.counts.reset()
	clear(w.examples)
	w.examples = w.examples[:0]
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
		if now := g.government.Load(); w.government != now {
			w.obey(now)
		}
		return w
	default:
		return newWorker(g.government.Load(), g.engine, g.cfg.TrackNative)
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
	l.logger.Warn("Dropped points", fields...)
}
