package trainjsonlreceiver

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// longLine gives a line of almost the size that is still decoded.
func longLine(kind string) string {
	const size = 15 << 20
	switch kind {
	case "a text":
		return `{"a":"` + strings.Repeat("x", size) + "\"}\n"
	case "numbers":
		some := "[" + strings.Repeat("1.0625,", 1<<10-1) + "1],"
		return `{"a":[` + strings.Repeat(some, 1<<8-2) + `1],"b":"` + strings.Repeat("x", size-(1<<8-2)*len(some)) + "\"}\n"
	case "no json":
		return strings.Repeat("no json ", size/8) + "\n"
	default: // objects that writers glued together
		one := `{"ts":1790000000,"event":"step.end","body":{"step":1}}`
		return strings.Repeat(one, size/len(one)) + "\n"
	}
}

// TestLongLinesHoldWhatIsBounded measures what calls that the pipeline keeps hold, and what waits for them: lines that are
// as long as lines may be are many times as large when they are records, and few files of them are what is read at a time.
func TestLongLinesHoldWhatIsBounded(t *testing.T) { //nolint:paralleltest // measures the heap
	const (
		files   = 6
		allowed = 16 << 20
	)
	for _, kind := range []string{"a text", "numbers", "no json", "glued"} {
		t.Run(kind, func(t *testing.T) {
			r := newRig(t)
			kept := &keptCalls{gate: make(chan struct{})}
			r.sink.set(kept.keep)
			text := longLine(kind)
			for i := range files {
				r.write(fmt.Sprintf("r%d/train.jsonl", i), text)
			}
			before := heap()
			r.start()
			tl := r.r.tailer
			waiting := func() int {
				tl.calls.room.mu.Lock()
				defer tl.calls.room.mu.Unlock()
				return len(tl.calls.room.waiting)
			}
			require.Eventually(t, func() bool {
				now, _, _ := kept.state()
				return now == 1 && waiting() == int(r.cfg.MaxInFlightBytes)/len(text)-1
			}, 5*time.Minute, 20*time.Millisecond, "one of those that are read has its records made")
			held := heap() - before
			r.write("short/train.jsonl", rows(0, 3))
			require.Eventually(t, func() bool { more, _, _ := kept.state(); return more == 2 }, 5*time.Minute, 20*time.Millisecond,
				"a short line does not wait for a long one")
			t.Logf("%s: a call and what waits hold %d MiB", kind, held>>20)
			assert.LessOrEqual(t, held, int64(r.cfg.MaxInFlightBytes)+maxMade+allowed)
			close(kept.gate)
			require.Eventually(t, func() bool { return tl.observe().Unread == 0 }, 5*time.Minute, 20*time.Millisecond)
			r.stop()
			runtime.KeepAlive(text)
			assert.Zero(t, tl.calls.room.used)
			assert.Zero(t, tl.calls.made)
			assert.Empty(t, tl.calls.slots)
		})
	}
}
