package digest

import (
	"context"
	"crypto/md5" //nolint:gosec // DVC names files by it
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Status says what became of a digest.
type Status string

// The statuses.
const (
	OK                Status = "ok"
	Pending           Status = "pending"
	Missing           Status = "missing"
	TooLarge          Status = "too_large"
	RefusedOutside    Status = "refused_outside_roots"
	RefusedNotRegular Status = "refused_not_regular"
	ChangedDuringHash Status = "changed_during_hash"
	Timeout           Status = "timeout"
	Error             Status = "error"
	chunk                    = 1 << 20
	attempts                 = 2
)

// The kinds.
const (
	File   = "file"
	Folder = "directory"
)

// Digest is what is known of a file or a folder.
type Digest struct {
	Status Status `json:"status"`
	Kind   string `json:"kind,omitempty"`
	Size   int64  `json:"size,omitempty"`
	Files  int64  `json:"files,omitempty"` // of a folder
	SHA256 string `json:"sha256,omitempty"`
	MD5    string `json:"md5,omitempty"` // as DVC writes it: that of a folder ends in .dir
}

// refusal is an error with a status.
type refusal Status

func (r refusal) Error() string { return string(r) }

// Options say what may be read.
type Options struct {
	Roots          []string
	Map            []Mapping
	MaxFileBytes   int64 // of a file, and of all files of a folder
	BytesPerSecond int64
}

// reader reads for digests at a bounded rate.
type reader struct {
	opts     *Options
	ctx      context.Context
	progress func() // called for each piece
}

// digest finds a path below the roots and reads it. The first place that exists counts.
func (r *reader) digest(run, reported string) Digest {
	places := r.opts.places(run, reported)
	if len(places) == 0 {
		return Digest{Status: RefusedOutside}
	}
	status := Missing
	for _, p := range places {
		d := r.at(p)
		if d.Status != Missing && d.Status != RefusedOutside {
			return d
		}
		if d.Status == RefusedOutside {
			status = d.Status
		}
	}
	return Digest{Status: status}
}

func (r *reader) at(p place) Digest {
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return Digest{Status: statusOf(err)}
	}
	defer func() { _ = root.Close() }()
	for n := 1; ; n++ {
		d, err := r.read(root, p.name)
		if err == nil {
			d.Status = OK
			return d
		}
		if status := statusOf(err); status != ChangedDuringHash || n == attempts {
			return Digest{Status: status}
		}
	}
}

func (r *reader) read(root *os.Root, name string) (Digest, error) {
	info, err := root.Stat(name)
	if err != nil {
		return Digest{}, err
	}
	if info.IsDir() {
		return r.folder(root, name)
	}
	left := r.opts.MaxFileBytes
	sums, size, err := r.file(root, name, &left)
	return Digest{Kind: File, Size: size, SHA256: sums.sha256, MD5: sums.md5}, err
}

type sums struct{ sha256, md5 string }

// file reads a regular file. A FIFO or a device is not opened; should one take the place of the file meanwhile, opening does not wait.
func (r *reader) file(root *os.Root, name string, left *int64) (sums, int64, error) {
	info, err := root.Stat(name)
	if err != nil {
		return sums{}, 0, err
	}
	if !info.Mode().IsRegular() {
		return sums{}, 0, refusal(RefusedNotRegular)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return sums{}, 0, err
	}
	defer func() { _ = f.Close() }()
	before, err := f.Stat()
	if err != nil {
		return sums{}, 0, err
	}
	if !before.Mode().IsRegular() {
		return sums{}, 0, refusal(RefusedNotRegular)
	}
	if before.Size() > *left {
		return sums{}, 0, refusal(TooLarge)
	}
	out, n, err := r.copy(f, before.Size())
	if err != nil {
		return sums{}, 0, err
	}
	after, err := f.Stat()
	if err != nil {
		return sums{}, 0, err
	}
	now, err := root.Stat(name)
	if err != nil || n != before.Size() || !same(before, after) || !same(before, now) {
		return sums{}, 0, refusal(ChangedDuringHash)
	}
	*left -= n
	return out, n, nil
}

// same says that nothing wrote a file between two looks at it.
func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// copy reads a file to its end, one byte more than its size at most: a file that grows does not end.
func (r *reader) copy(f io.Reader, size int64) (sums, int64, error) {
	a, b := sha256.New(), md5.New()                            //nolint:gosec // no secret hangs on it
	piece := min(chunk, size+1, max(r.opts.BytesPerSecond, 1)) // a second's at most: a wait for the rate is none for the file system
	buf := make([]byte, piece)
	var n int64
	in := io.LimitReader(f, size+1)
	for {
		k, err := in.Read(buf)
		a.Write(buf[:k])
		b.Write(buf[:k])
		n += int64(k)
		if err == io.EOF {
			return sums{hex.EncodeToString(a.Sum(nil)), hex.EncodeToString(b.Sum(nil))}, n, nil
		}
		if err != nil {
			return sums{}, 0, err
		}
		r.progress()
		if err := r.slow(k); err != nil {
			return sums{}, 0, err
		}
	}
}

// slow waits as long as reading so many bytes may take.
func (r *reader) slow(n int) error {
	wait := time.NewTimer(time.Duration(float64(n) / float64(r.opts.BytesPerSecond) * float64(time.Second)))
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}

// entry is a file of a folder.
type entry struct {
	name string
	sums sums
}

// folder reads the files below a folder. A link to something outside of it is refused, and so is whatever is no file.
func (r *reader) folder(root *os.Root, name string) (Digest, error) {
	sub, err := root.OpenRoot(name)
	if err != nil {
		return Digest{}, err
	}
	defer func() { _ = sub.Close() }()
	names, err := r.list(sub)
	if err != nil {
		return Digest{}, err
	}
	d := Digest{Kind: Folder, Files: int64(len(names))}
	left := r.opts.MaxFileBytes
	entries := make([]entry, 0, len(names))
	for _, n := range names {
		s, size, err := r.file(sub, n, &left)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = refusal(ChangedDuringHash)
			}
			return Digest{}, err
		}
		d.Size += size
		entries = append(entries, entry{n, s})
	}
	again, err := r.list(sub)
	if err != nil || !slices.Equal(names, again) {
		return Digest{}, refusal(ChangedDuringHash)
	}
	text := sha256.New()
	for _, e := range entries {
		_, _ = text.Write([]byte(e.sums.sha256 + "  " + e.name + "\n"))
	}
	tree := md5.Sum(dvcTree(entries)) //nolint:gosec // DVC names folders by it
	d.SHA256, d.MD5 = hex.EncodeToString(text.Sum(nil)), hex.EncodeToString(tree[:])+".dir"
	return d, nil
}

func statusOf(err error) Status {
	var r refusal
	switch {
	case errors.As(err, &r):
		return Status(r)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return Missing
	case strings.Contains(err.Error(), "path escapes from parent"), errors.Is(err, syscall.ELOOP):
		return RefusedOutside
	default:
		return Error
	}
}
