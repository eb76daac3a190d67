package dvcresultexporter

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/atomicdir"
	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/metadata"
	"github.com/pathologize/otelcol-train/internal/componentkit"
)

var errNotStarted = errors.New("dvc_result is not running")

// resultExporter is what lives from creation to the end of the collector; what runs between a start and a stop is the
// engine.
type resultExporter struct {
	cfg       *Config
	set       exporter.Settings
	telemetry *metadata.TelemetryBuilder
	openFS    func(string) (atomicdir.FS, error)

	mu     sync.RWMutex
	engine *engine
}

func newExporter(set exporter.Settings, cfg *Config) (*resultExporter, error) {
	tel, err := metadata.NewTelemetryBuilder(set.TelemetrySettings, set.ID)
	if err != nil {
		return nil, err
	}
	return &resultExporter{cfg: cfg, set: set, telemetry: tel, openFS: atomicdir.OpenFS}, nil
}

func (e *resultExporter) start(ctx context.Context, host component.Host) error {
	client, err := e.storage(ctx, host)
	if err != nil {
		return err
	}
	eng := newEngine(e, host, client)
	if err := eng.start(ctx); err != nil {
		if client != nil {
			err = errors.Join(err, client.Close(ctx))
		}
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.engine = eng
	return e.telemetry.Observe(eng.observe)
}

// storage opens the state's client; nil without a storage extension.
func (e *resultExporter) storage(ctx context.Context, host component.Host) (storage.Client, error) {
	id := e.cfg.StorageID
	if id == nil {
		e.set.Logger.Warn("The state of runs is in memory only: after a restart the receiver must read the streams from their beginning. Set storage to keep it")
		return nil, nil
	}
	st, err := componentkit.FindStorage(host, *id)
	if err != nil {
		return nil, err
	}
	client, err := componentkit.OpenClient(ctx, st, e.set.Logger, component.KindExporter, e.set.ID, "")
	if err != nil {
		return nil, fmt.Errorf("storage: open the client of %s: %w", e.set.ID, err)
	}
	return client, nil
}

// shutdown works before start, and twice.
func (e *resultExporter) shutdown(ctx context.Context) error {
	e.mu.Lock()
	eng := e.engine
	e.engine = nil
	e.mu.Unlock()
	e.telemetry.Shutdown()
	if eng == nil {
		return nil
	}
	return eng.stop(ctx)
}

// consumeLogs answers nil when the state holds every training record among the logs. An error is never about the data:
// the storage could not take it, and the receiver is to bring it again.
func (e *resultExporter) consumeLogs(ctx context.Context, ld plog.Logs) error {
	e.mu.RLock()
	eng := e.engine
	e.mu.RUnlock()
	if eng == nil {
		return errNotStarted
	}
	return eng.consume(ctx, ld)
}

// consumeMetrics takes the readings of GPUs among the metrics.
func (e *resultExporter) consumeMetrics(ctx context.Context, md pmetric.Metrics) error {
	e.mu.RLock()
	eng := e.engine
	e.mu.RUnlock()
	if eng == nil {
		return errNotStarted
	}
	eng.meter.take(ctx, md)
	return nil
}
