package componentkit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// ErrStorageDamaged says that what a storage holds cannot be read.
var ErrStorageDamaged = errors.New("the stored file is damaged")

// OpenClient opens the client of a storage extension. file_storage maps its file into memory, and one that was cut ends the process when
// it is read: here that is an error, which file_storage heals itself with recreate, and which otherwise says what to do. Only the
// calling goroutine is guarded, so only the opening is.
func OpenClient(ctx context.Context, st storage.Extension, kind component.Kind, id component.ID, name string) (storage.Client, error) {
	return Guarded(func() (storage.Client, error) { return st.GetClient(ctx, kind, id, name) }, kind, id, name)
}

// Guarded is OpenClient for a client that is opened in another way.
func Guarded(open func() (storage.Client, error), kind component.Kind, id component.ID, name string) (client storage.Client, err error) {
	before := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(before)
	defer func() {
		if why := recover(); why != nil {
			client, err = nil, remedy(fmt.Errorf("%w: %v", ErrStorageDamaged, why), kind, id, name)
		}
	}()
	if client, err = open(); err != nil {
		return nil, remedy(err, kind, id, name)
	}
	return client, nil
}

// remedy says what to do about a client that cannot be opened.
func remedy(err error, kind component.Kind, id component.ID, name string) error {
	text := err.Error()
	switch {
	case text == "timeout":
		return fmt.Errorf("%w; another process, pipeline or component holds it: stop that one, use another id, or give this collector a storage folder of its own", err)
	case errors.Is(err, ErrStorageDamaged), strings.Contains(text, "invalid database"), strings.Contains(text, "file size too small"),
		strings.Contains(text, "checksum error"), strings.Contains(text, "version mismatch"):
		file := strings.ToLower(kind.String()) + "_" + id.Type().String() + "_" + id.Name()
		if name != "" {
			file += "_" + name
		}
		if !errors.Is(err, ErrStorageDamaged) {
			err = fmt.Errorf("%w: %w", ErrStorageDamaged, err)
		}
		return fmt.Errorf("%w; move the file %s of the storage's folder away and start again: streams are read anew, results that are written stay", err, file)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; give the collector's user permission to write the storage's folder", err)
	default:
		return err
	}
}
