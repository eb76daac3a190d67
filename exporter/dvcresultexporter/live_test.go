package dvcresultexporter

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A live result that was due when a kill came is written after the start, with no record to wait for.
func TestALiveResultThatWasDueIsWrittenAfterAKill(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.LiveInterval = time.Minute
		r.start()
		run := wholeRun("a")
		r.feed(run[:2]...)
		pass(30 * time.Second)
		r.kill()
		assert.Nil(t, r.files("a"))
		time.Sleep(20 * time.Second)
		r.start()
		pass(9 * time.Second)
		assert.Nil(t, r.files("a"), "not due yet")
		pass(2 * time.Second)
		r.says("a", "", false, true)
		assert.Equal(t, 2, r.count("a"))

		r.feed(run[2])
		pass(time.Second)
		r.kill()
		time.Sleep(10 * time.Minute)
		r.start()
		pass(9 * time.Second)
		assert.Equal(t, 2, r.count("a"), "the receiver has late_grace to bring what was written meanwhile")
		pass(2 * time.Second)
		assert.Equal(t, 3, r.count("a"))
		r.says("a", "", false, true)
		r.feed(run[3:]...)
		pass(10 * time.Second)
		r.says("a", "success", true, false)
		r.stop()
	})
}

// Live results never take back what a final one says: only records do.
func TestAStartWritesNoLiveResultOverAFinalOne(t *testing.T) {
	t.Parallel()
	for name, records := range map[string]int{"stalled": 3, "success": 7} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, r *rig) {
				r.cfg.LiveInterval = 2 * time.Second
				r.start()
				r.feed(wholeRun("a")[:records]...)
				pass(31 * time.Minute)
				want := r.files("a")
				r.says("a", name, true, name == "stalled")
				r.kill()
				r.start()
				for range 120 {
					pass(time.Second)
					assert.Equal(t, want, r.files("a"))
				}
				r.stop()
			})
		})
	}
}

// Of two collectors with one directory, as gateways are, one reads everything later. What the other's final result says of the same records
// stays as it is, every file of it.
func TestACollectorThatCatchesUpTakesNothingBack(t *testing.T) {
	t.Parallel()
	run := wholeRun("a")
	failed := append(slices.Clone(run[:3]), line{record("a", 150, "run.failure", `"error_type":"E","message":"m"`), 99_000})
	for name, records := range map[string][]line{"success": run, "failed": failed, "stalled": run[:3]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, r *rig) {
				r.cfg.Report = true
				r.start()
				r.feed(records...)
				pass(31 * time.Minute)
				r.says("a", name, true, name == "stalled")
				want := r.files("a")

				later := newRig(t, r.dir)
				later.cfg.Report, later.cfg.LiveInterval = true, 2*time.Second
				later.start()
				later.feed(records[0])
				pass(3 * time.Second)
				later.feed(records[1:]...)
				for range 120 {
					pass(time.Second)
					require.Equal(t, want, r.files("a"))
				}
				pass(time.Hour)
				require.Equal(t, want, r.files("a"))

				news := line{epoch("a", 9), 999_000}
				later.feed(news)
				pass(11 * time.Second)
				assert.Equal(t, len(records)+1, r.count("a"), "a record is news")
				r.feed(news)
				r.stop()
				later.stop()
			})
		})
	}
}

// A start that finds a run silent for long knows less than the collector that watched it.
func TestAStartDoesNotSayUnknownOfWhatAnotherSawFallSilent(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		away := newRig(t, r.dir)
		for _, c := range []*rig{r, away} {
			c.start()
			c.feed(wholeRun("a")[:3]...)
		}
		pass(time.Minute)
		away.kill()
		pass(time.Hour)
		r.says("a", "stalled", true, true)
		away.start()
		pass(time.Hour)
		r.says("a", "stalled", true, true)
		for _, c := range []*rig{r, away} {
			c.feed(wholeRun("a")[3:]...)
		}
		pass(time.Minute)
		r.says("a", "success", true, false)
		r.stop()
		away.stop()
	})
}
