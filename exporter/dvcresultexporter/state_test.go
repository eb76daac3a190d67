package dvcresultexporter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// stateSize is the telemetry line of a gauge whose value is an estimate.
func (r *rig) stateSize() string {
	r.t.Helper()
	return "otelcol_dvc_result_state_size " + r.metric("otelcol_dvc_result_state_size")
}

// Order, duplicates, batches, restarts and kills change no byte of a result.
func TestResultIsAFunctionOfTheSetOfRecords(t *testing.T) {
	t.Parallel()
	run := append(wholeRun("a"), line{record("a", 310, "log", `"message":"bye"`), 90000})
	var want map[string]string
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.feed(run...)
		pass(time.Minute)
		want = r.files("a")
		r.stop()
	})
	require.Contains(t, want, "result.json")
	dirs := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		order := rapid.Permutation(run).Draw(rt, "order")
		again := rapid.SliceOfN(rapid.SampledFrom(run), 0, 5).Draw(rt, "again")
		order = append(order, again...)
		cuts := rapid.SliceOfN(rapid.IntRange(0, 4), len(order), len(order)).Draw(rt, "cuts")
		var got map[string]string
		n++
		dir := filepath.Join(dirs, fmt.Sprint(n))
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, dir)
			r.start()
			var batch []line
			for i, l := range order {
				batch = append(batch, l)
				switch cuts[i] {
				case 0:
					continue
				case 1:
					r.feed(batch...)
					r.stop()
					r.start()
				case 2:
					r.feed(batch...)
					r.kill()
					r.start()
				default:
					r.feed(batch...)
					pass(time.Duration(cuts[i]) * time.Second)
				}
				batch = nil
			}
			r.feed(batch...)
			pass(time.Minute)
			got = r.files("a")
			r.stop()
		})
		require.Equal(rt, want, got)
	})
}

func TestReplayTouchesNoFile(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		run := wholeRun("a")
		r.feed(run...)
		pass(time.Minute)
		path := filepath.Join(r.cfg.Directory, "a", "result.json")
		before, err := os.Stat(path)
		require.NoError(t, err)
		r.feed(run...)
		pass(time.Hour)
		after, err := os.Stat(path)
		require.NoError(t, err)
		assert.True(t, os.SameFile(before, after))
		assert.Equal(t, before.ModTime(), after.ModTime())
		r.telemetry(`otelcol_dvc_result_ignored_records{reason="duplicate"} 7`, `otelcol_dvc_result_masked_values 1`, `otelcol_dvc_result_records 7`,
			`otelcol_dvc_result_runs{state="closed"} 0`, `otelcol_dvc_result_runs{state="open"} 0`, `otelcol_dvc_result_runs{state="settled"} 1`,
			`otelcol_dvc_result_written_results{outcome="success"} 1`, r.stateSize())
	})
}

func TestStorageThatFailsRefusesForNowAndLosesNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		run := wholeRun("a")
		r.feed(run[:3]...)
		broken := errors.New("no space left on device")
		r.host.FailWrites(broken)
		rest := logsOf(t, run[3:]...)
		for range 3 {
			err := r.exp.consumeLogs(t.Context(), rest)
			require.ErrorIs(t, err, broken)
			assert.False(t, consumererror.IsPermanent(err))
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.NotNil(t, r.result("a"), "the state holds the end: its result does not wait for the storage")
		r.host.FailWrites(nil)
		require.NoError(t, r.exp.consumeLogs(t.Context(), rest), "the records are brought again")
		r.kill()
		require.NoError(t, os.RemoveAll(r.cfg.Directory))
		r.start()
		pass(time.Minute)
		r.says("a", "success", true, false)
		assert.Equal(t, 7, r.count("a"))
		r.stop()
	})
}

// TestAStorageThatRefusesHasNoQueueWithoutEnd: senders that give up bring something else the next time.
func TestAStorageThatRefusesHasNoQueueWithoutEnd(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		full := errors.New("full")
		r.host.FailWrites(full)
		const runs = 3000
		send := func(i int) error {
			id := fmt.Sprintf("run-%04d", i)
			return r.exp.consumeLogs(t.Context(), logsOf(t, stream(record(id, 300, "run.end", `"outcome":"success"`))...))
		}
		eng := r.exp.engine
		var atBound int64
		for i := range runs {
			err := send(i)
			require.ErrorIs(t, err, full)
			assert.False(t, consumererror.IsPermanent(err))
			if i == maxPending-1 {
				atBound = eng.size
			}
		}
		assert.Equal(t, maxPending, len(eng.store.pending)) //nolint:testifylint // Len would print them
		assert.Equal(t, maxPending, len(eng.runs))          //nolint:testifylint // as above
		assert.Equal(t, atBound, eng.size, "a call beyond the bound changes no state")
		assert.Len(t, writes(r), maxPending, "a call beyond the bound encodes nothing")
		assert.Equal(t, strconv.Itoa(maxPending), r.metric("otelcol_dvc_result_records"))

		pass(time.Hour)
		before := len(writes(r))
		require.ErrorIs(t, send(runs-1), full, "the attempts of the hour change nothing")
		assert.Len(t, writes(r), before)
		assert.Equal(t, maxPending, len(eng.store.pending)) //nolint:testifylint // Len would print them

		r.host.FailWrites(nil)
		pass(10 * time.Second)
		assert.Empty(t, eng.store.pending, "the engine brought it by itself")
		for i := range runs {
			require.NoError(t, send(i))
		}
		r.kill()
		require.NoError(t, os.RemoveAll(r.cfg.Directory))
		r.start()
		defer r.stop()
		pass(time.Minute)
		for i := range runs {
			require.Equal(t, 1, r.count(fmt.Sprintf("run-%04d", i)), i)
		}
	})
}

// TestPendingRecordsAreBoundedByTheirSize: few records may hold much.
func TestPendingRecordsAreBoundedByTheirSize(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		full := errors.New("full")
		r.host.FailWrites(full)
		list := `"params":{"list":[` + strings.Repeat(`"`+strings.Repeat("x", 1000)+`",`, 900) + `1]}`
		send := func(i int) error {
			id := fmt.Sprintf("run-%d", i)
			return r.exp.consumeLogs(t.Context(), logsOf(t, stream(record(id, 0, "run.start", list))...))
		}
		taken := maxPendingBytes/900_000 + 1
		for i := range 2 * taken {
			require.ErrorIs(t, send(i), full)
		}
		eng := r.exp.engine
		assert.InDelta(t, taken, len(eng.store.pending), 1)
		assert.Len(t, eng.runs, len(eng.store.pending), "a call beyond the bound changes no state")
		assert.InEpsilon(t, maxPendingBytes, eng.store.waiting, 0.1)
		size, err := strconv.ParseInt(r.metric("otelcol_dvc_result_state_size"), 10, 64)
		require.NoError(t, err)
		assert.Equal(t, eng.size+eng.store.waiting, size)
		r.host.FailWrites(nil)
		pass(10 * time.Second)
		assert.Empty(t, eng.store.pending)
		assert.Zero(t, eng.store.waiting)
		for i := range 2 * taken {
			require.NoError(t, send(i))
		}
		assert.Len(t, eng.runs, 2*taken)
	})
}

// TestACallBringsWhatIsPendingWhenItIsDue: the engine may be held up by a folder that hangs.
func TestACallBringsWhatIsPendingWhenItIsDue(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		r.host.FailWrites(errors.New("full"))
		var lines []line
		for i := range maxPending {
			lines = append(lines, stream(record(fmt.Sprintf("run-%04d", i), 0, "run.start", ""))...)
		}
		require.Error(t, r.exp.consumeLogs(t.Context(), logsOf(t, lines...)))
		r.host.FailWrites(nil)
		more := logsOf(t, wholeRun("a")[0])
		require.Error(t, r.exp.consumeLogs(t.Context(), more), "not due yet")
		eng := r.exp.engine
		eng.mu.Lock()
		eng.flushAt = time.Now()
		eng.mu.Unlock()
		require.NoError(t, r.exp.consumeLogs(t.Context(), more))
		assert.Empty(t, eng.store.pending)
		assert.Len(t, eng.runs, maxPending+1)
	})
}

// writes are the calls of the storage that write.
func writes(r *rig) (out []componentcheck.StorageCall) {
	for _, call := range r.host.Calls() {
		if call.Writes {
			out = append(out, call)
		}
	}
	return out
}

func TestSilenceDoesNotCountWhileTheStorageRefuses(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		run := wholeRun("a")
		r.feed(run[:3]...)
		r.host.FailWrites(errors.New("full"))
		require.Error(t, r.exp.consumeLogs(t.Context(), logsOf(t, run[3])))
		pass(5 * time.Hour)
		assert.Nil(t, r.files("a"), "we are at fault, not the run")
		r.host.FailWrites(nil)
		r.feed(run[3])
		pass(29 * time.Minute)
		assert.Nil(t, r.files("a"))
		pass(time.Minute)
		r.says("a", "stalled", true, true)
	})
}

func TestRecordsAreInTheStorageBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		for _, l := range wholeRun("a") {
			before := len(r.host.Calls())
			r.feed(l)
			calls := r.host.Calls()[before:]
			require.Len(t, calls, 1)
			assert.Equal(t, "batch", calls[0].Op)
			assert.Len(t, calls[0].Keys, 1)
		}
		r.kill()
		r.start()
		pass(time.Minute)
		assert.Equal(t, 7, r.count("a"))
		r.stop()
	})
}

func TestSnapshotReplacesTheJournal(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.exp.engine.store.least = 10_000
		const steps, batch = 4000, 100
		for i := 0; i < steps; i += batch {
			var lines []line
			for n := i; n < i+batch; n++ {
				lines = append(lines, line{record("a", n, "step.end", fmt.Sprintf(`"step":%d,"measurements":{"train/loss":%g}`, n, 1/float64(n+1))), int64(n) * 200})
			}
			r.feed(lines...)
		}
		journal, folds := 0, 0
		for key := range r.host.Data("exporter_dvc_result") {
			if n, ok := strings.CutPrefix(key, journalPrefix); ok {
				if number := strings.TrimRight(n, journalGaps); number == n {
					journal++
				} else {
					n = number
				}
				at, err := strconv.ParseUint(n, 16, 64)
				require.NoError(t, err)
				assert.GreaterOrEqual(t, at, r.exp.engine.store.first, "a part that the snapshot holds stayed")
			}
			if strings.HasPrefix(key, foldPrefix) {
				folds++
			}
		}
		assert.Positive(t, folds, "%v", r.host.Calls())
		assert.Less(t, journal, steps/batch)
		r.feed(line{record("a", steps, "run.end", `"outcome":"success"`), 1 << 40})
		r.kill()
		r.start()
		pass(time.Minute)
		assert.Equal(t, steps+1, r.count("a"))
		r.stop()
	})
}

func TestParkedRunsKeepTheirState(t *testing.T) {
	t.Parallel()
	for _, stored := range []bool{true, false} {
		t.Run(fmt.Sprint("storage=", stored), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, r *rig) {
				r.cfg.MaxStateBytes = 1
				if !stored {
					r.cfg.StorageID = nil
				}
				r.start()
				defer r.stop()
				ids := []string{"a", "b", "c"}
				for i := range wholeRun("a") {
					for _, id := range ids {
						r.feed(wholeRun(id)[i])
					}
				}
				pass(time.Minute)
				for _, id := range ids {
					r.says(id, "success", true, false)
					assert.Equal(t, 7, r.count(id))
				}
			})
		})
	}
}

func TestWithoutStorageTheStreamBringsTheStateBack(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.StorageID = nil
		r.start()
		r.feed(wholeRun("a")...)
		pass(time.Minute)
		want := r.files("a")
		r.stop()
		r.start()
		r.feed(wholeRun("a")[4:]...) // a receiver that remembers where it was
		pass(time.Minute)
		assert.Equal(t, want, r.files("a"), "fewer records replaced a result")
		r.feed(wholeRun("a")...)
		pass(time.Minute)
		assert.Equal(t, want, r.files("a"))
		r.telemetry(`otelcol_dvc_result_ignored_records{reason="duplicate"} 3`, `otelcol_dvc_result_kept_results 1`, `otelcol_dvc_result_masked_values 1`, `otelcol_dvc_result_records 7`,
			`otelcol_dvc_result_runs{state="closed"} 0`, `otelcol_dvc_result_runs{state="open"} 0`, `otelcol_dvc_result_runs{state="settled"} 1`, r.stateSize())
		r.stop()
	})
}

func TestOtherLogsAndRecordsWithoutRunAreCounted(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		ld := logsOf(t, line{strings.Replace(epoch("a", 0), `"run_id":"a",`, "", 1), 0}, line{epoch("b", 0), 2}, line{record("a", 0, "heartbeat", ""), 1})
		ld.ResourceLogs().At(2).ScopeLogs().At(0).LogRecords().At(0).SetEventName(trainrecord.EventName(trainrecord.EventStreamStatus)) // the receiver's own
		long := ld.ResourceLogs().At(1).ScopeLogs().At(0).LogRecords().At(0)
		long.Attributes().PutStr(trainrecord.AttrRunID, strings.Repeat("x", trainrecord.MaxRunID+1))
		ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().AppendEmpty().Body().SetStr("hello")
		trainrecord.PutErrorLog(ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().AppendEmpty(), trainrecord.ReasonTorn, []byte(`{"event":"epo`))
		require.NoError(t, r.exp.consumeLogs(t.Context(), ld))
		r.telemetry(`otelcol_dvc_result_ignored_records{reason="no_run_id"} 1`, `otelcol_dvc_result_ignored_records{reason="long_run_id"} 1`, `otelcol_dvc_result_ignored_records{reason="not_a_record"} 2`, `otelcol_dvc_result_ignored_records{reason="torn"} 1`,
			`otelcol_dvc_result_runs{state="closed"} 0`, `otelcol_dvc_result_runs{state="open"} 0`, `otelcol_dvc_result_runs{state="settled"} 0`,
			`otelcol_dvc_result_state_size 0`)
	})
}
