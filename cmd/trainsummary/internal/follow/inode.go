package follow

import (
	"io/fs"
	"syscall"
)

// inode names a file on its device.
func inode(fi fs.FileInfo) (dev, ino uint64) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev), st.Ino //nolint:unconvert // int32 on some systems
	}
	return 0, 0
}
