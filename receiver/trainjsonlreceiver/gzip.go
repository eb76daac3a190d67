package trainjsonlreceiver

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"
)

const (
	gzipSuffix = ".gz"
	gzipRead   = 16 << 10                  // of a packed file at a time
	gzipKeep   = beforeBytes + 2*turnBytes // of what was unpacked last
)

func isGzip(path string) bool { return strings.HasSuffix(path, gzipSuffix) }

// mayMatchPacked says whether a glob may match packed files; where it is in doubt, that it does.
func mayMatchPacked(glob string) bool {
	return glob != "" && (isGzip(glob) || strings.ContainsAny(glob[len(glob)-1:], "*?]}"))
}

// version tells a state of a packed file from a later one.
type version struct{ size, mod int64 }

func versionOf(fi fs.FileInfo) version { return version{size: fi.Size(), mod: fi.ModTime().UnixNano()} }

// gzipFiles shows packed files as what is in them: their size, once it is known, and their bytes.
type gzipFiles struct {
	fileSystem
	keyFor func(fi fs.FileInfo, path string) fileKey // what a file is known by
	mu     sync.Mutex
	sizes  map[fileKey]unpackedSize
}

type unpackedSize struct {
	of   version
	size int64
}

func newGzipFiles(under fileSystem, keyFor func(fi fs.FileInfo, path string) fileKey) *gzipFiles {
	return &gzipFiles{fileSystem: under, keyFor: keyFor, sizes: map[fileKey]unpackedSize{}}
}

// Stat gives the unpacked size of a packed file; its own as long as that is not known.
func (g *gzipFiles) Stat(name string) (fs.FileInfo, error) {
	fi, err := g.fileSystem.Stat(name)
	if err != nil || !isGzip(name) {
		return fi, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if known, ok := g.sizes[g.keyFor(fi, name)]; ok && known.of == versionOf(fi) {
		return sized{fi, known.size}, nil
	}
	return fi, nil
}

// Open opens a packed file as what is in it.
func (g *gzipFiles) Open(name string) (openFile, error) {
	f, err := g.fileSystem.Open(name)
	if err != nil || !isGzip(name) {
		return f, err
	}
	return &gzipFile{openFile: f, alive: func() {}}, nil
}

func (g *gzipFiles) set(k fileKey, u unpackedSize) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sizes[k] = u
}

func (g *gzipFiles) forget(k fileKey) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.sizes, k)
}

// sized is a file with another size.
type sized struct {
	fs.FileInfo
	size int64
}

// Size is that of what is in the file.
func (s sized) Size() int64 { return s.size }

// gzipFile unpacks a file as it is read, nearly always forwards. It is used by one turn at a time.
type gzipFile struct {
	openFile
	of    version
	size  int64  // of what can be unpacked
	alive func() // called often: unpacking a large file lasts, and hangs not

	reader *gzip.Reader // at the byte pos; nil before the first read
	pos    int64
	keep   []byte // the bytes before pos
	hold   int64  // the first byte that will be wanted again
	most   int64  // bytes to keep for that
}

// Stat gives the unpacked size.
func (g *gzipFile) Stat() (fs.FileInfo, error) {
	fi, err := g.openFile.Stat()
	if err != nil {
		return nil, err
	}
	return sized{fi, g.size}, nil
}

// measure unpacks the file once, to know how many bytes can be read and whether it is sound (flaw is nil). It stops with
// the context.
func (g *gzipFile) measure(ctx context.Context, of version) (flaw, err error) {
	buf := make([]byte, 64<<10)
	src := g.packedBytes()
	var size int64
	reader, err := gzip.NewReader(bufio.NewReaderSize(src, gzipRead))
	for err == nil && ctx.Err() == nil {
		g.alive()
		var n int
		n, err = reader.Read(buf)
		size += int64(n)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case src.err != nil:
		return nil, src.err
	case errors.Is(err, io.EOF):
		err = nil
	}
	g.of, g.size = of, size
	g.reader, g.pos, g.keep = nil, 0, nil
	return err, nil
}

// ReadAt reads unpacked bytes.
func (g *gzipFile) ReadAt(buf []byte, at int64) (n int, err error) {
	want := buf[:max(min(int64(len(buf)), g.size-at), 0)]
	for n < len(want) {
		here := at + int64(n)
		first := g.pos - int64(len(g.keep))
		switch {
		case here >= first && here < g.pos:
			n += copy(want[n:], g.keep[here-first:])
		case here < first || g.reader == nil:
			err = g.rewind()
		case here > g.pos:
			err = g.advance(min(here-g.pos, turnBytes))
		default:
			err = g.advance(min(int64(len(want)-n), turnBytes))
		}
		if err != nil {
			return n, err
		}
	}
	if len(want) < len(buf) {
		return n, io.EOF
	}
	return n, nil
}

func (g *gzipFile) rewind() (err error) {
	g.pos, g.keep = 0, g.keep[:0]
	g.reader, err = gzip.NewReader(bufio.NewReaderSize(g.packedBytes(), gzipRead))
	return err
}

// advance unpacks the next n bytes and keeps them.
func (g *gzipFile) advance(n int64) error {
	g.alive()
	wanted := int(min(max(g.pos-g.hold, gzipKeep), max(g.most, gzipKeep)))
	if more := len(g.keep) + int(n); len(g.keep) > wanted && (more > cap(g.keep) || cap(g.keep) > 4*(wanted+turnBytes)) {
		g.keep = append(make([]byte, 0, wanted+2*turnBytes), g.keep[len(g.keep)-wanted:]...)
	}
	from := len(g.keep)
	g.keep = slices.Grow(g.keep, int(n))[:from+int(n)]
	got, err := io.ReadFull(g.reader, g.keep[from:])
	g.keep = g.keep[:from+got]
	g.pos += int64(got)
	return err
}

// packedBytes reads a file in order, and remembers its errors apart from those of what is in it.
type packedBytes struct {
	io.Reader
	err error
}

func (g *gzipFile) packedBytes() *packedBytes {
	return &packedBytes{Reader: io.NewSectionReader(g.openFile, 0, math.MaxInt64)}
}

// Read reads on.
func (p *packedBytes) Read(buf []byte) (int, error) {
	n, err := p.Reader.Read(buf)
	if err != nil && !errors.Is(err, io.EOF) {
		p.err = err
	}
	return n, err
}
