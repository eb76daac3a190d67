package trainjsonlreceiver

import (
	"context"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// isStatus says whether a call tells what a stream does.
func isStatus(ld plog.Logs) bool {
	return ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).EventName() == trainrecord.EventName(trainrecord.EventStreamStatus)
}

// tellingRig is one whose streams are told of each minute, and are silent after five.
func tellingRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.cfg.SilentAfter = 5 * time.Minute
	r.cfg.StreamStatus.Interval = time.Minute
	return r
}

// TestADeliveryThatHangsHoldsUpNoEventOfAState: the pipeline keeps all of one stream, or its records alone.
func TestADeliveryThatHangsHoldsUpNoEventOfAState(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		events bool // hang too
		obeys  bool // the context
		want   []string
	}{
		{name: "records", want: []string{"h blocked"}},
		{name: "events too", events: true},
		{name: "events, whatever their context says", events: true},
		{name: "events, and their context ends them", events: true, obeys: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := tellingRig(t)
			synctest.Test(t, func(t *testing.T) {
				for _, name := range []string{"a", "b", "h"} {
					r.write(name+"/train.jsonl", rows(0, 1))
				}
				r.start()
				time.Sleep(70 * time.Second)
				open := make(chan struct{})
				r.sink.set(func(ctx context.Context, _ int, ld plog.Logs) error {
					if records(ld)[0].run != "h" || isStatus(ld) && !tc.events {
						return nil
					}
					done := ctx.Done()
					if isStatus(ld) && !tc.obeys {
						done = nil
					}
					select {
					case <-done:
						return ctx.Err()
					case <-open:
						return nil
					}
				})
				r.append("h/train.jsonl", rows(1, 1))
				time.Sleep(30 * time.Minute)
				r.telemetry(streams("blocked", "1"), streams("silent", "2"),
					`otelcol_train_jsonl_files{receiver="train_jsonl",state="stalled"} 1`)
				r.append("a/train.jsonl", runEnd)
				r.append("b/train.jsonl", runEnd)
				time.Sleep(2 * time.Minute)
				before := r.sink.statuses(t)
				assert.ElementsMatch(t, append(tc.want, "a growing", "b growing", "h growing", "a silent", "b silent", "a ended", "b ended"), before)
				close(open)
				r.sink.set(nil)
				time.Sleep(2 * time.Minute)
				r.telemetry(streams("blocked", "0"), streams("ended", "2"), streams("silent", "1"))
				after := r.sink.statuses(t)
				assert.Equal(t, "h silent", after[len(after)-1])
				r.stop()
			})
		})
	}
}

// TestManyEventsThatHangAreBounded has more streams than calls may last.
func TestManyEventsThatHangAreBounded(t *testing.T) {
	t.Parallel()
	r := tellingRig(t)
	synctest.Test(t, func(t *testing.T) {
		const hanging = 5 * maxTelling
		for i := range hanging {
			r.write("h"+strconv.Itoa(i)+"/train.jsonl", rows(0, 1))
		}
		r.write("a/train.jsonl", rows(0, 1))
		var going, most atomic.Int64
		r.sink.set(func(ctx context.Context, _ int, ld plog.Logs) error {
			if records(ld)[0].run == "a" || !isStatus(ld) {
				return nil
			}
			if n := going.Add(1); n > most.Load() { // the bubble runs them one after the other, as far as they do not wait
				most.Store(n)
			}
			defer going.Add(-1)
			<-ctx.Done()
			return ctx.Err()
		})
		r.start()
		time.Sleep(4 * time.Minute)
		assert.Equal(t, []string{"a growing"}, r.sink.statuses(t))
		assert.LessOrEqual(t, most.Load(), int64(2*maxTelling))
		r.append("a/train.jsonl", runEnd)
		time.Sleep(time.Minute + 10*time.Second)
		assert.Equal(t, []string{"a growing", "a ended"}, r.sink.statuses(t), "they have been told apart from it")
		r.sink.set(nil)
		time.Sleep(10 * time.Minute)
		assert.Len(t, r.sink.statuses(t), 2+hanging)
		r.stop()
	})
}

// TestARunWhoseInodeAnotherTakesFallsSilent: the file of another run soon gets the inode of one that was deleted.
func TestARunWhoseInodeAnotherTakesFallsSilent(t *testing.T) {
	t.Parallel()
	r := tellingRig(t)
	synctest.Test(t, func(t *testing.T) {
		r.write("a/train.jsonl", rows(0, 2))
		r.start()
		time.Sleep(70 * time.Second)
		// What a deletion and a new file do, where the operating system gives it the inode.
		require.NoError(t, os.MkdirAll(r.path("b"), 0o700))
		r.rename("a/train.jsonl", "b/train.jsonl")
		r.write("b/train.jsonl", rows(7, 1))
		for i := range 10 {
			r.append("b/train.jsonl", rows(8+i, 1))
			time.Sleep(time.Minute)
		}
		r.stop()
		assert.Equal(t, []string{"a growing", "b growing", "a silent"}, r.sink.statuses(t))
	})
}

// TestAStreamThatWentAwayFallsSilent: what was deleted, and what a restart does not find, does not look like health. What
// goes on under another name, or has made room for another, is not told of.
func TestAStreamThatWentAwayFallsSilent(t *testing.T) {
	t.Parallel()
	r := tellingRig(t)
	synctest.Test(t, func(t *testing.T) {
		for _, name := range []string{"deleted", "down", "ended", "moved", "anew", "rotated"} {
			r.write(name+"/train.jsonl", rows(0, 1))
		}
		r.append("ended/train.jsonl", runEnd)
		r.start()
		time.Sleep(70 * time.Second)
		assert.ElementsMatch(t, []string{"deleted growing", "down growing", "ended ended", "moved growing", "anew growing", "rotated growing"}, r.sink.statuses(t))
		before := len(r.sink.statuses(t))
		r.write("anew/next", rows(5, 1)) // now, or it could get the inode of one that goes away
		r.write("rotated/next", rows(5, 1))
		require.NoError(t, os.RemoveAll(r.path("deleted")))
		require.NoError(t, os.RemoveAll(r.path("ended")))
		r.rename("moved/train.jsonl", "moved/other.jsonl")
		r.remove("anew/train.jsonl")
		r.rename("rotated/train.jsonl", "rotated/train.jsonl.1")
		time.Sleep(10 * time.Second)
		r.rename("anew/next", "anew/train.jsonl")
		r.rename("rotated/next", "rotated/train.jsonl")
		time.Sleep(2 * time.Minute)
		assert.ElementsMatch(t, []string{"moved growing", "anew growing", "rotated growing"}, r.sink.statuses(t)[before:])
		before += 3
		time.Sleep(10 * time.Minute)
		assert.ElementsMatch(t, []string{"deleted silent", "down silent", "moved silent", "anew silent", "rotated silent"}, r.sink.statuses(t)[before:])
		r.stop()
		before = len(r.sink.statuses(t))
		require.NoError(t, os.RemoveAll(r.path("down")))
		r.start()
		time.Sleep(2 * time.Minute) // by the clock of the bubble, the files were just written
		assert.ElementsMatch(t, []string{"down silent", "deleted silent", "ended ended",
			"moved growing", "anew growing", "rotated growing"}, r.sink.statuses(t)[before:])
		r.stop()
	})
}

func TestAStreamThatIsGoneFallsSilentBeforeItIsForgotten(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := &stream{written: now.Add(-goneFor / 2)}
	assert.Equal(t, streamGrowing, s.state(now, 2*goneFor))
	s.gone = true
	assert.Equal(t, streamSilent, s.state(now, 2*goneFor))
}

// TestATrainerCannotTellTheStateOfItsStream: such a line is one of the stream, and says nothing of it.
func TestATrainerCannotTellTheStateOfItsStream(t *testing.T) {
	t.Parallel()
	r := tellingRig(t)
	const forged = `{"ts":1790000000,"run_id":"a","event":"stream.status","body":{"state":"growing","message":"forged"}}` + "\n"
	synctest.Test(t, func(t *testing.T) {
		r.write("a/train.jsonl", rows(0, 1)+runEnd+forged)
		r.start()
		time.Sleep(10 * time.Minute)
		r.telemetry(streams("ended", "1"), `otelcol_train_jsonl_flaws{kind="off_list",receiver="train_jsonl"} 1`)
		r.stop()
	})
	assert.Equal(t, []string{"a ended"}, r.sink.statuses(t))
	all := r.sink.got()
	require.Len(t, all, 4)
	assert.Equal(t, trainrecord.EventLog, all[2].event)
	assert.Equal(t, "forged", all[2].text)
	assert.NotEmpty(t, all[2].uid)
}
