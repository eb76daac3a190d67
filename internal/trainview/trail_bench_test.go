package trainview

import (
	"testing"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// BenchmarkTrail is what the trail costs a record of a step: of one rank, and of eight that write in turn.
func BenchmarkTrail(b *testing.B) {
	for name, ranks := range map[string]int64{"one rank": 1, "eight ranks": 8} {
		b.Run(name, func(b *testing.B) {
			r := newRun(b).line(start, "step.end", `"step":1,"measurements":{"train/loss":1},"learning_rate":{"pg0":0.001}`)
			rec, e := r.last.rec, r.last.entry
			b.ReportAllocs()
			for b.Loop() {
				e.Time += 1e9
				e.Step.V++
				e.Rank = e.Step.V % ranks
				r.trail.Add(&rec, &e, Origin{})
			}
		})
	}
}

// last is what a run was given last.
type last struct {
	rec   trainrecord.Record
	entry trainrun.Entry
}
