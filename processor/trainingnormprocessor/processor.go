package trainingnormprocessor

import (
	"context"
	"fmt"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/otel/attribute"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/componentkit"
)

// clientName is the name of the storage client: the signal's.
const clientName = "logs"

// owners are the components that have a storage client open, by id. One id stands for one client, whether or not the
// storage itself refuses a second.
type owners struct {
	mu   sync.Mutex
	byID map[component.ID]*logNormalizer
}

func newOwners() *owners { return &owners{byID: map[component.ID]*logNormalizer{}} }

func (o *owners) claim(id component.ID, n *logNormalizer) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byID[id] != nil {
		return false
	}
	o.byID[id] = n
	return true
}

func (o *owners) release(id component.ID, n *logNormalizer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byID[id] == n {
		delete(o.byID, id)
	}
}

// start reads what streams were recognised as before.
func (n *logNormalizer) start(ctx context.Context, host component.Host) error {
	if n.storage == nil {
		return nil
	}
	if !n.owners.claim(n.id, n) {
		return fmt.Errorf("storage: %s stands in two pipelines of logs; give each its own id, such as %s/second, or leave storage out", n.id, n.id.Type())
	}
	if err := n.open(ctx, host); err != nil {
		n.owners.release(n.id, n)
		return err
	}
	return nil
}

func (n *logNormalizer) open(ctx context.Context, host component.Host) error {
	ext, found := host.GetExtensions()[*n.storage]
	if !found {
		return fmt.Errorf("storage: extension %s is not configured; add it to extensions and to service::extensions", n.storage)
	}
	st, ok := ext.(storage.Extension)
	if !ok {
		return fmt.Errorf("storage: extension %s is no storage, want one such as file_storage", n.storage)
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
	defer n.owners.release(n.id, n)
	return n.decisions.close(ctx)
}
