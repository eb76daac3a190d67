package dvcresultexporter

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestResultComesAfterTheLateGraceOfTheEnd(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		run := wholeRun("a")
		r.feed(run[:6]...)
		pass(20 * time.Minute)
		assert.Nil(t, r.files("a"), "a running run has no result")
		r.feed(run[6])
		pass(10*time.Second - time.Nanosecond)
		assert.Nil(t, r.files("a"))
		pass(time.Nanosecond)
		r.says("a", "success", true, false)
		r.telemetry(`otelcol_dvc_result_masked_values 1`, `otelcol_dvc_result_records 7`,
			`otelcol_dvc_result_runs{state="closed"} 0`, `otelcol_dvc_result_runs{state="open"} 0`, `otelcol_dvc_result_runs{state="settled"} 1`,
			`otelcol_dvc_result_written_results{outcome="success"} 1`, r.stateSize())
	})
}

func TestLateRecordIsAppliedOncePerLateGraceAndLaterOnesAreCountedOnly(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		run := wholeRun("a")
		r.feed(append(run[:1:1], run[3:]...)...)
		pass(10 * time.Second)
		r.says("a", "success", true, false)
		assert.Equal(t, 5, r.count("a"))
		pass(time.Hour)
		r.feed(run[1])
		pass(6 * time.Second)
		r.feed(run[2])
		assert.Equal(t, 5, r.count("a"))
		pass(4 * time.Second)
		assert.Equal(t, 7, r.count("a"), "both late records in one rewrite")
		before := r.files("a")
		pass(24 * time.Hour)
		r.feed(line{record("a", 400, "heartbeat", ""), 99000})
		pass(time.Hour)
		assert.Equal(t, before, r.files("a"))
		r.telemetry(`otelcol_dvc_result_ignored_records{reason="late"} 1`, `otelcol_dvc_result_masked_values 1`, `otelcol_dvc_result_records 7`,
			`otelcol_dvc_result_runs{state="closed"} 1`, `otelcol_dvc_result_runs{state="open"} 0`, `otelcol_dvc_result_runs{state="settled"} 0`,
			r.stateSize(), `otelcol_dvc_result_written_results{outcome="success"} 2`)
	})
}

func TestFailureCountsAfterItsGraceAndALaterAttemptReopensTheRun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		r.feed(stream(
			record("a", 0, "run.start", `"planned_epochs":4`), epoch("a", 0), epoch("a", 1),
			record("a", 150, "run.failure", `"error_type":"OOM","message":"out of memory","epoch":2`),
		)...)
		pass(time.Minute - time.Nanosecond)
		assert.Nil(t, r.files("a"))
		pass(time.Nanosecond)
		r.says("a", "failed", true, false)

		pass(48 * time.Hour) // a failed run is never too late: the cause may take days to mend
		second := []line{{record("a", 9000, "run.start", `"planned_epochs":4`, `"attempt":2`), 50000}, {epoch("a", 2, `"attempt":2`), 51000}}
		r.feed(second...)
		pass(time.Minute)
		r.says("a", "", false, true)
		r.feed(line{record("a", 9900, "run.end", `"outcome":"success"`, `"attempt":2`), 52000})
		pass(10 * time.Second)
		r.says("a", "success", true, false)
		assert.Len(t, r.result("a").Attempts, 2)
	})
}

// What was settled is the attempt before: a new one that ends soon has the graces of its own end, also after a restart.
func TestGracesBelongToTheAttempt(t *testing.T) {
	t.Parallel()
	for _, first := range []string{`run.end "outcome":"aborted"`, `run.failure "message":"x"`} {
		for _, second := range []string{`run.end "outcome":"success"`, `run.failure "message":"y"`} {
			for _, restart := range []bool{false, true} {
				t.Run(fmt.Sprint(first, ", ", second, ", ", restart), func(t *testing.T) {
					t.Parallel()
					inBubble(t, func(t *testing.T, r *rig) {
						event, body, _ := strings.Cut(first, " ")
						r.start()
						r.feed(stream(record("a", 0, "run.start", ""), epoch("a", 0), record("a", 150, event, body))...)
						pass(time.Hour)
						outcome := r.result("a").Outcome
						r.says("a", outcome, true, false)
						if restart {
							r.kill()
							r.start()
							pass(time.Minute)
						}
						r.feed(line{record("a", 9000, "run.start", ""), 50000}) // without a number: the fold counts
						pass(9 * time.Second)
						event, body, _ = strings.Cut(second, " ")
						r.feed(line{record("a", 9001, event, body), 51000})
						grace, want := 10*time.Second, "success"
						if event == "run.failure" {
							grace, want = time.Minute, "failed"
						}
						pass(time.Second)
						r.says("a", "", false, true) // it goes on, as far as is known late_grace after its first record
						pass(grace - time.Second - time.Nanosecond)
						r.says("a", "", false, true)
						pass(time.Nanosecond)
						r.says("a", want, true, false)
						assert.Len(t, r.result("a").Attempts, 2)
						r.stop()
					})
				})
			}
		}
	}
}

func TestFailureBeforeARestartCountsAfterIt(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.feed(stream(epoch("a", 0), record("a", 150, "run.failure", `"message":"x"`))...)
		r.kill()
		r.start()
		pass(time.Minute - time.Nanosecond)
		assert.Nil(t, r.files("a"))
		pass(time.Nanosecond)
		r.says("a", "failed", true, false)
		r.stop()
	})
}

func TestEndWithinTheFailureGraceDecides(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		r.feed(stream(epoch("a", 0), record("a", 150, "run.failure", `"message":"x"`))...)
		pass(30 * time.Second)
		r.feed(line{record("a", 160, "run.end", `"outcome":"aborted"`), 9000})
		pass(10 * time.Second)
		r.says("a", "aborted", true, false)
	})
}

func TestSilentRunIsStalledAndReopened(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		run := wholeRun("a")
		r.feed(run[:3]...)
		pass(20 * time.Minute)
		r.feed(run[3])
		pass(30*time.Minute - time.Nanosecond)
		assert.Nil(t, r.files("a"), "silence is measured from the last record")
		pass(time.Nanosecond)
		r.says("a", "stalled", true, true)
		pass(72 * time.Hour)
		r.feed(run[4])
		pass(10 * time.Second)
		r.says("a", "", false, true) // it goes on: what says final must not stay
		pass(30 * time.Minute)
		r.says("a", "stalled", true, true)
		r.feed(run[5])
		r.kill()
		r.start()
		pass(10 * time.Second)
		r.says("a", "", false, true) // also when the collector was killed before it could say so
		r.feed(run[6])
		pass(10 * time.Second)
		r.says("a", "success", true, false)
	})
}

func TestEndedPartsAreNoEndOfTheRun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		r.feed(stream(epoch("a", 0, `"part":"fold=0"`), record("a", 100, "run.end", `"outcome":"success"`, `"part":"fold=0"`))...)
		pass(time.Minute)
		assert.Nil(t, r.files("a"), "another part may follow")
		pass(30 * time.Minute)
		r.says("a", "success", true, true)
		assert.Equal(t, "parts", r.result("a").OutcomeFrom)
	})
}

func TestReplayingAnOldStreamStallsNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) { // the clock of the bubble is decades away from the records' times
		r.start()
		defer r.stop()
		for _, l := range wholeRun("a")[:6] {
			r.feed(l)
			pass(29 * time.Minute)
			assert.Nil(t, r.files("a"))
		}
	})
}

func TestRunThatWasSilentAtTheStartIsUnknownUnlessItSpeaks(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.feed(wholeRun("silent")[:3]...)
		r.feed(wholeRun("speaks")[:3]...)
		r.stop()
		time.Sleep(time.Hour)
		r.start()
		r.feed(wholeRun("speaks")[3])
		pass(10 * time.Second)
		r.says("silent", "unknown", true, true)
		assert.Equal(t, "restart", r.result("silent").OutcomeFrom)
		assert.Nil(t, r.files("speaks"))
		r.stop()
	})
}

func TestStalledStaysStalledOverARestart(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.feed(wholeRun("a")[:3]...)
		pass(31 * time.Minute)
		before := r.files("a")
		r.says("a", "stalled", true, true)
		r.stop()
		time.Sleep(time.Hour)
		r.start()
		pass(time.Hour)
		assert.Equal(t, before, r.files("a"))
		r.stop()
	})
}

// What silence an undisturbed collector calls stalled, one that was killed meanwhile calls so as well, unless it was not there
// when the time was over.
func TestKillsDoNotChangeTheVerdictOnSilence(t *testing.T) {
	t.Parallel()
	var want map[string]string
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		r.feed(wholeRun("a")[:3]...)
		pass(30 * time.Minute)
		want = r.files("a")
	})
	m := time.Minute
	for name, tc := range map[string]struct {
		kills   []time.Duration // since the last record
		down    time.Duration
		outcome string
	}{
		"at once":                    {[]time.Duration{0}, 0, "stalled"},
		"late":                       {[]time.Duration{29 * m}, 0, "stalled"},
		"late and long":              {[]time.Duration{m}, 28 * m, "stalled"},
		"just in time":               {[]time.Duration{0}, 30 * m, "stalled"},
		"twice, together older":      {[]time.Duration{20 * m, 40 * m}, 0, "stalled"},
		"ever again":                 {[]time.Duration{9 * m, 19 * m, 29 * m, 39 * m, 49 * m}, m, "stalled"},
		"after the verdict":          {[]time.Duration{31 * m}, 24 * time.Hour, "stalled"},
		"nobody was there":           {[]time.Duration{29 * m}, m + time.Nanosecond, "unknown"},
		"nobody was there, twice":    {[]time.Duration{29 * m, 80 * m}, 20 * m, "unknown"},
		"old before the second kill": {[]time.Duration{20 * m, 29 * m}, 5 * m, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, r *rig) {
				r.start()
				r.feed(wholeRun("a")[:3]...)
				last := time.Now()
				for _, at := range tc.kills {
					pass(time.Until(last.Add(at)))
					r.kill()
					time.Sleep(tc.down)
					r.start()
				}
				pass(31 * m)
				r.says("a", tc.outcome, true, true)
				if tc.outcome == "stalled" {
					assert.Equal(t, want, r.files("a"))
				}
				r.stop()
			})
		})
	}
}

// The time that is left after a start is never too short for the receiver to bring what was written meanwhile.
func TestSilenceAfterAStartLastsTheLateGraceAtLeast(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.feed(wholeRun("a")[:3]...)
		pass(30*time.Minute - time.Second)
		r.kill()
		r.start()
		pass(10*time.Second - time.Nanosecond)
		assert.Nil(t, r.files("a"))
		pass(time.Nanosecond)
		r.says("a", "stalled", true, true)
		r.stop()
	})
}

// The verdict is in the storage before its result is on disk, or a kill between would make another one of it.
func TestKillWhileAStalledResultIsWrittenKeepsTheVerdict(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.feed(wholeRun("a")[:3]...)
		r.fs.fail(func(op, name string) error {
			if op == "rename" && filepath.Base(name) == "result.json" {
				r.host.Crash()
			}
			return nil
		})
		pass(30 * time.Minute)
		before := r.files("a")
		r.says("a", "stalled", true, true)
		r.fs.fail(nil)
		r.kill()
		time.Sleep(time.Hour)
		r.start()
		pass(time.Hour)
		assert.Equal(t, before, r.files("a"))
		r.stop()
	})
}

func TestLiveResultsAreNotFinal(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.LiveInterval = time.Minute
		r.start()
		defer r.stop()
		run := wholeRun("a")
		r.feed(run[:2]...)
		pass(time.Minute)
		r.says("a", "", false, true)
		assert.Equal(t, 2, r.count("a"))
		r.feed(run[2])
		pass(time.Minute)
		assert.Equal(t, 3, r.count("a"))
		pass(29 * time.Minute)
		r.says("a", "stalled", true, true) // a live result is none that silence could leave alone
		r.feed(run[3:]...)
		pass(10 * time.Second)
		r.says("a", "success", true, false)
	})
}

func TestShutdownWritesNothingAndTheNextStartDoes(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.feed(wholeRun("a")...)
		pass(5 * time.Second)
		r.stop()
		assert.Nil(t, r.files("a"))
		r.start()
		pass(10 * time.Second)
		r.says("a", "success", true, false)
		r.stop()
	})
}
