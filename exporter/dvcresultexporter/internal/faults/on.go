//go:build faults

package faults

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
)

// On says whether this build has fault points.
const On = true

// The environment of a test: the number of the point at which to die, 0 for none, and a file that receives the names of the points.
const (
	dieAtEnv = "OTELCOL_TRAIN_FAULT_AT"
	traceEnv = "OTELCOL_TRAIN_FAULT_TRACE"
)

var points struct {
	sync.Mutex
	n int
}

// Point counts a point, and dies there as kill -9 would if the test says so.
func Point(name string) {
	points.Lock()
	defer points.Unlock()
	points.n++
	if path := os.Getenv(traceEnv); path != "" {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, _ = fmt.Fprintln(f, name)
			_ = f.Close()
		}
	}
	if at, err := strconv.Atoi(os.Getenv(dieAtEnv)); err == nil && at == points.n {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}
