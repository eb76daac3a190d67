package trainingsignalsconnector

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// TestTheTraceOfAThreeDayRun holds what a reader of OTLP wants of a trace whose root comes last: unique ids, parents that are there in the
// end, children within, the beginning known from the first minute on.
func TestTheTraceOfAThreeDayRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rec(5, 1, "run.start", "long", nil, m{"planned_epochs": 432})
	b.tick(10)
	_, all := b.took()
	require.Len(t, named(all, "start"), 1, "the trace can be found at once")
	const minutes = 10.0
	for epoch := range 432 {
		from := 10 + float64(epoch)*minutes*60
		b.rec(from+1, 0, "phase.start", "long", m{"phase": "train"}, m{"epoch": epoch})
		b.rec(from+500, 0, "phase.end", "long", m{"phase": "train"}, m{"epoch": epoch})
		b.rec(from+590, 0, "epoch.end", "long", nil, m{"epoch": epoch, "durations": m{"validation_s": 80}})
		b.tick(from + 600)
		_, spans := b.took()
		all = append(all, spans...)
	}
	b.rec(259_215, 0, "run.end", "long", nil, m{"outcome": "success"})
	b.tick(259_220)
	b.tick(259_230)
	points, spans := b.took()
	all = append(all, spans...)
	run := named(all, "run")
	require.Len(t, run, 1)
	assert.Equal(t, []any{at(4), at(259_215), "ok"}, []any{run[0]["start"], run[0]["end"], run[0]["status"]})
	assert.InDelta(t, 432, run[0]["attributes"].(map[string]any)[trainrecord.AttrEpochCompleted], 0)
	ids := map[any]bool{}
	for _, s := range all {
		assert.False(t, ids[s["span_id"]], "two spans have one id")
		ids[s["span_id"]] = true
		assert.Equal(t, run[0]["trace_id"], s["trace_id"])
		if s["name"] != "training.run" {
			assert.Equal(t, run[0]["span_id"], s["parent_span_id"])
			assert.True(t, s["start"].(int64) >= at(4) && s["end"].(int64) <= at(259_215), fmt.Sprint(s))
		}
	}
	assert.Less(t, len(all), 600)
	assert.InDelta(t, 1, value1(points, "run.active", "running").(float64)+value1(points, "run.outcomes", "success").(float64), 0)
}
