package trainingrecordsconnector

import (
	"context"
	"fmt"
	"strconv"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/internal/trainprofile"
)

// Reasons of storage errors.
const (
	storageRead    = "read"
	storageWrite   = "write"
	storageDamaged = "damaged"
)

var storageReasons = []string{storageRead, storageWrite, storageDamaged}

func shardKey(i int) string { return "rows/" + strconv.Itoa(i) }

// open reads what was seen before.
func (c *records) open(ctx context.Context, host component.Host) error {
	if c.storage == nil {
		return nil
	}
	st, err := componentkit.FindStorage(host, *c.storage)
	if err != nil {
		return err
	}
	client, err := componentkit.OpenClient(ctx, st, c.logger, component.KindConnector, c.id, "metrics")
	if err != nil {
		return fmt.Errorf("storage: open the client of %s: %w", c.id, err)
	}
	ops := make([]*storage.Operation, trainprofile.GaugeShards)
	for i := range ops {
		ops[i] = storage.GetOperation(shardKey(i))
	}
	if err := client.Batch(ctx, ops...); err != nil {
		c.telemetry.StorageError(ctx, storageRead)
		_ = client.Close(ctx) // the first error says more
		return fmt.Errorf("storage: read the rows: %w", err)
	}
	for i, op := range ops {
		if err := c.engine.Restore(op.Value, c.now()); err != nil {
			c.telemetry.StorageError(ctx, storageDamaged)
			c.logger.Warn("Ignored a damaged value of the storage; its rows are seen for the first time again", zap.String("key", shardKey(i)), zap.Error(err))
		}
	}
	c.client = client
	return nil
}

// save writes the parts of the state that changed, in one operation. When the storage refuses, work goes on in memory and the
// next call tries again.
func (c *records) save(ctx context.Context) {
	if c.client == nil {
		return
	}
	parts, err := c.engine.Changed()
	if err == nil && len(parts) > 0 {
		ops := make([]*storage.Operation, 0, len(parts))
		for shard, data := range parts {
			if len(data) == 0 {
				ops = append(ops, storage.DeleteOperation(shardKey(shard)))
			} else {
				ops = append(ops, storage.SetOperation(shardKey(shard), data))
			}
		}
		err = c.client.Batch(ctx, ops...)
	}
	if err == nil {
		return
	}
	for shard := range parts {
		c.engine.Keep(shard)
	}
	c.telemetry.StorageError(ctx, storageWrite)
	if _, due := c.unsaved.Note("", 1); due {
		c.logger.Warn("Storage refuses what was seen of the gauges, trying again", zap.Error(err))
	}
}

// close ends the use of the storage.
func (c *records) close(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil // the next consumer hangs in a call, which may still write
	}
	if c.client == nil {
		return nil
	}
	client := c.client
	c.client = nil
	return client.Close(ctx)
}
