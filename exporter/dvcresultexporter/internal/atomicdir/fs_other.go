//go:build !linux

package atomicdir

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"syscall"
)

// lockFile does nothing: on this platform one process alone may write a directory.
func lockFile(*os.File) error { return nil }

func freeBytes(*os.File) (uint64, error) { return math.MaxUint64, nil }

func syncDir(*os.File) error { return nil }

func isNoSpace(err error) bool { return errors.Is(err, syscall.ENOSPC) }

func isPermission(err error) bool { return errors.Is(err, fs.ErrPermission) }

// byHandle says that files are made and renamed by the names of their folders.
const byHandle = false

func createIn(*os.File, string) (File, error) { return nil, errors.ErrUnsupported }

func renameIn(*os.File, string, *os.File, string) error { return errors.ErrUnsupported }
