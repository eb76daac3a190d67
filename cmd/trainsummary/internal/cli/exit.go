package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/pathologize/otelcol-train/internal/trainview"
)

// Exit codes.
const (
	exitOK       = 0
	exitInternal = 1
	exitUsage    = 2
	exitFailed   = 10
	exitAborted  = 11
	exitStalled  = 12
	exitUnknown  = 13
	exitTooSoon  = 14 // finished before the condition was met
	exitPartly   = 20
	exitTimeout  = 124
)

// fault is an error with what a caller needs to act on it.
type fault struct {
	Message string `json:"error"`
	Code    string `json:"code"`
	Hint    string `json:"hint"`
	exit    int
}

func (f *fault) Error() string { return f.Message }

func usage(hint, format string, args ...any) error {
	return &fault{Message: fmt.Sprintf(format, args...), Code: "usage", Hint: hint, exit: exitUsage}
}

func unreadable(hint, format string, args ...any) error {
	return &fault{Message: fmt.Sprintf(format, args...), Code: "unreadable", Hint: hint, exit: exitInternal}
}

func asFault(err error) *fault {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	return &fault{Message: err.Error(), Code: "internal", Hint: "run trainsummary --help", exit: exitInternal}
}

// report writes an error for whoever reads the output.
func report(w io.Writer, err error, asJSON bool) {
	f := asFault(err)
	safe := *f
	safe.Message = trainview.Safe(f.Message, 512)
	safe.Hint = trainview.Safe(f.Hint, 512)
	if asJSON {
		if b, err := trainview.Encode(safe); err == nil {
			_, _ = w.Write(b) // there is nobody left to tell
			return
		}
	}
	_, _ = fmt.Fprintf(w, "trainsummary: %s\n", safe.Message)
	if safe.Hint != "" {
		_, _ = fmt.Fprintf(w, "%s\n", safe.Hint)
	}
}

// exitOf is the code of a state.
func exitOf(d *trainview.Document) int {
	switch d.State {
	case trainview.Failed:
		return exitFailed
	case trainview.Aborted:
		return exitAborted
	case trainview.Stalled:
		return exitStalled
	case trainview.Unknown:
		return exitUnknown
	default:
		return exitOK
	}
}
