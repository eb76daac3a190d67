package dvcresultexporter

import (
	"time"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// maxStuck bounds the streams of a run that are remembered as blocked.
const maxStuck = 64

// status is what a receiver says of a stream.
type status struct {
	run, file string
	blocked   bool
}

func statusOf(rec *trainrecord.Record, file string) status {
	state, ok := rec.Body.Get(trainrecord.BodyState)
	return status{trainrun.RunID(rec.RunID), file, ok && state.AsString() == trainrecord.StreamBlocked}
}

// heed notes which streams are blocked: while one of a run's is, silence is our fault and not the run's, and it counts from the end
// of that. The caller holds the lock.
func (g *engine) heed(told []status, now time.Time) {
	for _, st := range told {
		r := g.runs[st.run]
		if r == nil || r.closed || r.stuck[st.file] == st.blocked || st.blocked && len(r.stuck) == maxStuck {
			continue
		}
		if st.blocked && r.stuck == nil {
			r.stuck = map[string]bool{}
		}
		if st.blocked {
			r.stuck[st.file] = true
		} else {
			delete(r.stuck, st.file)
		}
		for _, s := range r.sides {
			if !r.isStuck() {
				s.quiet = now
			}
			g.fix(s)
		}
	}
}

func (r *run) isStuck() bool { return len(r.stuck) > 0 }
