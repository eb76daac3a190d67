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
	var stat unix.Statx_t
	var failed error
	err = conn.Control(func(fd uintptr) {
		failed = unix.Statx(int(fd), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &stat)
	})
	if err != nil || failed != nil || stat.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return stat.Btime.Sec*1e9 + int64(stat.Btime.Nsec)
}
