package cardinalityguardprocessor

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/otel/attribute"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/merge"
)

// clientName is the name of the storage client: the signal's.
const clientName = "metrics"

// state keeps what the engine knows over a restart. Without a storage it does nothing.
type state struct {
	id     component.ID
	claims *componentkit.Claims
	client storage.Client
	valid  bool // the storage has a state that may be used
}

// open takes in the state of the time before.
func (s *state) open(ctx context.Context, g *guard, host component.Host) error {
	if g.cfg.Storage == nil {
		return nil
	}
	if !s.claims.Take(s.id, g) {
		return fmt.Errorf("storage: %s stands in two pipelines of metrics; give each its own id, such as %s/second, or leave storage out", s.id, s.id.Type())
	}
	if err := s.read(ctx, g, host); err != nil {
		s.claims.Release(s.id, g)
		return err
	}
	return nil
}

func (s *state) read(ctx context.Context, g *guard, host component.Host) error {
	st, err := componentkit.FindStorage(host, *g.cfg.Storage)
	if err != nil {
		return err
	}
	client, err := componentkit.OpenClient(ctx, st, g.log.logger, component.KindProcessor, s.id, clientName)
	if err != nil {
		return fmt.Errorf("storage: open the client of %s: %w", s.id, err)
	}
	var ops []*storage.Operation
	for _, key := range merge.Keys() {
		ops = append(ops, storage.GetOperation(key))
	}
	if err := client.Batch(ctx, ops...); err != nil {
		g.storageFailed(ctx, "read")
		_ = client.Close(ctx) // the first error says more
		return fmt.Errorf("storage: read the state: %w", err)
	}
	s.client = client
	if ops[0].Value == nil {
		return nil
	}
	s.valid = true
	values := map[string][]byte{}
	for _, op := range ops {
		if op.Value != nil {
			values[op.Key] = op.Value
		}
	}
	if err := g.engine.Restore(values, g.now().UnixNano()); err != nil {
		g.storageFailed(ctx, "damaged")
		g.log.logger.Warn("Ignored a damaged state of the storage; running sources count from their next point on", zap.Error(err))
		g.engine.Unsaved()
	}
	return nil
}

// save writes what changed, before it is sent on. A state that cannot be written is no longer true once the flush went out: it is taken away. If
// that fails too, the flush must wait.
func (s *state) save(ctx context.Context, g *guard) error {
	err := s.write(ctx, g)
	if err == nil || !s.valid {
		return nil
	}
	if invalid := s.client.Delete(ctx, merge.Keys()[0]); invalid != nil {
		return errors.Join(err, invalid)
	}
	s.valid = false
	return nil
}

// update writes what changed and was not sent on: what was forgotten, which a kill must not bring back, and what the next component refused, which a
// kill must not lose. The state before is true of all that was sent, so it may stay where this fails.
func (s *state) update(ctx context.Context, g *guard) { _ = s.write(ctx, g) } // counted and told

// write writes what changed.
func (s *state) write(ctx context.Context, g *guard) error {
	if s.client == nil {
		return nil
	}
	changed, err := g.engine.Snapshot()
	if err == nil {
		ops := make([]*storage.Operation, 0, len(changed))
		for key, value := range changed {
			ops = append(ops, storage.SetOperation(key, value))
		}
		if err = s.client.Batch(ctx, ops...); err == nil {
			s.valid = true
			return nil
		}
	}
	g.engine.Unsaved()
	g.storageFailed(ctx, "write")
	if _, due := g.flushes.failed.Note("storage", 1); due {
		g.log.logger.Warn("The state could not be written", zap.Error(err))
	}
	return err
}

func (s *state) close(ctx context.Context, g *guard) error {
	if s.client == nil {
		return nil
	}
	defer s.claims.Release(s.id, g)
	client := s.client
	s.client = nil
	return client.Close(ctx)
}

func (g *guard) storageFailed(ctx context.Context, reason string) {
	t := g.merges.telemetry
	t.StorageErrors.Add(ctx, 1, t.With(attribute.String("reason", reason)))
}
