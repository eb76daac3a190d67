package trainjsonlreceiver

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
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
	const files = 200
	name := func(i int) string { return fmt.Sprintf("a%03d/train.jsonl", i) }
	r := newRig(t)
	opened := &openFiles{}
	r.files = opened
	r.sink.set(refuseAll)
	want := map[string]int{}
	for i := range files {
		r.write(name(i), rows(0, 3))
		want[name(i)] = 3
	}
	synctest.Test(t, func(t *testing.T) {
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
		r.sink.set(nil)
		time.Sleep(time.Minute)
		r.stop()
	})

	assert.LessOrEqual(t, opened.most.Load(), int64(maxHandles))
	assert.Zero(t, opened.now.Load())
	for file, n := range want {
		folder, _, _ := strings.Cut(file, "/")
		assert.Equal(t, n, len(r.sink.of(folder+"/train.jsonl")), file) //nolint:testifylint // a failure shows a number, not the records
	}
	r.telemetry(lost(0))
}
