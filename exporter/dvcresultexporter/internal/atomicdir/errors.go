package atomicdir

import (
	"errors"
	"fmt"
)

var (
	// ErrLocked says that another process writes the directory now.
	ErrLocked = errors.New("locked by another process")
	// ErrRefused says that a name on the way is not what the protocol made: a symbolic link or a file instead of a
	// directory.
	ErrRefused = errors.New("refused")
	// ErrLowSpace says that less than the configured number of bytes is free.
	ErrLowSpace = errors.New("too little free space")
)

// Reason sorts an error into a bounded set.
type Reason string

// Reasons of write errors.
const (
	ReasonNoSpace    Reason = "no_space"
	ReasonPermission Reason = "permission"
	ReasonLocked     Reason = "locked"
	ReasonRefused    Reason = "refused"
	ReasonIO         Reason = "io"
)

// ReasonOf gives the reason of an error.
func ReasonOf(err error) Reason {
	switch {
	case errors.Is(err, ErrLowSpace) || isNoSpace(err):
		return ReasonNoSpace
	case errors.Is(err, ErrLocked):
		return ReasonLocked
	case errors.Is(err, ErrRefused):
		return ReasonRefused
	case isPermission(err):
		return ReasonPermission
	default:
		return ReasonIO
	}
}

func refused(name, why string) error { return fmt.Errorf("%s: %w: %s", name, ErrRefused, why) }
