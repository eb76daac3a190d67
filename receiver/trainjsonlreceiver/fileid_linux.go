package trainjsonlreceiver

import (
	"os"

	"golang.org/x/sys/unix"
)

func born(f *os.File) int64 {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	var at int64
	if err := conn.Control(func(fd uintptr) { at = statBorn(int(fd), "", unix.AT_EMPTY_PATH) }); err != nil {
		return 0
	}
	return at
}

func bornAt(name string) int64 { return statBorn(unix.AT_FDCWD, name, 0) }

func statBorn(fd int, name string, flags int) int64 {
	var stat unix.Statx_t
	if err := unix.Statx(fd, name, flags, unix.STATX_BTIME, &stat); err != nil || stat.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return stat.Btime.Sec*1e9 + int64(stat.Btime.Nsec)
}
