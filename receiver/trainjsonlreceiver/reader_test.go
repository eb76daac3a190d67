package trainjsonlreceiver

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func TestABacklogIsReadOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	text := rows(0, 30_000)
	require.Greater(t, len(text), 6*turnBytes)
	r.write("a/train.jsonl", text)
	tl := r.open()
	counting := &countingFiles{fileSystem: osFiles{}}
	tl.handles.fs = counting
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Equal(t, 30_000, len(r.sink.got())) //nolint:testifylint // a failure shows a number, not the records
	assert.Less(t, counting.read(), len(text)+len(text)/20, "the bytes after the last line of a turn are read twice")
}

// growingFile is a file in memory; what is in it grows.
type growingFile struct {
	content []byte
	written time.Time
}

func (f *growingFile) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(f.content).ReadAt(p, at)
}
func (*growingFile) Close() error                 { return nil }
func (*growingFile) Born() int64                  { return 0 }
func (f *growingFile) Stat() (fs.FileInfo, error) { return growingInfo{f}, nil }

// growingFiles has that one file.
type growingFiles struct {
	osFiles
	file *growingFile
}

func (g growingFiles) Open(string) (openFile, error) { return g.file, nil }

type growingInfo struct{ of *growingFile }

func (growingInfo) Name() string         { return "train.jsonl" }
func (i growingInfo) Size() int64        { return int64(len(i.of.content)) }
func (growingInfo) Mode() fs.FileMode    { return 0 }
func (i growingInfo) ModTime() time.Time { return i.of.written }
func (growingInfo) IsDir() bool          { return false }
func (growingInfo) Sys() any             { return nil }

// delivered gives offset and checksum of what arrived, in order, and forgets it.
func (k *sink) delivered(t *testing.T) []string {
	t.Helper()
	out := []string{}
	for _, g := range k.got() {
		uid, ok := trainrecord.ParseUID(g.uid)
		require.True(t, ok, g.uid)
		out = append(out, fmt.Sprintf("@%d %x", g.offset, uid.CRC))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all, k.logs, k.runs = nil, nil, nil
	return out
}

// FuzzReadAnyGrowth has a file grow in pieces of any size, read by turns of any size: what is delivered are its lines, each once.
func FuzzReadAnyGrowth(f *testing.F) {
	f.Add([]byte(rows(0, 5)), []byte{3, 200}, byte(0))
	f.Add([]byte("\xef\xbb\xbf"+rows(0, 2)+"\r\n \n"+strings.Repeat("\x00", 300)+rows(2, 2)), []byte{1}, byte(9))
	f.Add([]byte(strings.Repeat("x", 900)+"\n"+rows(0, 2)+strings.Repeat("y", 90)+"\r"), []byte{255, 7}, byte(200))
	f.Add([]byte(`{"a":1}{"b":2}`+"\x00\x00"+`{"c":3}`+"\n\x00\n"+`text {"d":4}`), []byte{30}, byte(64))
	f.Add([]byte(`{"loss":1,"pad":"`+strings.Repeat("z", 300)+`"}`+"\n"+rows(0, 1)), []byte{40}, byte(0))
	f.Fuzz(func(t *testing.T, text, sizes []byte, turn byte) {
		const maxLine = 500
		r := newRig(t)
		r.cfg.MaxLineSize, r.cfg.TornAfter, r.cfg.Storage = maxLine, 0, nil
		tl := r.open()
		tl.turnSize = beforeBytes + 1 + 4*int64(turn)
		file := &growingFile{written: time.Unix(1_790_000_000, 0)}
		tl.handles.fs = growingFiles{osFiles{}, file}
		s := tl.newStream(fileKey{path: "r/train.jsonl"}, mark{Path: "r/train.jsonl", Origin: "r/train.jsonl", Torn: noTorn})
		text = append(text, '\n')
		for i := 0; len(file.content) < len(text); i++ {
			size := 64
			if len(sizes) > 0 {
				size = int(sizes[i%len(sizes)]) + 1
			}
			file.content = text[:min(len(file.content)+size, len(text))]
			file.written = file.written.Add(time.Second)
			for tl.turn(context.Background(), s, &permit{free: func() {}}) == nextAgain { //nolint:revive // the turn is what is tested
			}
		}
		require.Equal(t, wantLines(t, string(text), maxLine), r.sink.delivered(t))
		m, _ := s.get()
		require.EqualValues(t, len(text), m.Offset)
	})
}
