package atomicdir

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes an open-file-description lock: the kernel frees it with the descriptor, so a killed process leaves none,
// and two openings in one process exclude each other.
func lockFile(f *os.File) error {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return ErrLocked
	}
	return err
}

func freeBytes(f *os.File) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err != nil {
		return 0, err
	}
	return st.Bavail * uint64(st.Bsize), nil
}

// syncDir makes renames in a directory durable. File systems that cannot sync a directory answer EINVAL.
func syncDir(d *os.File) error {
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}

func isNoSpace(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

func isPermission(err error) bool {
	return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EROFS)
}

// byHandle says that files are made and renamed in open folders.
const byHandle = true

// createIn makes a file in an open folder. The name has no folder in it, and is not followed.
func createIn(dir *os.File, name string) (File, error) {
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	var fd int
	err := untilDone(func() (err error) {
		fd, err = unix.Openat(int(dir.Fd()), name, flags, fileMode)
		return err
	})
	if err != nil {
		return nil, &os.PathError{Op: "openat", Path: name, Err: err}
	}
	return plainFile(fd), nil
}

// renameIn renames between two open folders. The names have no folder in them, and neither is followed.
func renameIn(source *os.File, from string, target *os.File, to string) error {
	err := untilDone(func() error { return unix.Renameat(int(source.Fd()), from, int(target.Fd()), to) })
	if err != nil {
		return &os.LinkError{Op: "renameat", Old: from, New: to, Err: err}
	}
	return nil
}

// plainFile is a file's descriptor. An os.File asks the kernel five times whether it can be waited for, which a file of a disk never can.
type plainFile int

// Write also has the bytes begin their way to the disk, so that a sync of many files waits for all at once.
func (f plainFile) Write(b []byte) (int, error) {
	written := 0
	for written < len(b) {
		var n int
		err := untilDone(func() (err error) {
			n, err = unix.Write(int(f), b[written:])
			return err
		})
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return written, os.NewSyscallError("write", err)
		}
		written += n
	}
	_ = unix.SyncFileRange(int(f), 0, 0, unix.SYNC_FILE_RANGE_WRITE) // where it fails, the sync does it all, and says why
	return written, nil
}

func (f plainFile) Sync() error {
	return os.NewSyscallError("fsync", untilDone(func() error { return unix.Fsync(int(f)) }))
}

// Close is not tried again: the descriptor is gone, whatever the answer.
func (f plainFile) Close() error {
	if err := unix.Close(int(f)); err != nil && !errors.Is(err, unix.EINTR) {
		return os.NewSyscallError("close", err)
	}
	return nil
}

// untilDone repeats a call that a signal ended early.
func untilDone(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
