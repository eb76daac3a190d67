package trainjsonlreceiver

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
)

// keptCalls are the calls that a pipeline keeps until it is opened.
type keptCalls struct {
	gate chan struct{}

	mu      sync.Mutex
	now     int
	records int
	most    int
}

func (k *keptCalls) keep(ctx context.Context, _ int, ld plog.Logs) error {
	k.mu.Lock()
	k.now++
	k.most = max(k.most, k.now)
	k.records += ld.LogRecordCount()
	k.mu.Unlock()
	select {
	case <-k.gate:
	case <-ctx.Done():
	}
	k.mu.Lock()
	k.now--
	k.mu.Unlock()
	return ctx.Err()
}

func (k *keptCalls) state() (now, most, records int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now, k.most, k.records
}

// TestFewCallsGoOnAtATime: a pipeline that takes long, before it refuses or not, holds what it is called with, and more of its
// own for each call.
func TestFewCallsGoOnAtATime(t *testing.T) {
	t.Parallel()
	const files = maxStalled + maxCalls + 50
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		kept := &keptCalls{gate: make(chan struct{})}
		r.sink.set(kept.keep)
		want := map[string]int{}
		for i := range files {
			name := fmt.Sprintf("a%03d/train.jsonl", i)
			want[name] = 3 + i%4/3*1200
			r.write(name, rows(0, want[name]))
		}
		r.start()
		time.Sleep(time.Minute)
		now, _, records := kept.state()
		assert.Equal(t, maxCalls, now)
		assert.LessOrEqual(t, records, maxMade/madeOfLine, "the more calls, the less has each")
		stalled := r.r.tailer.stalled.Load()
		assert.LessOrEqual(t, stalled, int64(maxStalled))
		assert.GreaterOrEqual(t, r.r.tailer.observe().Blocked, maxCalls+stalled, "also those that wait for a call")
		close(kept.gate)
		time.Sleep(time.Minute)
		_, most, _ := kept.state()
		assert.LessOrEqual(t, most, maxCalls)
		tl := r.r.tailer
		r.stop()
		r.delivered(want)
		assert.Zero(t, tl.calls.made)
		assert.Empty(t, tl.calls.slots)
		assert.Zero(t, tl.stalled.Load())
	})
}

// TestAPipelineThatRefusedIsAskedWithLittle: building all that waits for each attempt costs more than reading did.
func TestAPipelineThatRefusedIsAskedWithLittle(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var sizes []int
	r.sink.set(func(_ context.Context, call int, ld plog.Logs) error {
		sizes = append(sizes, ld.LogRecordCount())
		if call < 3 {
			return errBusy
		}
		return nil
	})
	r.write("a/train.jsonl", rows(0, 3000))
	tl := r.open()
	tl.step(context.Background())
	require.NoError(t, tl.close(context.Background()))
	require.Greater(t, len(sizes), 4)
	assert.Equal(t, maxBatch, sizes[0])
	for _, n := range sizes[1:4] {
		assert.LessOrEqual(t, n, leastMade/madeOfLine)
	}
	assert.Equal(t, maxBatch, sizes[4])
	assert.Equal(t, rowsAt(rows(0, 3000), 0), r.sink.of("a/train.jsonl"))
}

// TestLongLinesCountForWhatTheyTake: of lines whose bytes are what they take, a call carries as many as it may take, and one at least.
func TestLongLinesCountForWhatTheyTake(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]int{3 << 10: 4, 40 << 10: 1} { // 13 KiB a line of 64 KiB; one is more than that
		r := newRig(t)
		var sizes []int
		r.sink.set(func(_ context.Context, call int, ld plog.Logs) error {
			sizes = append(sizes, ld.LogRecordCount())
			if call < 3 {
				return errBusy
			}
			return nil
		})
		r.write("a/train.jsonl", strings.Repeat(`{"a":"`+strings.Repeat("x", size-len(`{"a":""}`)-1)+"\"}\n", 20))
		tl := r.open()
		tl.step(context.Background())
		require.NoError(t, tl.close(context.Background()))
		require.Greater(t, len(sizes), 4)
		for _, n := range sizes[1:4] {
			assert.Equal(t, want, n, size)
		}
	}
}

// TestCallsThatAreKeptHoldWhatIsBounded measures it, with lines of which little is read and much is made.
func TestCallsThatAreKeptHoldWhatIsBounded(t *testing.T) { //nolint:paralleltest // measures the heap
	const (
		files = 200
		turn  = fullBuffer + 48<<10 // what it has read, two stacks, a file, a stream
	)
	r := newRig(t)
	kept := &keptCalls{gate: make(chan struct{})}
	r.sink.set(kept.keep)
	text := strings.Repeat(`{"step":1,"loss":0.5}`+"\n", turnBytes/22+1)
	for i := range files {
		r.write(fmt.Sprintf("r%d/train.jsonl", i), text)
	}
	before := heap()
	r.start()
	require.Eventually(t, func() bool {
		now, _, _ := kept.state()
		return now == maxCalls && r.r.tailer.stalled.Load() >= files-maxCalls-int64(r.r.tailer.slots)
	}, 60*time.Second, 20*time.Millisecond)
	held := heap() - before
	r.stop()
	assert.LessOrEqual(t, held, int64(files*turn+maxMade))
	t.Logf("%d files hold %d MiB, %d of it what they have read", files, held>>20, files*fullBuffer>>20)
}
