package follow

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// nativeText is a stream of records of steps, every tenth of an epoch.
func nativeText(n int) string {
	var b strings.Builder
	for i := range n {
		if i%10 == 9 {
			fmt.Fprintf(&b, `{"ts":%d.5,"event":"epoch.end","run_id":"run-7","phase":"train","body":{"epoch":%d,"learning_rate":{"pg0":0.001},"durations":{"epoch_s":12.5},"measurements":{"train/loss":%d.25,"val/loss":%d.5,"val/accuracy":0.%d}}}`+"\n", 1790000000+i, i/10, i%7, i%5, i)
			continue
		}
		fmt.Fprintf(&b, `{"ts":%d.5,"severity":"DEBUG","event":"step.end","run_id":"run-7","phase":"train","body":{"step":%d,"measurements":{"train/loss":%d.0082927},"learning_rate":{"pg0":0.001}}}`+"\n", 1790000000+i, i, i%9)
	}
	return b.String()
}

// BenchmarkDecode is the least that reading costs; compare BenchmarkRead with it.
func BenchmarkDecode(b *testing.B) {
	text := []byte(nativeText(100_000))
	d, lr := trainrecord.NewDecoder(trainrecord.DecoderOptions{}), plog.NewLogRecord()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		for rest := text; len(rest) > 0; {
			i := bytes.IndexByte(rest, '\n')
			d.Decode(rest[:i], lr)
			rest = rest[i+1:]
		}
	}
}

// BenchmarkRead is from the file to the state of its run.
func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "train.jsonl")
	text := nativeText(100_000)
	require.NoError(b, os.WriteFile(path, []byte(text), 0o600))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s := open(b, path)
		s.Find()
		s.Read()
		if s.Runs()[0].Fold.State().Records.Count != 100_000 {
			b.Fatal("records are missing")
		}
	}
}
