package componentcheck

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

func openClient(t *testing.T, h *StorageHost) storage.Client {
	t.Helper()
	c, err := tryOpen(t, h)
	require.NoError(t, err)
	return c
}

func tryOpen(t *testing.T, h *StorageHost) (storage.Client, error) {
	t.Helper()
	ext, ok := h.GetExtensions()[h.StorageID()].(storage.Extension)
	require.True(t, ok)
	return ext.GetClient(t.Context(), component.KindReceiver, component.MustNewIDWithName("x", "y"), "logs")
}

func get(t *testing.T, c storage.Client, key string) string {
	t.Helper()
	value, err := c.Get(t.Context(), key)
	require.NoError(t, err)
	return string(value)
}

func TestStorageOutlivesItsClients(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"memory": "", "directory": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := NewStorageHost(t, WithDirectory(dir))
			c := openClient(t, h)
			require.NoError(t, c.Set(t.Context(), "a", []byte("1")))
			require.NoError(t, c.Batch(t.Context(), storage.SetOperation("b", []byte("2")), storage.DeleteOperation("none")))
			require.NoError(t, c.Close(t.Context()))
			require.ErrorIs(t, c.Set(t.Context(), "a", nil), errClosed)
			if dir != "" {
				h = NewStorageHost(t, WithDirectory(dir))
			}
			again := openClient(t, h)
			assert.Equal(t, "1", get(t, again, "a"))
			assert.Equal(t, "2", get(t, again, "b"))
			missing, err := again.Get(t.Context(), "missing")
			require.NoError(t, err)
			assert.Nil(t, missing)
		})
	}
}

func TestStorageRefusesASecondClientOfTheSameName(t *testing.T) {
	t.Parallel()
	h := NewStorageHost(t)
	c := openClient(t, h)
	_, err := tryOpen(t, h)
	require.ErrorContains(t, err, "receiver_x_y_logs is open already")
	assert.Equal(t, []string{"receiver_x_y_logs"}, h.OpenClients())
	require.NoError(t, c.Close(t.Context()))
	openClient(t, h)
}

func TestCrashKeepsDataAndFailsOpenClients(t *testing.T) {
	t.Parallel()
	h := NewStorageHost(t)
	old := openClient(t, h)
	require.NoError(t, old.Set(t.Context(), "a", []byte("1")))
	h.Crash()
	require.ErrorIs(t, old.Set(t.Context(), "a", []byte("late")), ErrCrashed)
	require.NoError(t, old.Close(t.Context()))
	assert.Equal(t, "1", get(t, openClient(t, h), "a"))
}

func TestFaultsChangeNothing(t *testing.T) {
	t.Parallel()
	h := NewStorageHost(t)
	c := openClient(t, h)
	require.NoError(t, c.Set(t.Context(), "a", []byte("1")))
	full := errors.New("disk full")
	h.FailWrites(full)
	require.ErrorIs(t, c.Set(t.Context(), "a", []byte("2")), full)
	require.ErrorIs(t, c.Batch(t.Context(), storage.GetOperation("a"), storage.SetOperation("a", []byte("2"))), full)
	require.ErrorIs(t, c.Delete(t.Context(), "a"), full)
	assert.Equal(t, "1", get(t, c, "a"))
	h.FailWrites(nil)
	require.NoError(t, c.Set(t.Context(), "a", []byte("2")))
	assert.Equal(t, map[string][]byte{"a": []byte("2")}, h.Data("receiver_x_y_logs"))
	calls := h.Calls()
	assert.Equal(t, StorageCall{Op: "batch", Client: "receiver_x_y_logs", Keys: []string{"a", "a"}, Writes: true}, calls[3])
}

func TestStoredValuesAreCopies(t *testing.T) {
	t.Parallel()
	h := NewStorageHost(t)
	c := openClient(t, h)
	value := []byte("1")
	require.NoError(t, c.Set(t.Context(), "a", value))
	value[0] = '9'
	got, err := c.Get(t.Context(), "a")
	require.NoError(t, err)
	assert.Equal(t, "1", string(got))
	got[0] = '9'
	assert.Equal(t, "1", get(t, c, "a"))
}

func TestWalkAppliesItsOperations(t *testing.T) {
	t.Parallel()
	h := NewStorageHost(t)
	c := openClient(t, h)
	for _, key := range []string{"a", "b", "c"} {
		require.NoError(t, c.Set(t.Context(), key, []byte(key)))
	}
	walker, ok := c.(storage.Walker)
	require.True(t, ok)
	var seen []string
	require.NoError(t, walker.Walk(t.Context(), func(key string, _ []byte) ([]*storage.Operation, error) {
		seen = append(seen, key)
		if key == "b" {
			return []*storage.Operation{storage.DeleteOperation("a")}, storage.SkipAll
		}
		return nil, nil
	}))
	assert.Equal(t, []string{"a", "b"}, seen)
	assert.Equal(t, map[string][]byte{"b": []byte("b"), "c": []byte("c")}, h.Data("receiver_x_y_logs"))
	stop := errors.New("stop")
	require.ErrorIs(t, walker.Walk(t.Context(), func(string, []byte) ([]*storage.Operation, error) {
		return []*storage.Operation{storage.DeleteOperation("b")}, stop
	}), stop)
	assert.Equal(t, "b", get(t, c, "b"))
}

func TestCancelledContextEndsACall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, openClient(t, NewStorageHost(t)).Set(ctx, "a", nil), context.Canceled)
}

func TestHostNotesStatuses(t *testing.T) {
	t.Parallel()
	h := NewStorageHost(t, WithStorageID(component.MustNewID("other")))
	componentstatus.ReportStatus(h, componentstatus.NewRecoverableErrorEvent(errors.New("x")))
	assert.Equal(t, []componentstatus.Status{componentstatus.StatusRecoverableError}, h.Statuses())
	assert.Contains(t, h.GetExtensions(), component.MustNewID("other"))
}
