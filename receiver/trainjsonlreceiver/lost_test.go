package trainjsonlreceiver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
)

// lost gives the lines of the counter of lost bytes.
func lost(n int) string {
	return fmt.Sprintf(`otelcol_train_jsonl_lost_bytes{receiver="train_jsonl"} %d`, n)
}

// later polls as if that time had passed, and gives the files their turns.
func (t *tailer) later(ctx context.Context, after time.Duration) {
	t.nextSearch = time.Time{}
	t.poll(ctx, time.Now().Add(after))
	t.drain(ctx)
}

func TestBytesThatWentAwayUnreadAreCountedOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 5))
	tl := r.open()
	tl.step(ctx)
	tl.handles.closeAll()
	r.append("a/train.jsonl", rows(5, 3))
	tl.poll(ctx, time.Now().Add(time.Minute)) // sees them
	r.remove("a/train.jsonl")
	tl.drain(ctx)
	tl.later(ctx, 2*time.Minute)
	tl.later(ctx, 2*time.Minute+5*time.Second)
	assert.NotContains(t, r.lines(), lost(len(rows(5, 3))), "it may have been renamed")
	tl.nextSearch = time.Now().Add(time.Hour)
	tl.searchedAt = time.Now()
	tl.poll(ctx, time.Now().Add(2*time.Minute+20*time.Second))
	assert.NotContains(t, r.lines(), lost(len(rows(5, 3))), "it was not searched for")
	for i := range 5 {
		tl.later(ctx, 3*time.Minute+time.Duration(i)*time.Second)
	}
	require.NoError(t, tl.close(ctx))
	assert.Len(t, r.sink.got(), 5)
	r.telemetry(lost(len(rows(5, 3))))
	logged := r.logs.FilterMessageSnippet("went away").All()
	require.Len(t, logged, 1)
	assert.Equal(t, map[string]any{"file": r.path("a/train.jsonl"), "offset": int64(len(rows(0, 5))), "lost_bytes": int64(len(rows(5, 3)))},
		logged[0].ContextMap())
}

func TestWhatIsNotLostIsNotCounted(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, c := range map[string]struct {
		text string
		away func(*rig)
		read int
	}{
		"renamed within the globs": {rows(0, 5), func(r *rig) { r.rename("a/train.jsonl", "b/other.jsonl") }, 5},
		"read to its end":          {rows(0, 5), func(r *rig) { r.remove("a/train.jsonl") }, 5},
		"blanks at the end":        {rows(0, 5) + "  ", func(r *rig) { r.remove("a/train.jsonl") }, 5},
		"reported as torn":         {rows(0, 5) + "half", func(r *rig) { r.remove("a/train.jsonl") }, 6},
		"empty":                    {"", func(r *rig) { r.remove("a/train.jsonl") }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cfg.TornAfter = time.Nanosecond
			r.write("a/train.jsonl", c.text)
			tl := r.open()
			if name != "renamed within the globs" {
				tl.step(ctx)
				tl.step(ctx)
			} else {
				tl.poll(ctx, time.Now())
			}
			tl.handles.closeAll()
			c.away(r)
			for i := range 5 {
				tl.later(ctx, time.Duration(i)*time.Minute)
			}
			require.NoError(t, tl.close(ctx))
			assert.Len(t, r.sink.got(), c.read)
			for _, line := range r.lines() {
				assert.NotContains(t, line, "lost_bytes")
			}
		})
	}
}

func TestAnUnfinishedLineThatWentAwayIsLost(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 2)+"half")
	tl := r.open()
	tl.step(ctx)
	tl.handles.closeAll()
	r.remove("a/train.jsonl")
	for i := range 3 {
		tl.later(ctx, time.Duration(i)*time.Minute)
	}
	require.NoError(t, tl.close(ctx))
	r.telemetry(lost(len("half")))
}

func TestAFileThatComesBackIsReadAndCountedAnew(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 5))
	tl := r.open()
	tl.poll(ctx, time.Now())
	r.rename("a/train.jsonl", "a/away")
	tl.drain(ctx)
	for i := range 3 {
		tl.later(ctx, time.Duration(i)*time.Minute)
	}
	r.telemetry(lost(len(rows(0, 5))))
	r.rename("a/away", "a/train.jsonl")
	tl.later(ctx, 10*time.Minute)
	assert.Len(t, r.sink.got(), 5)
	tl.handles.closeAll()
	require.NoError(t, os.Remove(r.path("a/train.jsonl")))
	for i := range 3 {
		tl.later(ctx, time.Duration(20+i)*time.Minute)
	}
	require.NoError(t, tl.close(ctx))
	r.telemetry(lost(len(rows(0, 5))))
}

func TestAFileThatWentAwayWhileThePipelineHangsIsRead(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		r.cfg.MaxInFlightBytes, r.cfg.MaxLineSize = turnBytes, turnBytes
		hang := make(chan struct{})
		r.sink.set(func(_ context.Context, _ int, ld plog.Logs) error {
			if records(ld)[0].run == "big" {
				<-hang
			}
			return nil
		})
		r.write("big/train.jsonl", rows(0, 10_000))
		r.start()
		time.Sleep(time.Second)
		r.write("small/train.jsonl", rows(0, 5))
		time.Sleep(time.Second)
		assert.Empty(t, r.sink.of("small/train.jsonl"), "there is no space for it")
		r.remove("small/train.jsonl")
		time.Sleep(5 * time.Minute)
		close(hang)
		time.Sleep(10 * time.Second)
		r.stop()
		assert.Len(t, r.sink.of("small/train.jsonl"), 5)
	})
	r.telemetry(lost(0))
}

func TestAFileThatIsGoneAndOpenIsKeptUntilThePipelineTakesIt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 5))
	r.sink.set(refuseAll)
	r.cfg.PollInterval, r.cfg.CheckpointInterval = time.Minute, time.Minute
	synctest.Test(t, func(t *testing.T) {
		r.start()
		time.Sleep(10 * time.Second)
		r.remove("a/train.jsonl")
		time.Sleep(30 * time.Hour)
		r.sink.set(nil)
		time.Sleep(time.Minute)
		assert.Len(t, r.sink.got(), 5)
		time.Sleep(30 * time.Hour)
		assert.Empty(t, r.r.tailer.list(), "it is forgotten when it is read")
		r.stop()
	})
	r.telemetry(lost(0))
}

func TestWhatIsForgottenUnreadIsCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 5))
	synctest.Test(t, func(t *testing.T) {
		r.start()
		time.Sleep(10 * time.Second)
		r.sink.set(refuseAll)
		r.append("a/train.jsonl", rows(5, 3))
		time.Sleep(10 * time.Second)
		r.remove("a/train.jsonl")
		time.Sleep(10 * time.Second)
		r.stop()
		time.Sleep(30 * time.Hour)
		r.start()
		time.Sleep(time.Minute)
		assert.Empty(t, r.r.tailer.list())
		r.stop()
	})
	r.telemetry(lost(len(rows(5, 3))))
}

func refuseAll(context.Context, int, plog.Logs) error { return errors.New("full") }

// TestWhatATurnHasInMemoryIsNotLostWhenItsFileIsCut: the pipeline refuses while copytruncate takes the file's bytes away; those
// that the turn had read are delivered, the others are lost.
func TestWhatATurnHasInMemoryIsNotLostWhenItsFileIsCut(t *testing.T) {
	t.Parallel()
	for name, behind := range map[string]int{"all was read": 0, "a part was": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			r := newRig(t)
			r.write("a/train.jsonl", rows(0, 5))
			r.sink.set(func(_ context.Context, call int, _ plog.Logs) error {
				if call == 0 {
					return errBusy
				}
				return nil
			})
			tl := r.open()
			tl.wait = func(ctx context.Context, _ time.Duration) error { // what happens while it waits
				r.append("a/train.jsonl", rows(5, behind))
				for range 2 {
					for _, s := range tl.list() {
						s.due.Store(0)
					}
					tl.poll(ctx, time.Now().Add(time.Minute)) // sees the size
					r.write("a/train.jsonl", "")
				}
				return nil
			}
			tl.step(ctx)
			r.append("a/train.jsonl", rows(100, 1))
			tl.step(ctx)
			require.NoError(t, tl.close(ctx))
			assert.Equal(t, append(rowsAt(rows(0, 5), 0), "@0 100"), r.sink.of("a/train.jsonl"))
			if behind == 0 {
				assert.NotContains(t, strings.Join(r.lines(), "\n"), "lost_bytes")
			} else {
				r.telemetry(lost(len(rows(5, behind))))
			}
		})
	}
}

// TestLinesKeepTheRunTheyWereReadOf checks that what a turn has in its memory, and the pipeline does not take yet, stays its
// run's when the file moves to the folder of another one, or goes away and its inode is that run's next file's.
func TestLinesKeepTheRunTheyWereReadOf(t *testing.T) {
	t.Parallel()
	for name, happen := range map[string]func(r *rig, files *bornFiles){
		"renamed": func(r *rig, _ *bornFiles) { r.rename("a/train.jsonl", "b/train.jsonl") },
		"inode of another file": func(r *rig, files *bornFiles) {
			r.remove("a/train.jsonl")
			r.write("b/train.jsonl", rows(10, 2))
			files.born = 2
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			r := newRig(t)
			files := &bornFiles{born: 1}
			r.files = files
			r.write("a/train.jsonl", rows(0, 3))
			r.sink.set(func(_ context.Context, call int, ld plog.Logs) error {
				if call > 0 {
					return nil
				}
				r.sink.all = append(r.sink.all, records(ld)...) // it has them, and its answer is lost
				return errBusy
			})
			tl := r.open()
			tl.wait = func(ctx context.Context, _ time.Duration) error {
				tl.handles.drop(tl.list()[0]) // another file has it
				happen(r, files)
				tl.admit(ctx, tl.globs.namer(osFiles{}).name(r.path("b/train.jsonl")), time.Now())
				return nil
			}
			tl.step(ctx)
			tl.step(ctx)
			require.NoError(t, tl.close(ctx))
			uids := map[string]string{}
			for _, g := range r.sink.got() {
				want := "a"
				if len(g.text) > 1 {
					want = "b"
				}
				assert.Equal(t, want, g.run, g.text)
				assert.Equal(t, g.uid, cmp.Or(uids[g.text], g.uid), g.text)
				uids[g.text] = g.uid
			}
			assert.GreaterOrEqual(t, len(uids), 3)
		})
	}
}

// TestAStreamThatWasGoneForADayGoesOnWhereItWasPacked: the packed file lies there since before the start, and gives its bytes before it is forgotten.
func TestAStreamThatWasGoneForADayGoesOnWhereItWasPacked(t *testing.T) {
	t.Parallel()
	r := newPackedRig(t)
	r.write("a/train.jsonl", rows(0, 5))
	gz := packed(t, rows(0, 8))
	synctest.Test(t, func(t *testing.T) {
		r.start()
		time.Sleep(10 * time.Second)
		r.sink.set(refuseAll)
		r.append("a/train.jsonl", rows(5, 3))
		time.Sleep(10 * time.Second)
		r.remove("a/train.jsonl")
		time.Sleep(10 * time.Second)
		r.stop()
		r.pack("a/train.jsonl.gz", gz)
		time.Sleep(30 * time.Hour)
		r.settle("a/train.jsonl.gz", 0) // it is not unpacked at once
		r.sink.set(nil)
		r.start()
		time.Sleep(time.Minute)
		r.stop()
	})
	assert.Equal(t, rowsAt(rows(0, 8), 0)[5:], r.sink.of("a/train.jsonl.gz"))
	r.telemetry(lost(0))
}

// TestTextsThatPassWhileThePipelineRefusesAreLost: a stream is rotated more than once while the pipeline keeps its first lines. What
// was seen of the texts between, which no turn could read, is counted.
func TestTextsThatPassWhileThePipelineRefusesAreLost(t *testing.T) {
	t.Parallel()
	replace := func(r *rig, text string) {
		r.write("a/other", text)
		r.rename("a/other", "a/train.jsonl")
	}
	for name, c := range map[string]struct {
		identity string
		rotate   func(r *rig, text string)
	}{
		"cut":                         {identityInode, func(r *rig, text string) { r.write("a/train.jsonl", text) }},
		"cut, known by its path":      {identityPath, func(r *rig, text string) { r.write("a/train.jsonl", text) }},
		"replaced, known by its path": {identityPath, replace},
	} {
		for order, texts := range map[string][]string{
			"shorter each time":  {rows(20, 9), rows(30, 5), rows(40, 2)},
			"the last is longer": {rows(20, 5), rows(30, 4), rows(40, 30)},
		} {
			if order != "shorter each time" && name != "replaced, known by its path" {
				continue // growth tells of no rewrite
			}
			t.Run(name+", "+order, func(t *testing.T) {
				t.Parallel()
				ctx := context.Background()
				r := newRig(t)
				r.cfg.Identity = c.identity
				r.write("a/train.jsonl", rows(0, 2))
				tl := r.open()
				tl.step(ctx)
				r.append("a/train.jsonl", rows(2, 10))
				r.sink.set(func(_ context.Context, call int, _ plog.Logs) error {
					if call == 1 {
						return errBusy
					}
					return nil
				})
				tl.wait = func(ctx context.Context, _ time.Duration) error { // what happens while it waits
					for i, text := range texts {
						c.rotate(r, text)
						tl.looks(ctx)
						tl.poll(ctx, time.Now().Add(time.Duration(i)*time.Second))
					}
					return nil
				}
				tl.looks(ctx)
				tl.drain(ctx)
				tl.later(ctx, time.Minute)
				tl.later(ctx, 2*time.Minute)
				require.NoError(t, tl.close(ctx))
				assert.Equal(t, append(rowsAt(rows(0, 12), 0), rowsAt(texts[2], 40)...), r.sink.of("a/train.jsonl"))
				r.telemetry(lost(len(texts[0]) + len(texts[1])))
			})
		}
	}
}
