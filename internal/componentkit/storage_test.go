package componentkit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

// opener is a storage extension of which only the opening counts.
type opener struct {
	component.Component
	open func() (storage.Client, error)
}

func (o opener) GetClient(context.Context, component.Kind, component.ID, string) (storage.Client, error) {
	return o.open()
}

// host has extensions and nothing else.
type host map[component.ID]component.Component

func (h host) GetExtensions() map[component.ID]component.Component { return h }

func TestAStorageThatIsNotThereSaysWhatToDo(t *testing.T) {
	t.Parallel()
	kept, other, missing := component.MustNewID("file_storage"), component.MustNewID("health_check"), component.MustNewIDWithName("file_storage", "state")
	h := host{kept: opener{}, other: opener{}.Component}
	st, err := FindStorage(h, kept)
	require.NoError(t, err)
	assert.Equal(t, h[kept], st)
	_, err = FindStorage(h, missing)
	require.EqualError(t, err, "storage: extension file_storage/state is not configured; add it to extensions and to service::extensions")
	_, err = FindStorage(h, other)
	require.EqualError(t, err, "storage: extension health_check is no storage, want one such as file_storage")
}

func TestAStorageThatCannotBeOpenedSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		open    func() (storage.Client, error)
		want    []string
		damaged bool
	}{
		"held":    {func() (storage.Client, error) { return nil, errors.New("timeout") }, []string{"timeout; another process, pipeline or component holds it"}, false},
		"invalid": {func() (storage.Client, error) { return nil, errors.New("invalid database") }, []string{"invalid database", "move the file exporter_x_"}, true},
		"short":   {func() (storage.Client, error) { return nil, errors.New("file size too small 1") }, []string{"move the file exporter_x_"}, true},
		"denied":  {func() (storage.Client, error) { return nil, fmt.Errorf("open: %w", os.ErrPermission) }, []string{"give the collector's user permission"}, false},
		"full": {func() (storage.Client, error) {
			return nil, &os.PathError{Op: "write", Path: "/state/exporter_x_", Err: syscall.ENOSPC}
		}, []string{"no space left on device; the storage's folder needs a disk with room that may be written: make some and start again"}, false},
		"read-only": {func() (storage.Client, error) { return nil, fmt.Errorf("open: %w", syscall.EROFS) }, []string{"read-only file system; the storage's folder needs"}, false},
		"other":     {func() (storage.Client, error) { return nil, errors.New("strange") }, []string{"strange"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := OpenClient(t.Context(), opener{open: tc.open}, zap.NewNop(), component.KindExporter, component.MustNewID("x"), "")
			for _, want := range tc.want {
				require.ErrorContains(t, err, want)
			}
			assert.Equal(t, tc.damaged, errors.Is(err, ErrStorageDamaged))
		})
	}
	_, err := OpenClient(t.Context(), opener{open: func() (storage.Client, error) { return storage.NewNopClient(), nil }}, zap.NewNop(), component.KindExporter, component.MustNewID("x"), "")
	require.NoError(t, err)
}

// TestADamagedFileIsFoundBeforeItIsOpened, however it was cut or overwritten.
func TestADamagedFileIsFoundBeforeItIsOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	db, err := bbolt.Open(whole, 0o600, &bbolt.Options{NoFreelistSync: true})
	require.NoError(t, err)
	for i := range 40 {
		require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("default"))
			if err != nil {
				return err
			}
			return b.Put(fmt.Appendf(nil, "key %d", i), make([]byte, 3000+i*100))
		}))
	}
	require.NoError(t, db.Close())
	require.NoError(t, trial(whole))
	require.NoError(t, trial(filepath.Join(dir, "none")))
	bytes, err := os.ReadFile(whole)
	require.NoError(t, err)
	for _, size := range []int{1, 4096, 8192, 12288, 30000, 60000, 100000} {
		path := filepath.Join(dir, fmt.Sprint(size))
		require.NoError(t, os.WriteFile(path, bytes[:size], 0o600))
		require.ErrorIs(t, trial(path), ErrStorageDamaged, size)
	}
	garbage := filepath.Join(dir, "garbage")
	require.NoError(t, os.WriteFile(garbage, append(bytes[:8192:8192], make([]byte, len(bytes)-8192)...), 0o600))
	require.ErrorIs(t, trial(garbage), ErrStorageDamaged)
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	require.NoError(t, trial(empty))
}

// TestTheFileOfAClientIsFoundByAnyID: file_storage replaces what may not stand in the name of a file.
func TestTheFileOfAClientIsFoundByAnyID(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"":      "receiver_x_",
		"a.b-c": "receiver_x_a.b-c",
		"a:b":   "receiver_x_a~003Ab",
		"ns/x~": "receiver_x_ns~002Fx~007E",
		"é":     "receiver_x_~00E9",
	} {
		assert.Equal(t, want, clientFile(component.KindReceiver, component.MustNewIDWithName("x", name), ""))
	}
}

// TestADamagedFileOfALongIDIsPutAside: file_storage gives a file whose name is too long the hash of it as its name.
func TestADamagedFileOfALongIDIsPutAside(t *testing.T) {
	t.Parallel()
	for _, n := range []int{200, 240, 300} { // that fit, that fit without the end of a file put aside, that do not fit
		dir := t.TempDir()
		name := clientFile(component.KindReceiver, component.MustNewIDWithName("x", strings.Repeat("n", n)), "")
		sum := sha256.Sum256([]byte(name))
		hashed := hex.EncodeToString(sum[:])
		want, wantAside := name, name
		if n == 300 {
			want = hashed
		}
		if n > 200 {
			wantAside = hashed
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, want), []byte("damaged"), 0o600))
		file, _, err := mend(dir, name, false)
		require.ErrorIs(t, err, ErrStorageDamaged)
		assert.Equal(t, want, file)
		_, aside, err := mend(dir, name, true)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(filepath.Base(aside), wantAside+"."), aside)
		assert.NoFileExists(t, filepath.Join(dir, want))
		assert.FileExists(t, aside)
	}
}
