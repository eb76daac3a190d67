package collector

import "syscall"

// endWithParent has the kernel end the collector when the test binary dies, so that an interrupted run leaves no process behind.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
