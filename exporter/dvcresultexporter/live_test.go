package dvcresultexporter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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
