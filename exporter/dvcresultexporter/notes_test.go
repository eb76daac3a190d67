package dvcresultexporter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestWhatIsToBeMendedIsSaid in the result and in one log line.
func TestWhatIsToBeMendedIsSaid(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		for _, id := range []string{"a", "b"} {
			r.feed(stream(record(id, 0, "run.start", `"objective":{"metric":"val/none","mode":"min"}`), epoch(id, 0),
				record(id, 300, "run.end", `"outcome":"completed"`))...)
		}
		pass(time.Minute)
		text := r.files("a")["result.json"]
		assert.Contains(t, text, `"what": "objective_never_measured"`)
		assert.Contains(t, text, `"what": "outcome_off_list"`)
		assert.Equal(t, 1, r.logs.FilterMessageSnippet(`body.outcome: "completed", want success, failed or aborted`).Len())
		assert.Equal(t, 1, r.logs.FilterMessageSnippet(`no record measures "val/none"`).Len())
	})
}

// TestARunWithoutItsBeginningIsPartial: the storage was lost, the receiver's offsets were not.
func TestARunWithoutItsBeginningIsPartial(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		r.feed(wholeRun("a")[3:]...)
		pass(time.Minute)
		assert.Contains(t, r.files("a")["result.json"], `"coverage": "partial"`)
		assert.Equal(t, "1", r.metric("otelcol_dvc_result_partial_results"))
		assert.Equal(t, 1, r.logs.FilterMessageSnippet("beginning of a run's stream is missing").Len())
		r.feed(wholeRun("a")[:3]...)
		pass(time.Minute)
		assert.NotContains(t, r.files("a")["result.json"], "coverage")
	})
}
