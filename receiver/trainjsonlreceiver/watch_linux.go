package trainjsonlreceiver

import "golang.org/x/sys/unix"

// Numbers of file systems whose every change this host makes itself, and inotify tells.
const (
	superExt      = 0xef53
	superXFS      = 0x58465342
	superBtrfs    = 0x9123683e
	superF2FS     = 0xf2f52010
	superBcachefs = 0xca451a4e
	superZFS      = 0x2fc12fc1
	superTmpfs    = 0x01021994
	superRamfs    = 0x858458f6
	superOverlay  = 0x794c7630
)

// isLocal says whether a folder is on a file system of this host. On network file systems others write too, and of that
// nothing is told.
func isLocal(folder string) bool {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return false
	}
	switch uint32(st.Type) { //nolint:gosec // the numbers have 32 bits
	case superExt, superXFS, superBtrfs, superF2FS, superBcachefs, superZFS, superTmpfs, superRamfs, superOverlay:
		return true
	default:
		return false
	}
}
