package trainjsonlreceiver

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/plog"
)

// openFiles counts the files that are open.
type openFiles struct {
	osFiles
	now, most atomic.Int64
}

func (o *openFiles) Open(name string) (openFile, error) {
	f, err := o.osFiles.Open(name)
	if err != nil {
		return nil, err
	}
	o.most.Store(max(o.most.Load(), o.now.Add(1)))
	return &counted{openFile: f, of: o}, nil
}

type counted struct {
	openFile
	of *openFiles
}

func (c *counted) Close() error {
	c.of.now.Add(-1)
	return c.openFile.Close()
}

// TestAtMost64FilesAreOpenWhileThePipelineRefuses has far more files than may be open, each of which the pipeline keeps
// waiting. Some grow meanwhile, some go away: what was read of them, and what is open, is delivered all the same.
func TestAtMost64FilesAreOpenWhileThePipelineRefuses(t *testing.T) {
	t.Parallel()
	for name, hangs := range map[string]bool{"refuses": false, "hangs": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { testOpenFiles(t, hangs) })
		})
	}
}

func testOpenFiles(t *testing.T, hangs bool) {
	const files = 200
	name := func(i int) string { return fmt.Sprintf("a%03d/train.jsonl", i) }
	r := newRig(t)
	opened := &openFiles{}
	r.files = opened
	open := r.shut(hangs)
	want := map[string]int{}
	for i := range files {
		r.write(name(i), rows(0, 3))
		want[name(i)] = 3
	}
	r.start()
	time.Sleep(30 * time.Second)
	large := rows(0, 8000)
	assert.Greater(t, len(large), 2*turnBytes, "more than a turn has in memory")
	r.write("large/train.jsonl", large)
	want["large/train.jsonl"] = 8000
	time.Sleep(10 * time.Second)
	r.remove("large/train.jsonl")
	for i := range files {
		if i%10 == 0 {
			r.remove(name(i))
			continue
		}
		r.append(name(i), rows(3, 2))
		want[name(i)] += 2
	}
	r.write("late/train.jsonl", rows(0, 3))
	want["late/train.jsonl"] = 3
	time.Sleep(time.Minute)
	assert.LessOrEqual(t, r.r.tailer.handles.count(), maxHandles)
	open()
	time.Sleep(time.Minute)
	r.stop()
	assert.LessOrEqual(t, opened.most.Load(), int64(maxHandles))
	assert.Zero(t, opened.now.Load())
	r.delivered(want)
	r.telemetry(lost(0))
}

// shut has the pipeline refuse, or keep each call, until open is called.
func (r *rig) shut(hangs bool) (open func()) {
	if !hangs {
		r.sink.set(refuseAll)
		return func() { r.sink.set(nil) }
	}
	gate := make(chan struct{})
	r.sink.set(func(ctx context.Context, _ int, _ plog.Logs) error {
		select {
		case <-gate:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return func() { close(gate) }
}

// delivered wants so many records of each file.
func (r *rig) delivered(want map[string]int) {
	r.t.Helper()
	have := map[string]int{}
	for _, g := range r.sink.got() {
		have[g.path]++
	}
	for file, n := range want {
		assert.Equal(r.t, n, have[file], file)
	}
}

// TestFewTurnsWaitForAPipelineThatRefuses has more refused files than turns may wait: those that may not give back what they
// have read, and come again. Each line is delivered once.
func TestFewTurnsWaitForAPipelineThatRefuses(t *testing.T) {
	t.Parallel()
	const files = 3 * maxStalled
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.sink.set(refuseAll)
		want := map[string]int{}
		for i := range files {
			name := fmt.Sprintf("a%03d/train.jsonl", i)
			r.write(name, rows(0, 3))
			want[name] = 3
		}
		r.start()
		time.Sleep(30 * time.Second)
		tl := r.r.tailer
		assert.LessOrEqual(t, tl.stalled.Load(), int64(maxStalled))
		running := 0
		tl.mu.Lock()
		for _, s := range tl.streams {
			if s.running {
				running++
			}
		}
		tl.mu.Unlock()
		assert.LessOrEqual(t, running, maxStalled+tl.slots)
		assert.EqualValues(t, files, tl.observe().Blocked, "each is refused, whether it waits or comes again")
		r.append("a000/train.jsonl", rows(3, 2))
		want["a000/train.jsonl"] += 2
		r.sink.set(nil)
		time.Sleep(15 * time.Second)
		assert.Zero(t, tl.observe().Blocked)
		assert.Zero(t, tl.stalled.Load())
		r.stop()
		r.delivered(want)
	})
}
