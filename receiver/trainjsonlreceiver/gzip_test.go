package trainjsonlreceiver

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
)

// packed gives a text as gzip, a member for each of its parts.
func packed(t *testing.T, parts ...string) string {
	t.Helper()
	var b bytes.Buffer
	for _, part := range parts {
		w := gzip.NewWriter(&b)
		_, err := w.Write([]byte(part))
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
	return b.String()
}

// pack writes a packed file that has not changed for a while.
func (r *rig) pack(name, bytes string) {
	r.write(name, bytes)
	r.settle(name, time.Minute)
}

func (r *rig) settle(name string, age time.Duration) {
	at := time.Now().Add(-age)
	require.NoError(r.t, os.Chtimes(r.path(name), at, at))
}

func newPackedRig(t *testing.T) *rig {
	r := newRig(t)
	r.cfg.Include = append(r.cfg.Include, strings.Replace(r.cfg.Include[0], "*.jsonl", "*.gz", 1))
	return r
}

// stepAndClose reads what there is, saves, and ends the tailer as a stop does.
func (r *rig) stepAndClose() {
	r.t.Helper()
	tl := r.open()
	tl.step(context.Background())
	require.NoError(r.t, tl.save(context.Background()))
	require.NoError(r.t, tl.close(context.Background()))
}

// uids gives those of the records whose path ends so.
func (r *rig) uids(suffix string) (out []string) {
	for _, g := range r.sink.got() {
		if strings.HasSuffix(g.path, suffix) {
			out = append(out, g.uid)
		}
	}
	return out
}

func TestAPackedStreamIsReadAsTheStreamItWas(t *testing.T) {
	t.Parallel()
	long := `{"ts":1790000000,"event":"log","body":{"i":7,"pad":"` + strings.Repeat("x", 3<<20) + `"}}` + "\n"
	for name, parts := range map[string][]string{
		"one":            {rows(0, 10)},
		"members":        {rows(0, 3) + `{"ts":1790000000,"ev`, `ent":"log","body":{"i":3}}` + "\n", rows(4, 2)},
		"empty member":   {"", rows(0, 1), ""},
		"many turns":     {rows(0, 20_000)},
		"long line":      {rows(0, 1) + long + rows(2, 3000) + long},
		"nothing":        {""},
		"blank end":      {rows(0, 2) + "\n\n"},
		"no newline":     {rows(0, 2) + `{"ts":1`},
		"overlong lines": {rows(0, 1) + strings.Repeat("y", 17<<20) + "\n" + rows(1, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plain := readAll(t, strings.Join(parts, ""), nil)
			r := newPackedRig(t)
			r.pack("run7/train.jsonl.gz", packed(t, parts...))
			r.stepAndClose()
			assert.Equal(t, plain.uids("train.jsonl"), r.uids("train.jsonl.gz"))
			n := len(r.sink.got())
			r.stepAndClose()
			assert.Len(t, r.sink.got(), n, "read again after a restart")
			for _, l := range r.lines() {
				assert.NotContains(t, l, "read_errors")
			}
		})
	}
}

func TestAPackedFileIsReadOnFromWhereItWas(t *testing.T) {
	t.Parallel()
	text := rows(0, 9000)
	r := newPackedRig(t)
	r.pack("run7/train.jsonl.gz", packed(t, text))
	for range 5 { // a turn, then a kill
		tl := r.open()
		tl.turnSize = 64 << 10
		tl.poll(context.Background(), time.Now())
		if s := tl.pop(); s != nil {
			tl.run(context.Background(), s, &permit{free: func() {}})
		}
		require.NoError(t, tl.save(context.Background()))
		tl.handles.closeAll()
		r.host.Crash()
	}
	r.stepAndClose()
	assert.Equal(t, rowsAt(text, 0), r.sink.of(".gz"))
}

func TestAPackedFileThatGrows(t *testing.T) {
	t.Parallel()
	r := newPackedRig(t)
	r.pack("run7/train.jsonl.gz", packed(t, rows(0, 3)))
	tl := r.open()
	tl.step(context.Background())
	r.append("run7/train.jsonl.gz", packed(t, rows(3, 2)))
	tl.step(context.Background())
	assert.Len(t, r.sink.got(), 3, "it is not read while it is written")
	r.settle("run7/train.jsonl.gz", gzipSettle)
	tl.step(context.Background())
	require.NoError(t, tl.close(context.Background()))
	assert.Equal(t, rowsAt(rows(0, 5), 0), r.sink.of(".gz"))
}

func TestWhatIsReadableOfADamagedPackedFileIsDelivered(t *testing.T) {
	t.Parallel()
	text := rows(0, 2000)
	whole := packed(t, text)
	rnd := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // test data
	noise := make([]byte, 20_000)
	for i := range noise {
		noise[i] = byte('a' + rnd.IntN(26))
	}
	flipped := []byte(packed(t, rows(0, 500)+string(noise)+"\n"+rows(500, 500)))
	flipped[len(flipped)/2] ^= 0xff
	for name, c := range map[string]struct {
		bytes, reason string
		least         int
	}{
		"truncated":       {whole[:len(whole)/2], gzipTruncated, 500},
		"no end":          {whole[:len(whole)-8], gzipTruncated, 2000},
		"half a header":   {whole[:5], gzipTruncated, 0},
		"checksum":        {whole[:len(whole)-5] + "xxxxx", gzipCorrupt, 2000},
		"rest":            {whole + nul(100), gzipCorrupt, 2000},
		"corrupt":         {string(flipped), gzipCorrupt, 400},
		"no gzip":         {rows(0, 3), gzipCorrupt, 0},
		"second is torn":  {whole + whole[:20], gzipTruncated, 2000},
		"second is noise": {whole + "noise that is no gzip", gzipCorrupt, 2000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newPackedRig(t)
			r.pack("run7/train.jsonl.gz", c.bytes)
			r.stepAndClose()
			if c.least > 0 { // a file of which nothing was delivered has no checkpoint
				r.stepAndClose()
			}
			rowsGot := r.sink.of(".gz")
			assert.GreaterOrEqual(t, len(rowsGot), c.least)
			if c.least > 0 {
				assert.Equal(t, rowsAt(text, 0)[:c.least], rowsGot[:c.least])
			}
			r.telemetry(`otelcol_train_jsonl_read_errors{reason="` + c.reason + `",receiver="train_jsonl"} 1`)
		})
	}
}

func TestARotatedAndPackedStreamIsNotDeliveredTwice(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]string{
		"packed": "run7/train.jsonl.gz", "numbered": "run7/train.jsonl.1.gz", "dated": "run7/train.jsonl-20261129.gz",
	} {
		for _, restart := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r := newPackedRig(t)
				r.cfg.RunID.PathRegex = `(?P<run_id>run\d)/train\.jsonl$`
				text := rows(0, 2000) + "no json\n"
				r.write("run7/train.jsonl", text)
				tl := r.open()
				tl.step(context.Background())
				if restart {
					require.NoError(t, tl.save(context.Background()))
					require.NoError(t, tl.close(context.Background()))
					tl = r.open()
				}
				r.pack(to, packed(t, text+rows(2000, 10))) // appended after the last look
				r.remove("run7/train.jsonl")
				tl.step(context.Background())
				require.NoError(t, tl.close(context.Background()))
				all := r.sink.got()
				require.Len(t, all, 2011)
				assert.Equal(t, "2000", all[2001].text)
				assert.Equal(t, all[0].uid[:14], all[2001].uid[:14], "the run and the stream stay")
			})
		}
	}
}

func TestAPackedFileIsOverwrittenByTheNextRotatedStream(t *testing.T) {
	t.Parallel()
	for name, clear := range map[string]func(*rig, string){
		"in place": func(*rig, string) {}, "made anew": (*rig).remove,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newPackedRig(t)
			tl := r.open()
			for n := range 3 {
				text := rows(100*n, 10+n)
				r.write("run7/train.jsonl", text)
				tl.step(context.Background())
				if n > 0 {
					clear(r, "run7/train.jsonl.gz")
				}
				r.pack("run7/train.jsonl.gz", packed(t, text))
				r.remove("run7/train.jsonl")
				tl.step(context.Background())
				tl.step(context.Background())
			}
			require.NoError(t, tl.close(context.Background()))
			assert.Empty(t, r.sink.of(".gz"))
			assert.Len(t, r.sink.got(), 10+11+12)
		})
	}
}

// TestAPackedStreamIsKnownAfterFurtherRestarts: the next stream got the path, or the inode, before the packed one was read,
// and the collector stops once more meanwhile.
func TestAPackedStreamIsKnownAfterFurtherRestarts(t *testing.T) {
	t.Parallel()
	for _, identity := range []string{identityInode, identityPath} {
		t.Run(identity, func(t *testing.T) {
			t.Parallel()
			r := newPackedRig(t)
			r.cfg.Identity = identity
			text := rows(0, 50)
			r.write("run7/train.jsonl", text)
			r.stepAndClose()
			r.pack("run7/train.jsonl.1.gz", packed(t, text+rows(50, 3)))
			r.settle("run7/train.jsonl.1.gz", 0)      // too young to be read
			r.write("run7/train.jsonl", rows(100, 2)) // the same inode
			r.stepAndClose()
			r.append("run7/train.jsonl", rows(102, 2))
			r.stepAndClose()
			require.Empty(t, r.sink.of(".gz"))
			r.settle("run7/train.jsonl.1.gz", time.Hour)
			r.stepAndClose()
			assert.Len(t, r.sink.of(".gz"), 3, "what was not delivered before")
			assert.Len(t, r.sink.got(), 50+3+4)
		})
	}
}

func TestAnotherStreamIsNotTakenForTheRotatedOne(t *testing.T) {
	t.Parallel()
	same := rows(0, 100) // the first kilobyte, and more
	for name, packedName := range map[string]string{"another folder": "run8/train.jsonl.gz", "another name": "run7/other.jsonl.gz"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newPackedRig(t)
			r.write("run7/train.jsonl", same)
			r.pack(packedName, packed(t, same+rows(100, 5)))
			r.stepAndClose()
			assert.Len(t, r.sink.of(".gz"), 105)
		})
	}
	r := newPackedRig(t)
	r.write("run7/train.jsonl", same+rows(100, 5))
	r.stepAndClose()
	r.pack("run7/train.jsonl.gz", packed(t, same+rows(200, 5)))
	r.stepAndClose()
	assert.Len(t, r.sink.of(".gz"), 105, "other bytes before the offset")
	assert.NotContains(t, strings.Join(r.lines(), " "), "rewrites")
}

func TestAPackedFileThatWasReadCostsNothingAfterARestart(t *testing.T) {
	t.Parallel()
	r := newPackedRig(t)
	r.pack("run7/train.jsonl.gz", packed(t, rows(0, 9000)))
	r.stepAndClose()
	tl := r.open()
	read := &byteCounter{fileSystem: osFiles{}}
	tl.packed.fileSystem = read
	tl.step(context.Background())
	tl.step(context.Background())
	require.NoError(t, tl.close(context.Background()))
	assert.Zero(t, read.bytes)
}

// byteCounter counts the bytes that are read.
type byteCounter struct {
	fileSystem
	bytes int
}

func (c *byteCounter) Open(name string) (openFile, error) {
	f, err := c.fileSystem.Open(name)
	return byteCounted{f, c}, err
}

type byteCounted struct {
	openFile
	of *byteCounter
}

func (c byteCounted) ReadAt(buf []byte, at int64) (int, error) {
	n, err := c.openFile.ReadAt(buf, at)
	c.of.bytes += n
	return n, err
}

func TestAPathNamesTheRunOfAPackedFileAsOfThePlainOne(t *testing.T) {
	t.Parallel()
	r := newPackedRig(t)
	r.cfg.RunID.PathRegex = `(?P<run_id>[^/]+)\.jsonl$`
	r.pack("logs/exp5.jsonl.gz", packed(t, rows(0, 1)))
	r.stepAndClose()
	require.Len(t, r.sink.got(), 1)
	assert.Equal(t, "exp5", r.sink.got()[0].run)
}

func TestManyPackedFiles(t *testing.T) {
	t.Parallel()
	r := newPackedRig(t)
	const files = 20
	for i := range files {
		r.pack("run"+string(rune('A'+i/26))+string(rune('a'+i%26))+"/train.jsonl.gz", packed(t, rows(0, 5000)))
	}
	r.start()
	require.Eventually(t, func() bool { return len(r.sink.got()) >= files*5000 }, time.Minute, 20*time.Millisecond)
	r.stop()
	assert.Len(t, r.sink.got(), files*5000)
}

// TestPackedFilesThatArePutOffHoldUpNoOther has as many as are read at a time that the pipeline keeps, or a file system.
func TestPackedFilesThatArePutOffHoldUpNoOther(t *testing.T) {
	t.Parallel()
	for name, disk := range map[string]bool{"the pipeline": false, "the file system": true} {
		t.Run(name, func(t *testing.T) {
			r := newPackedRig(t)
			files := newHangingFiles(func(op, path string) bool {
				return disk && op == "read" && filepath.Base(filepath.Dir(path)) != "b"
			})
			r.files = files
			for i := range maxUnpacking {
				r.pack("a"+strconv.Itoa(i)+"/train.jsonl.gz", packed(t, rows(0, 5)))
			}
			synctest.Test(t, func(t *testing.T) {
				files.inBubble()
				r.sink.set(func(ctx context.Context, _ int, ld plog.Logs) error {
					if records(ld)[0].run == "b" {
						return nil
					}
					<-ctx.Done()
					return ctx.Err()
				})
				r.start()
				time.Sleep(5 * time.Second)
				r.pack("b/train.jsonl.gz", packed(t, rows(0, 5)))
				time.Sleep(time.Minute)
				assert.Len(t, r.sink.got(), 5)
				files.recover()
				r.stop()
			})
		})
	}
}

func TestPackedFilesThatAreKnownByTheirPaths(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newPackedRig(t)
	r.cfg.Identity = identityPath
	r.pack("run7/train.jsonl.gz", packed(t, rows(0, 5000)))
	r.pack("run8/train.jsonl.gz", packed(t, rows(0, 2)))
	for range 2 {
		tl := r.open()
		tl.step(ctx)
		for _, s := range tl.list() {
			s.due.Store(0)
		}
		tl.poll(ctx, time.Now())
		assert.Nil(t, tl.pop(), "a packed file that was read is looked at and left alone")
		assert.Zero(t, tl.observe().Unread)
		require.NoError(t, tl.save(ctx))
		require.NoError(t, tl.close(ctx))
	}
	assert.Equal(t, rowsAt(rows(0, 5000), 0), r.sink.of("run7/train.jsonl.gz"))
	assert.Equal(t, rowsAt(rows(0, 2), 0), r.sink.of("run8/train.jsonl.gz"))
}

// slowReads takes its time for each read.
type slowReads struct{ osFiles }

func (s slowReads) Open(name string) (openFile, error) {
	f, err := s.osFiles.Open(name)
	return slowFile{f}, err
}

type slowFile struct{ openFile }

func (s slowFile) ReadAt(p []byte, off int64) (int, error) {
	time.Sleep(20 * time.Millisecond)
	return s.openFile.ReadAt(p, off)
}

func TestUnpackingThatLastsIsNoHang(t *testing.T) {
	t.Parallel()
	text := make([]byte, 4<<20)
	for i := range text {
		text[i] = "0123456789abcdef"[rand.IntN(16)]
	}
	r := newPackedRig(t)
	r.pack("run7/train.jsonl.gz", packed(t, rows(0, 5)+string(text)+"\n"))
	r.files = slowReads{osFiles{}}
	synctest.Test(t, func(t *testing.T) {
		r.start()
		time.Sleep(time.Minute)
		r.stop()
		assert.Len(t, r.sink.got(), 6)
	})
	r.telemetry(`otelcol_train_jsonl_read_errors{reason="hung",receiver="train_jsonl"} 0`)
}

// FuzzGzipReadAt holds reading at any places to the bytes that are there.
func FuzzGzipReadAt(f *testing.F) {
	f.Add([]byte{0, 10, 3, 200, 0, 1}, uint32(900_000))
	f.Add([]byte{255, 255, 0, 9, 128, 0}, uint32(70))
	f.Fuzz(func(t *testing.T, places []byte, size uint32) {
		text := make([]byte, size%3_000_000)
		for i := range text {
			text[i] = byte(i * i >> 7)
		}
		g := &gzipFile{openFile: memoryFile{bytes.NewReader([]byte(packed(t, string(text))))}, alive: func() {}}
		flaw, err := g.measure(context.Background(), version{})
		require.NoError(t, err)
		require.NoError(t, flaw)
		for i := 0; i+2 < len(places); i += 3 {
			at := int64(len(text)) * int64(places[i]) / 250
			g.hold, g.most = at, int64(places[i+2])<<14
			buf := make([]byte, int(places[i+1])<<11)
			n, err := g.ReadAt(buf, at)
			want := text[min(at, int64(len(text))):min(at+int64(len(buf)), int64(len(text)))]
			require.True(t, bytes.Equal(want, buf[:n]))
			if n < len(buf) {
				require.True(t, errors.Is(err, io.EOF))
			} else {
				require.NoError(t, err)
			}
		}
	})
}

// memoryFile is a file in memory.
type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error               { return nil }
func (memoryFile) Stat() (os.FileInfo, error) { return nil, errors.ErrUnsupported }
func (memoryFile) Born() int64                { return 0 }
