package digest

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// The least rate that the configuration takes is slow, and no file system that hangs.
func TestAFileThatIsReadSlowlyDoesNotHang(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a": strings.Repeat("x", 2<<20)})
	synctest.Test(t, func(t *testing.T) {
		got := make(chan Digest, 2)
		var busy atomic.Int32
		w := NewWorker(Options{Roots: []string{root}, MaxFileBytes: 4 << 20, BytesPerSecond: 1 << 10}, func(_ Task, d Digest) { got <- d }, &busy)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { w.Run(ctx); close(ended) }()
		began := time.Now()
		w.Submit(Task{"r", "1", "a"})
		assert.Equal(t, OK, (<-got).Status)
		assert.Equal(t, 2048*time.Second, time.Since(began).Round(time.Millisecond))
		cancel()
		<-ended
	})
}

// Nothing was read for too long: the file is given up, and what comes of it later is no second answer. The next one is read then.
func TestAFileThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a": "x", "b": "x"})
	synctest.Test(t, func(t *testing.T) {
		got := make(chan string, 3)
		var busy atomic.Int32
		w := NewWorker(Options{Roots: []string{root}, MaxFileBytes: 1 << 20, BytesPerSecond: 1 << 20}, func(task Task, d Digest) {
			got <- task.Key + " " + string(d.Status)
		}, &busy)
		back := make(chan struct{})
		w.digest = func(r *reader, run, path string) Digest {
			if path == "a" {
				<-back
			}
			return r.digest(run, path)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { w.Run(ctx); close(ended) }()
		began := time.Now()
		w.Submit(Task{"r", "1", "a"})
		w.Submit(Task{"r", "2", "b"})
		assert.Equal(t, "1 timeout", <-got)
		assert.Equal(t, 5*time.Minute, time.Since(began))
		synctest.Wait()
		assert.Empty(t, got, "one after the other")
		close(back)
		assert.Equal(t, "2 ok", <-got)
		cancel()
		<-ended
		assert.Empty(t, got)
	})
}

// Tasks that wait are bounded. Who was sent away may ask again when half of the room is free.
func TestTheQueueIsBounded(t *testing.T) {
	t.Parallel()
	var busy atomic.Int32
	w := NewWorker(Options{}, func(Task, Digest) {}, &busy)
	for i := range 64 {
		assert.True(t, w.Submit(Task{"r", fmt.Sprint(i), "a"}))
		assert.Equal(t, i < 32, w.HasRoom(), i)
	}
	assert.False(t, w.Submit(Task{"r", "64", "a"}))
	assert.True(t, w.Submit(Task{"r", "0", "a"}), "it is there already")
	assert.Len(t, w.queue, 64)
	_, ok := w.next()
	assert.True(t, ok)
	assert.True(t, w.Submit(Task{"r", "64", "a"}))
}
