package componentcheck

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// clientName is kind, type, name and storage name, as file_storage names its files.
func clientName(kind component.Kind, id component.ID, name string) string {
	parts := []string{strings.ToLower(kind.String()), id.Type().String()}
	for _, part := range []string{id.Name(), name} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "_")
}

// storageClient is one open client of a StorageHost.
type storageClient struct {
	host *StorageHost
	name string
	dead error
}

// Get returns a copy of the value, or nil.
func (c *storageClient) Get(ctx context.Context, key string) ([]byte, error) {
	op := storage.GetOperation(key)
	err := c.apply(ctx, "get", op)
	return op.Value, err
}

// Set stores a copy of the value.
func (c *storageClient) Set(ctx context.Context, key string, value []byte) error {
	return c.apply(ctx, "set", storage.SetOperation(key, value))
}

// Delete removes the key.
func (c *storageClient) Delete(ctx context.Context, key string) error {
	return c.apply(ctx, "delete", storage.DeleteOperation(key))
}

// Batch does all operations or none.
func (c *storageClient) Batch(ctx context.Context, ops ...*storage.Operation) error {
	return c.apply(ctx, "batch", ops...)
}

func (c *storageClient) apply(ctx context.Context, name string, ops ...*storage.Operation) error {
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	call := StorageCall{Op: name, Client: c.name}
	for _, op := range ops {
		call.Keys = append(call.Keys, op.Key)
		call.Writes = call.Writes || op.Type != storage.Get
	}
	if err := c.ready(ctx, call); err != nil {
		return err
	}
	return c.commit(ops, call.Writes)
}

// ready says whether a call may go on. The caller holds the host's lock.
func (c *storageClient) ready(ctx context.Context, call StorageCall) error {
	if c.dead != nil {
		return c.dead
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.host.admit(call)
}

// commit works on a copy, so that nothing has happened if it fails.
func (c *storageClient) commit(ops []*storage.Operation, writes bool) error {
	next := c.host.data[c.name]
	if writes {
		if next = maps.Clone(next); next == nil {
			next = map[string][]byte{}
		}
	}
	for _, op := range ops {
		switch op.Type {
		case storage.Get:
			op.Value = slices.Clone(next[op.Key])
		case storage.Set:
			next[op.Key] = append([]byte{}, op.Value...)
		case storage.Delete:
			delete(next, op.Key)
		}
	}
	if !writes {
		return nil
	}
	return c.host.replace(c.name, next)
}

// Walk calls fn for every key in order, then applies the operations it returned.
func (c *storageClient) Walk(ctx context.Context, fn storage.WalkFunc) error {
	c.host.mu.Lock()
	err := c.ready(ctx, StorageCall{Op: "walk", Client: c.name})
	c.host.mu.Unlock()
	if err != nil {
		return err
	}
	stored := c.host.Data(c.name)
	var todo []*storage.Operation
	for _, key := range slices.Sorted(maps.Keys(stored)) {
		ops, err := fn(key, stored[key])
		todo = append(todo, ops...)
		if errors.Is(err, storage.SkipAll) {
			break
		}
		if err != nil {
			return err
		}
	}
	if len(todo) == 0 {
		return nil
	}
	return c.Batch(ctx, todo...)
}

// Close frees the name; the data stays. Close of a crashed or closed client does nothing.
func (c *storageClient) Close(context.Context) error {
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	if c.dead != nil {
		return nil
	}
	if err := c.host.admit(StorageCall{Op: "close", Client: c.name}); err != nil {
		return err
	}
	c.dead = errClosed
	delete(c.host.open, c.name)
	return nil
}
