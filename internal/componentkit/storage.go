package componentkit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

// ErrStorageDamaged says that what a storage holds cannot be read.
var ErrStorageDamaged = errors.New("the stored file is damaged")

// FindStorage gives the storage extension that a component's key storage names.
func FindStorage(host component.Host, id component.ID) (storage.Extension, error) {
	ext, found := host.GetExtensions()[id]
	if !found {
		return nil, fmt.Errorf("storage: extension %s is not configured; add it to extensions and to service::extensions", id)
	}
	st, ok := ext.(storage.Extension)
	if !ok {
		return nil, fmt.Errorf("storage: extension %s is no storage, want one such as file_storage", id)
	}
	return st, nil
}

// OpenClient opens the client of a storage extension. A damaged file of file_storage, which would end the process at each start, is put
// aside where recreate is set, which the logger tells, and otherwise an error that says what to do.
func OpenClient(ctx context.Context, st storage.Extension, logger *zap.Logger, kind component.Kind, id component.ID, name string) (storage.Client, error) {
	file, aside, err := heal(st, clientFile(kind, id, name))
	if err != nil {
		return nil, remedy(err, file)
	}
	if aside != "" {
		logger.Error("A stored file was damaged: it was put aside, and what it held is begun anew; results that are written stay", zap.String("file", aside))
	}
	client, err := st.GetClient(ctx, kind, id, name)
	if err != nil {
		return nil, remedy(err, file)
	}
	return client, nil
}

// remedy says what to do about a client that cannot be opened.
func remedy(err error, file string) error {
	switch {
	case err.Error() == "timeout":
		return fmt.Errorf("%w; another process, pipeline or component holds it: stop that one, use another id, or give this collector a storage folder of its own", err)
	case errors.Is(err, ErrStorageDamaged), isDamage(err):
		if !errors.Is(err, ErrStorageDamaged) {
			err = fmt.Errorf("%w: %w", ErrStorageDamaged, err)
		}
		return fmt.Errorf("%w; move the file %s of the storage's folder away and start again: streams are read anew, results that are written stay", err, file)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; give the collector's user permission to write the storage's folder", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w; the storage's folder needs a disk with room that may be written: make some and start again, rows wait in the trainers' files", err)
	default:
		return err
	}
}
