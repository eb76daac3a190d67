package trainjsonlreceiver

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
)

var errBusy = errors.New("busy")

func TestRefusedBatchIsOfferedAgainUntilAccepted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		text := rows(0, 250)
		r.write("a/train.jsonl", text)
		r.sink.set(func(_ context.Context, call int, _ plog.Logs) error {
			if call < 2 {
				return errBusy
			}
			return nil
		})
		r.start()
		time.Sleep(10 * time.Second)
		r.stop()
		assert.Equal(t, rowsAt(text, 0), r.sink.of("a/train.jsonl"))
		r.sink.set(nil)
		r.start()
		time.Sleep(10 * time.Second)
		r.stop()
		assert.Len(t, r.sink.got(), 250, "a restart repeats nothing")
	})
	r.telemetry(`otelcol_train_jsonl_retries{receiver="train_jsonl"} 2`, `otelcol_train_jsonl_records{kind="record",receiver="train_jsonl"} 250`)
}

func TestStopDuringABlockedCallLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		text := rows(0, 1500)
		r.write("a/train.jsonl", text)
		r.sink.set(func(ctx context.Context, call int, _ plog.Logs) error {
			if call == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		})
		r.start()
		time.Sleep(3 * time.Second)
		began := time.Now()
		r.stop()
		assert.Zero(t, time.Since(began))
		assert.Len(t, r.sink.got(), 1000)
		r.sink.set(nil)
		r.start()
		time.Sleep(time.Second)
		r.stop()
		assert.Equal(t, rowsAt(text, 0), r.sink.of("a/train.jsonl"))
	})
}

func TestWhatIsAcceptedWhileStoppingIsNotSentAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		text := rows(0, 1500)
		r.write("a/train.jsonl", text)
		r.sink.set(func(ctx context.Context, call int, _ plog.Logs) error {
			if call == 1 {
				<-ctx.Done() // and accept none the less
			}
			return nil
		})
		r.start()
		time.Sleep(3 * time.Second)
		r.stop()
		r.sink.set(nil)
		r.start()
		time.Sleep(time.Second)
		r.stop()
		assert.Equal(t, rowsAt(text, 0), r.sink.of("a/train.jsonl"))
	})
}

func TestStopReturnsWhileAConsumerHangs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		r.write("a/train.jsonl", rows(0, 10))
		hang := make(chan struct{})
		r.sink.set(func(context.Context, int, plog.Logs) error {
			<-hang
			return nil
		})
		r.start()
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		require.ErrorIs(t, r.r.Shutdown(ctx), context.DeadlineExceeded)
		assert.Empty(t, r.host.OpenClients())
		close(hang)
	})
}

// TestAStopThatAConsumerHoldsSavesWhatWasAccepted although its context is over by then.
func TestAStopThatAConsumerHoldsSavesWhatWasAccepted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		r.cfg.CheckpointInterval = time.Hour
		r.write("a/train.jsonl", rows(0, 10))
		r.start()
		time.Sleep(time.Second) // the first save
		r.append("a/train.jsonl", rows(10, 10))
		time.Sleep(time.Second)
		require.Len(t, r.sink.of("a/train.jsonl"), 20)
		hang := make(chan struct{})
		r.sink.set(func(context.Context, int, plog.Logs) error {
			<-hang
			return errBusy
		})
		r.write("b/train.jsonl", rows(0, 1))
		time.Sleep(10 * time.Second)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		require.ErrorIs(t, r.r.Shutdown(ctx), context.DeadlineExceeded)
		close(hang)
		r.sink.set(nil)
		r.start()
		time.Sleep(10 * time.Second)
		r.stop()
		assert.Len(t, r.sink.of("a/train.jsonl"), 20, "what was accepted is read again")
		assert.Len(t, r.sink.of("b/train.jsonl"), 1)
	})
}

func TestCheckpointsAreWrittenWhileABacklogIsRead(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		text := rows(0, 50_000)
		r.write("a/train.jsonl", text)
		r.sink.set(func(context.Context, int, plog.Logs) error {
			time.Sleep(300 * time.Millisecond)
			return nil
		})
		r.start()
		time.Sleep(5050 * time.Millisecond)
		r.host.Crash()
		before := len(r.sink.got())
		r.sink.set(func(context.Context, int, plog.Logs) error { return errBusy })
		require.ErrorIs(t, r.r.Shutdown(context.Background()), componentcheck.ErrCrashed)
		require.Less(t, before, 30_000)
		r.sink.set(nil)
		r.start()
		time.Sleep(time.Minute)
		r.stop()
		seen := map[string]int{}
		for _, g := range r.sink.got() {
			seen[g.uid]++
		}
		assert.Len(t, seen, 50_000, "lost lines")
		assert.LessOrEqual(t, len(r.sink.got())-len(seen), 5000, "more than one interval repeated")
	})
}

func TestOneHotOrStalledFileHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(ctx context.Context) error{
		"refuses": func(context.Context) error { return errBusy },
		"hangs":   func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"slow":    func(context.Context) error { time.Sleep(time.Second); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			synctest.Test(t, func(t *testing.T) {
				for i := range 20 { // more than may run at a time
					r.write("hot/train"+string(rune('a'+i))+".jsonl", rows(0, 20_000))
				}
				r.sink.set(func(ctx context.Context, _ int, ld plog.Logs) error {
					if records(ld)[0].run == "hot" {
						return answer(ctx)
					}
					return nil
				})
				r.start()
				time.Sleep(3 * time.Second)
				text := rows(0, 5)
				r.write("new/train.jsonl", text)
				time.Sleep(time.Second)
				assert.Equal(t, rowsAt(text, 0), r.sink.of("new/train.jsonl"))
				time.Sleep(2 * time.Second)
				saved := false
				for _, call := range r.host.Calls() {
					saved = saved || call.Writes
				}
				assert.True(t, saved, "no checkpoint beside a stalled file")
				r.stop()
			})
		})
	}
}

func TestPermanentRefusalsAreHalvedUntilTheRecordStandsAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	text := rows(0, 100)
	r.write("a/train.jsonl", text)
	r.sink.set(func(_ context.Context, _ int, ld plog.Logs) error {
		for _, g := range records(ld) {
			if g.text == "13" || g.text == "77" {
				return consumererror.NewPermanent(errors.New("no such thing"))
			}
		}
		return nil
	})
	tl := r.open()
	tl.step(context.Background())
	require.NoError(t, tl.close(context.Background()))
	want := rowsAt(text, 0)
	want = append(append(append([]string{}, want[:13]...), want[14:77]...), want[78:]...)
	assert.Equal(t, want, r.sink.of("a/train.jsonl"))
	assert.Equal(t, int64(len(text)), r.offset(tl, "a/train.jsonl"))
	r.telemetry(`otelcol_train_jsonl_refused_records{receiver="train_jsonl"} 2`, `otelcol_train_jsonl_records{kind="record",receiver="train_jsonl"} 98`)
	assert.Equal(t, 1, r.logs.FilterMessageSnippet("refuses for good").Len(), "once a minute")
}

func TestOnlyTheRefusedPartIsOfferedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 100))
	accepted := []int{}
	r.sink.set(func(_ context.Context, call int, ld plog.Logs) error {
		accepted = append(accepted, ld.LogRecordCount())
		if call == 0 { // the first 60 were taken
			rest := plog.NewLogs()
			ld.CopyTo(rest)
			n := 0
			rest.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().RemoveIf(func(plog.LogRecord) bool {
				n++
				return n <= 60
			})
			return errors.Join(consumererror.NewLogs(errBusy, rest), consumererror.NewPermanent(errors.New("other branch")))
		}
		return nil
	})
	tl := r.open()
	tl.step(context.Background())
	require.NoError(t, tl.close(context.Background()))
	assert.Equal(t, []int{100, 40}, accepted)
	assert.Equal(t, int64(len(rows(0, 100))), r.offset(tl, "a/train.jsonl"))
	r.telemetry(`otelcol_train_jsonl_records{kind="record",receiver="train_jsonl"} 100`)
}

func TestEachAttemptIsBuiltAnew(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 3))
	r.sink.set(func(_ context.Context, call int, ld plog.Logs) error {
		if call == 0 {
			ld.ResourceLogs().RemoveIf(func(plog.ResourceLogs) bool { return true })
			return errBusy
		}
		return nil
	})
	tl := r.open()
	tl.step(context.Background())
	require.NoError(t, tl.close(context.Background()))
	assert.Equal(t, rowsAt(rows(0, 3), 0), r.sink.of("a/train.jsonl"))
}

// TestARefusedBatchIsNotKeptWhileItsLinesWait: its records take many times the memory of its lines, and hundreds of files may
// wait for a pipeline that refuses.
func TestARefusedBatchIsNotKeptWhileItsLinesWait(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 5))
	var refused weak.Pointer[byte]
	r.sink.set(func(_ context.Context, call int, ld plog.Logs) error {
		if call > 0 {
			return nil
		}
		text := strings.Repeat("a value that the batch alone refers to ", 10)
		ld.ResourceLogs().At(0).Resource().Attributes().PutStr("text", text)
		refused = weak.Make(unsafe.StringData(text)) //nolint:gosec // only to see whether it is there
		return errBusy
	})
	tl := r.open()
	waited := false
	tl.wait = func(context.Context, time.Duration) error {
		waited = true
		runtime.GC()
		assert.Nil(t, refused.Value(), "the refused batch is kept")
		return nil
	}
	tl.step(context.Background())
	require.NoError(t, tl.close(context.Background()))
	assert.True(t, waited)
	assert.Equal(t, rowsAt(rows(0, 5), 0), r.sink.of("a/train.jsonl"))
}

func TestInFlightBytesAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		r.cfg.MaxInFlightBytes = 1 << 20
		r.cfg.MaxLineSize = 64 << 10
		for i := range 10 {
			r.write("a/train"+string(rune('a'+i))+".jsonl", rows(0, 10_000))
		}
		hang := make(chan struct{})
		r.sink.set(func(context.Context, int, plog.Logs) error {
			<-hang
			return nil
		})
		r.start()
		time.Sleep(5 * time.Second)
		budget := &r.r.tailer.budget
		budget.mu.Lock()
		used := budget.used
		budget.mu.Unlock()
		assert.LessOrEqual(t, used, int64(1<<20))
		assert.Positive(t, used)
		close(hang)
		time.Sleep(20 * time.Second)
		r.stop()
		assert.Len(t, r.sink.got(), 100_000)
		assert.Zero(t, budget.used)
	})
}

func TestALifeThatIsShorterThanTheCheckpointIntervalGetsOn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cfg.CheckpointInterval = time.Hour
	r.write("run7/train.jsonl", rows(0, 5))
	synctest.Test(t, func(t *testing.T) {
		r.start()
		time.Sleep(firstSave + r.cfg.PollInterval) // of the test's clock
		r.host.Crash()
		r.stop()
	})
	r.start()
	r.append("run7/train.jsonl", rows(5, 1))
	require.Eventually(t, func() bool { return len(r.sink.got()) >= 6 }, time.Minute, 10*time.Millisecond)
	r.stop()
	assert.Len(t, r.sink.got(), 6)
}
