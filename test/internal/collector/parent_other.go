//go:build !linux

package collector

import "syscall"

// endWithParent has no portable form; an interrupted run may leave a collector behind.
func endWithParent() *syscall.SysProcAttr { return nil }
