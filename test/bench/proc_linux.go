package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endWithParent has the kernel end the collector when the bench dies.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// cpuTime is what all threads of a process have used, those that ended included, in nanoseconds and not in ticks.
func cpuTime(pid int) (time.Duration, error) {
	const schedClock = 2
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|schedClock), &ts); err != nil { //nolint:gosec // the kernel's own encoding of a process's clock
		return 0, fmt.Errorf("CPU clock of process %d: %w", pid, err)
	}
	return time.Duration(ts.Nano()), nil
}

// kernelTime is what all threads of a process have used in the kernel, in its ticks.
func kernelTime(pid int) (time.Duration, error) {
	const ticks = 100 // a second, in what the kernel shows on every platform that Go runs on
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(f) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat: %d fields after the name, want 13", pid, len(f))
	}
	n, err := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(n) * time.Second / ticks, err
}

// peakRSS is the most memory that a process has had, in bytes.
func peakRSS(pid int) (int64, error) {
	kib, err := procField(pid, "status", "VmHWM:")
	return kib << 10, err
}

// ownMemory is the memory that a process has now and shares with no file: pages of a storage's file come and go.
func ownMemory(pid int) (int64, error) {
	kib, err := procField(pid, "status", "RssAnon:")
	return kib << 10, err
}

// writtenBytes is what a process has given to disks.
func writtenBytes(pid int) (int64, error) { return procField(pid, "io", "write_bytes:") }

// givenBytes is what a process has written to files and sockets, whenever they reach a disk.
func givenBytes(pid int) (int64, error) { return procField(pid, "io", "wchar:") }

func procField(pid int, file, name string) (int64, error) {
	path := fmt.Sprintf("/proc/%d/%s", pid, file)
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		if f := strings.Fields(string(line)); len(f) >= 2 && f[0] == name {
			return strconv.ParseInt(f[1], 10, 64)
		}
	}
	return 0, fmt.Errorf("%s: no line %s", path, name)
}
