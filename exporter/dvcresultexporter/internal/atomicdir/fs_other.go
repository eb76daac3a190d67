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

// renamesHeld says that a rename goes by the names of the folders.
const renamesHeld = false

func renameHeld(*os.File, string, *os.File, string) error { return errors.ErrUnsupported }
