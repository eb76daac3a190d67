package trainingnormprocessor

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/componentkit"
)

// clientName is the name of the storage client: the signal's.
const clientName = "logs"

// start reads what streams were recognised as before.
func (n *logNormalizer) start(ctx context.Context, host component.Host) error {
	if n.storage == nil {
		return nil
	}
	if !n.claims.Take(n.id, n) {
		return fmt.Errorf("storage: %s stands in two pipelines of logs; give each its own id, such as %s/second, or leave storage out", n.id, n.id.Type())
	}
	if err := n.open(ctx, host); err != nil {
		n.claims.Release(n.id, n)
		return err
	}
	return nil
}

func (n *logNormalizer) open(ctx context.Context, host component.Host) error {
	st, err := componentkit.FindStorage(host, *n.storage)
	if err != nil {
		return err
	}
	client, err := componentkit.OpenClient(ctx, st, n.logger, component.KindProcessor, n.id, clientName)
	if err != nil {
		return fmt.Errorf("storage: open the client of %s: %w", n.id, err)
	}
	damaged, err := n.decisions.open(ctx, client, n.set)
	if err != nil {
		n.failed(ctx, "read")
		_ = client.Close(ctx) // the first error says more
		return err
	}
	for _, why := range damaged {
		n.failed(ctx, "damaged")
		n.logger.Warn("Ignored damaged decisions of the storage; their streams are recognised anew", zap.Error(why))
	}
	return nil
}

func (n *logNormalizer) failed(ctx context.Context, reason string) {
	n.telemetry.StorageErrors.Add(ctx, 1, n.telemetry.With(attribute.String("reason", reason)))
}

// shutdown works before start, and twice.
func (n *logNormalizer) shutdown(ctx context.Context) error {
	if n.storage == nil {
		return nil
	}
	defer n.claims.Release(n.id, n)
	return n.decisions.close(ctx)
}
