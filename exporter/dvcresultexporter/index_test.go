package dvcresultexporter

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Runs that come one after another do not have the keys of all of them written with each: the journal names them until a snapshot does.
func TestTheIndexIsNotWrittenWithEachRun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		for i := range 20 {
			r.feed(wholeRun(fmt.Sprintf("run-%d", i))...)
			pass(time.Minute)
		}
		writes := 0
		for _, call := range r.host.Calls() {
			if slices.Contains(call.Keys, indexKey) && call.Writes {
				writes++
			}
		}
		assert.LessOrEqual(t, writes, 1)
		r.stop()
	})
}

// A run that only the journal names has its verdict, and its parked state, after a restart as well.
func TestARunThatNoIndexNamesKeepsWhatIsKnownOfIt(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.LateWindow = time.Hour
		r.start()
		r.feed(wholeRun("late")...)
		pass(2 * time.Hour)
		r.feed(wholeRun("parked")[:5]...)
		r.exp.engine.mu.Lock()
		require.NoError(t, r.exp.engine.park(t.Context(), r.exp.engine.runs["parked"]))
		r.exp.engine.mu.Unlock()
		r.kill()
		r.start()
		r.exp.engine.mu.Lock()
		assert.True(t, r.exp.engine.runs["late"].closed)
		assert.True(t, r.exp.engine.runs["late"].owner().verdict.Final)
		r.exp.engine.mu.Unlock()
		r.feed(wholeRun("parked")[5:]...)
		pass(time.Minute)
		assert.Equal(t, 7, r.count("parked"))
		r.stop()
	})
}

// The part of the journal that named a run may be damaged: its parked state is found when it goes on.
func TestAParkedStateIsFoundBehindADamagedPart(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.feed(wholeRun("a")[:5]...)
		r.exp.engine.mu.Lock()
		require.NoError(t, r.exp.engine.park(t.Context(), r.exp.engine.runs["a"]))
		r.exp.engine.mu.Unlock()
		require.NoError(t, r.exp.engine.store.client.Set(t.Context(), journalKey(0), []byte("damaged")))
		r.kill()
		r.start()
		r.feed(wholeRun("a")[5:]...)
		pass(time.Minute)
		assert.Equal(t, 7, r.count("a"))
		r.stop()
	})
}
