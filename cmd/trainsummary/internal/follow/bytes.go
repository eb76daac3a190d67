package follow

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/source"
	"github.com/pathologize/otelcol-train/internal/trainlines"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const (
	readSize = 256 << 10
	headSize = 4 << 10
)

// errRestart says that a file is not the one that was read: it was truncated or replaced.
var errRestart = errors.New("the stream begins anew")

// identity tells a file from another at the same place.
type identity struct {
	dev, ino uint64
	head     uint32 // crc of its first bytes
	headLen  int
}

// file is a stream as bytes: where it was read to, and what is known of the bytes behind the last newline.
type file struct {
	ref     source.Ref
	id      identity
	known   bool
	size    int64 // on disk, when it was looked at last
	modTime int64
	offset  int64 // end of the last complete line
	torn    int64 // bytes behind it
	long    bool  // they are more than a line may be: they are passed over up to the next newline
	broken  error // why what is packed cannot be read to its end
}

func (f *file) packed() bool { return strings.HasSuffix(f.ref.Name, ".gz") }

// changed says whether there may be more to read.
func (f *file) changed(size, modTime int64) bool {
	return !f.known || size != f.size || modTime != f.modTime
}

// newBuffer is what read needs; one serves all files.
func newBuffer() []byte { return make([]byte, 0, 2*readSize) }

// read gives each complete line that was appended: its place and its bytes without the newline.
func (f *file) read(buf []byte, take func(offset int64, line []byte, tooLong bool)) error {
	src, err := f.ref.Open()
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }() // nothing was written
	if err := f.identify(src, buf); err != nil {
		return err
	}
	var r io.Reader = io.NewSectionReader(src, f.offset, max(f.size-f.offset, 0))
	if f.packed() {
		if f.offset > 0 {
			return errRestart // packed anew
		}
		zipped, err := gzip.NewReader(io.NewSectionReader(src, 0, f.size))
		if err != nil {
			f.broken = err
			return nil
		}
		r = zipped
	}
	f.broken = f.cut(r, buf, take)
	if f.broken != nil && !f.packed() {
		return f.broken
	}
	return nil
}

// identify makes sure that the file is still the one that was read.
func (f *file) identify(src *os.File, buf []byte) error {
	fi, err := src.Stat()
	if err != nil {
		return err
	}
	now := identity{headLen: int(min(fi.Size(), headSize))}
	now.dev, now.ino = inode(fi)
	head := buf[:now.headLen]
	if _, err := src.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if f.known {
		same := now.dev == f.id.dev && now.ino == f.id.ino && now.headLen >= f.id.headLen && fi.Size() >= f.offset
		if !same || crc32.ChecksumIEEE(head[:f.id.headLen]) != f.id.head {
			return errRestart
		}
	}
	now.head = crc32.ChecksumIEEE(head)
	f.id, f.known, f.size, f.modTime = now, true, fi.Size(), fi.ModTime().UnixNano()
	return nil
}

// cut reads to the end and gives the lines.
func (f *file) cut(r io.Reader, buf []byte, take func(offset int64, line []byte, tooLong bool)) error {
	at := f.offset // of buf's first byte
	f.torn = 0
	for {
		if cap(buf)-len(buf) < readSize {
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
		n, err := r.Read(buf[len(buf) : len(buf)+readSize])
		from := len(buf)
		buf = buf[:len(buf)+n]
		used := 0
		for {
			i := bytes.IndexByte(buf[max(from, used):], '\n')
			if i < 0 {
				break
			}
			end := max(from, used) + i
			if f.long {
				take(f.offset, nil, true)
			} else {
				take(at+int64(used), buf[used:end], false)
			}
			f.long = false
			used = end + 1
			f.offset = at + int64(used)
		}
		buf = buf[:copy(buf, buf[used:])]
		at += int64(used)
		nuls := trainlines.LeadingNULs(buf)
		if passed := nuls - trainlines.MinHole; passed > 0 { // what is left tells that there was a hole
			nuls, at, buf = trainlines.MinHole, at+int64(passed), buf[:copy(buf, buf[passed:])]
		}
		if len(buf)-nuls > trainrecord.MaxLine+len(trainlines.BOM) || f.long {
			f.long, f.torn = true, f.torn+int64(len(buf)) // its bytes are not needed
			at += int64(len(buf))
			buf = buf[:0]
		}
		switch {
		case errors.Is(err, io.EOF):
			f.torn = at + int64(len(buf)) - f.offset
			f.long = false // it is looked at from its beginning again
			return nil
		case err != nil:
			f.torn = at + int64(len(buf)) - f.offset
			f.long = false
			return fmt.Errorf("read: %w", err)
		}
	}
}
