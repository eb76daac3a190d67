package componentkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// opener is a storage extension of which only the opening counts.
type opener struct {
	component.Component
	open func() (storage.Client, error)
}

func (o opener) GetClient(context.Context, component.Kind, component.ID, string) (storage.Client, error) {
	return o.open()
}

func TestAStorageThatCannotBeOpenedSaysWhatToDo(t *testing.T) {
	t.Parallel()
	cut := filepath.Join(t.TempDir(), "cut")
	require.NoError(t, os.WriteFile(cut, make([]byte, 1<<20), 0o600))
	for name, tc := range map[string]struct {
		open    func() (storage.Client, error)
		want    []string
		damaged bool
	}{
		"held":    {func() (storage.Client, error) { return nil, errors.New("timeout") }, []string{"timeout; another process, pipeline or component holds it"}, false},
		"invalid": {func() (storage.Client, error) { return nil, errors.New("invalid database") }, []string{"invalid database", "move the file exporter_x_"}, true},
		"short":   {func() (storage.Client, error) { return nil, errors.New("file size too small 1") }, []string{"move the file exporter_x_"}, true},
		"denied":  {func() (storage.Client, error) { return nil, fmt.Errorf("open: %w", os.ErrPermission) }, []string{"give the collector's user permission"}, false},
		"other":   {func() (storage.Client, error) { return nil, errors.New("strange") }, []string{"strange"}, false},
		"panic":   {func() (storage.Client, error) { panic("page 29") }, []string{"page 29", "move the file exporter_x_"}, true},
		"cut off": {func() (storage.Client, error) { return nil, readCut(cut) }, []string{"invalid memory address", "move the file exporter_x_"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := OpenClient(t.Context(), opener{open: tc.open}, component.KindExporter, component.MustNewID("x"), "")
			for _, want := range tc.want {
				require.ErrorContains(t, err, want)
			}
			assert.Equal(t, tc.damaged, errors.Is(err, ErrStorageDamaged))
		})
	}
	_, err := OpenClient(t.Context(), opener{open: func() (storage.Client, error) { return storage.NewNopClient(), nil }}, component.KindExporter, component.MustNewID("x"), "")
	require.NoError(t, err)
}

// readCut reads what is mapped of a file beyond its end, which the kernel answers with a bus error.
func readCut(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := syscall.Mmap(int(f.Fd()), 0, 1<<20, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Munmap(b) }()
	if err := f.Truncate(0); err != nil {
		return err
	}
	return fmt.Errorf("read %d", b[1<<19])
}
