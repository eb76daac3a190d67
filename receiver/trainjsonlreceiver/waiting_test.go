package trainjsonlreceiver

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
)

// TestATurnThatWaitsHoldsLittleBesideItsBytes: max_in_flight_bytes bounds the bytes of all files, and what is made of them may
// be many times as large. Hundreds of turns wait when the pipeline refuses.
func TestATurnThatWaitsHoldsLittleBesideItsBytes(t *testing.T) { //nolint:paralleltest // measures the heap
	const (
		files   = 32
		allowed = 48 << 10 // a turn: two stacks, a file, a stream
	)
	r := newRig(t)
	text := strings.Repeat(`{"step":1,"loss":0.5}`+"\n", turnBytes/22+1)
	for i := range files {
		r.write(fmt.Sprintf("r%d/train.jsonl", i), text)
	}
	r.sink.set(func(context.Context, int, plog.Logs) error { return errBusy })
	ctx, cancel := context.WithCancel(context.Background())
	tl := r.open()
	var waiting, ended sync.WaitGroup
	waiting.Add(files)
	tl.wait = func(ctx context.Context, _ time.Duration) error {
		waiting.Done()
		<-ctx.Done()
		return ctx.Err()
	}
	tl.poll(ctx, time.Now())
	before := heap()
	for s := tl.pop(); s != nil; s = tl.pop() {
		ended.Go(func() { tl.run(ctx, s, &permit{free: func() {}}) })
	}
	waiting.Wait()
	each := (heap() - before) / files
	cancel()
	ended.Wait()
	require.NoError(t, tl.close(context.Background()))
	assert.LessOrEqual(t, each, int64(fullBuffer+allowed), "bytes held by a turn that waits")
	t.Logf("a turn that waits holds %d bytes beside the %d that it has read", each-fullBuffer, fullBuffer)
}

// heap gives the bytes that are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what pools lend lasts one longer
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse) //nolint:gosec // fits
}

// TestWhatIsRefusedIsCutAgain: lines that wait are made anew from the bytes that were read, in the order and under the uids
// that they would have had, wherever the pipeline begins and ends to refuse.
func TestWhatIsRefusedIsCutAgain(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("\n", 3) + rows(0, 2*maxBatch) + strings.Repeat("\x00", minHole) + `{"i":2000}{"i":2001}` + "\r\n\n" + rows(2002, maxBatch)
	want := func(refused ...int) []got {
		r := newRig(t)
		r.cfg.Include = []string{filepath.Join(r.dir, "a", "*.jsonl")}
		r.write("a/train.jsonl", text)
		r.sink.set(func(_ context.Context, call int, _ plog.Logs) error {
			for _, n := range refused {
				if n == call {
					return errBusy
				}
			}
			return nil
		})
		tl := r.open()
		tl.step(context.Background())
		require.NoError(t, tl.close(context.Background()))
		assert.Equal(t, int64(len(text)), r.offset(tl, "a/train.jsonl"))
		return r.sink.got()
	}
	all := want()
	require.Len(t, all, 3*maxBatch+3)
	for _, refused := range [][]int{{0}, {1, 2}, {2, 3}, {0, 2, 4, 6}, {3}} {
		assert.Equal(t, all, want(refused...), "calls %v were refused", refused)
	}
}
