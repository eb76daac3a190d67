package componentcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// ErrCrashed is what a client answers after Crash.
var ErrCrashed = errors.New("storage client belongs to a crashed component")

// errClosed is what a client answers after Close.
var errClosed = errors.New("storage client is closed")

// StorageCall is one call on the storage, as a fault function sees it. Op is open, get, set, delete, batch, walk or close;
// Keys are the keys of the call, and Writes says whether it would change data.
type StorageCall struct {
	Op     string
	Client string
	Keys   []string
	Writes bool
}

// StorageHost is a component.Host whose storage extension keeps its data across clients.
type StorageHost struct {
	id  component.ID
	dir string

	mu       sync.Mutex
	data     map[string]map[string][]byte
	open     map[string]*storageClient
	fault    func(StorageCall) error
	calls    []StorageCall
	statuses []*componentstatus.Event
}

var (
	_ component.Host           = (*StorageHost)(nil)
	_ componentstatus.Reporter = (*StorageHost)(nil)
	_ storage.Extension        = (*storageExtension)(nil)
	_ storage.Client           = (*storageClient)(nil)
	_ storage.Walker           = (*storageClient)(nil)
)

// StorageOption changes a StorageHost.
type StorageOption func(*StorageHost)

// WithDirectory keeps the data in files in dir, so that another host, or another process, finds it.
func WithDirectory(dir string) StorageOption { return func(h *StorageHost) { h.dir = dir } }

// WithStorageID names the extension; the default is file_storage.
func WithStorageID(id component.ID) StorageOption { return func(h *StorageHost) { h.id = id } }

// NewStorageHost makes a host with an empty storage, or with what WithDirectory finds.
func NewStorageHost(t testing.TB, opts ...StorageOption) *StorageHost {
	t.Helper()
	h := &StorageHost{
		id:   component.MustNewID("file_storage"),
		data: map[string]map[string][]byte{},
		open: map[string]*storageClient{},
	}
	for _, opt := range opts {
		opt(h)
	}
	return h
}

// GetExtensions returns the storage extension.
func (h *StorageHost) GetExtensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{h.id: &storageExtension{host: h}}
}

// StorageID is the name that a configuration uses for the storage.
func (h *StorageHost) StorageID() component.ID { return h.id }

// Report notes a component's status.
func (h *StorageHost) Report(event *componentstatus.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.statuses = append(h.statuses, event)
}

// Statuses returns the statuses that were reported, oldest first.
func (h *StorageHost) Statuses() []componentstatus.Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]componentstatus.Status, 0, len(h.statuses))
	for _, event := range h.statuses {
		out = append(out, event.Status())
	}
	return out
}

// Fail asks fault before every call from now on; a call for which it returns an error fails and changes nothing.
// A nil function ends it. The function must not call the host.
func (h *StorageHost) Fail(fault func(StorageCall) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fault = fault
}

// FailWrites lets every Set, Delete and writing Batch fail with err; nil ends it.
func (h *StorageHost) FailWrites(err error) {
	if err == nil {
		h.Fail(nil)
		return
	}
	h.Fail(func(call StorageCall) error {
		if call.Writes {
			return err
		}
		return nil
	})
}

// Crash does to the clients what kill -9 would: what was written stays, every later call of an open client fails with
// ErrCrashed, and its name can be opened again.
func (h *StorageHost) Crash() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.open {
		c.dead = ErrCrashed
	}
	clear(h.open)
}

// OpenClients names the clients that were not closed.
func (h *StorageHost) OpenClients() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.open))
}

// Calls returns every call so far, failed ones included: a test of order reads it.
func (h *StorageHost) Calls() []StorageCall {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.calls)
}

// Data returns a copy of what the client of that name has stored. Names look like "receiver_train_jsonl_logs".
func (h *StorageHost) Data(client string) map[string][]byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make(map[string][]byte, len(h.data[client]))
	for key, value := range h.data[client] {
		out[key] = slices.Clone(value)
	}
	return out
}

// admit notes a call and asks for a fault. The caller holds the lock.
func (h *StorageHost) admit(call StorageCall) error {
	h.calls = append(h.calls, call)
	if h.fault == nil {
		return nil
	}
	return h.fault(call)
}

func (h *StorageHost) load(client string) error {
	if h.dir == "" || h.data[client] != nil {
		return nil
	}
	text, err := os.ReadFile(h.file(client))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	stored := map[string][]byte{}
	if err := json.Unmarshal(text, &stored); err != nil {
		return fmt.Errorf("%s: %w", h.file(client), err)
	}
	h.data[client] = stored
	return nil
}

// replace makes next the client's data, in the file first.
func (h *StorageHost) replace(client string, next map[string][]byte) error {
	if h.dir != "" {
		text, err := json.Marshal(next)
		if err != nil {
			return err
		}
		tmp := h.file(client) + ".tmp"
		if err := os.WriteFile(tmp, text, 0o600); err != nil {
			return err
		}
		if err := os.Rename(tmp, h.file(client)); err != nil {
			return err
		}
	}
	h.data[client] = next
	return nil
}

func (h *StorageHost) file(client string) string {
	return filepath.Join(h.dir, url.PathEscape(client)+".json")
}

// storageExtension is the extension of a StorageHost.
type storageExtension struct {
	component.StartFunc
	component.ShutdownFunc

	host *StorageHost
}

// GetClient opens a client; a name that is open is refused, as file_storage does after its timeout.
func (e *storageExtension) GetClient(_ context.Context, kind component.Kind, id component.ID, name string) (storage.Client, error) {
	h := e.host
	h.mu.Lock()
	defer h.mu.Unlock()
	client := clientName(kind, id, name)
	if err := h.admit(StorageCall{Op: "open", Client: client}); err != nil {
		return nil, err
	}
	if h.open[client] != nil {
		return nil, fmt.Errorf("storage client %s is open already", client)
	}
	if err := h.load(client); err != nil {
		return nil, err
	}
	c := &storageClient{host: h, name: client}
	h.open[client] = c
	return c, nil
}
