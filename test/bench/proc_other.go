//go:build !linux

package main

import (
	"errors"
	"syscall"
	"time"
)

var errLinux = errors.New("the bench reads /proc: run it on Linux")

func endWithParent() *syscall.SysProcAttr { return nil }

func cpuTime(int) (time.Duration, error) { return 0, errLinux }

func kernelTime(int) (time.Duration, error) { return 0, errLinux }

func peakRSS(int) (int64, error) { return 0, errLinux }

func ownMemory(int) (int64, error) { return 0, errLinux }

func writtenBytes(int) (int64, error) { return 0, errLinux }

func givenBytes(int) (int64, error) { return 0, errLinux }
