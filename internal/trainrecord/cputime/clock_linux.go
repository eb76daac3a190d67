package cputime

import (
	"syscall"
	"time"
)

// clock is the processor time of the calling thread.
func clock() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_THREAD, &u) // of the own thread it cannot fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
