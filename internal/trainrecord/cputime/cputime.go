// Package cputime measures what work takes of the processor, for tests that hold it to a limit: what else the machine does is not in it.
package cputime

import (
	"runtime"
	"time"
)

// Of gives the processor time of work, as far as its own goroutine does it.
func Of(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := clock()
	work()
	return clock() - began
}
