package dvcresultexporter

import (
	"fmt"
	"slices"
	"time"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/resultfile"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// part gives the state of a side, after it has brought the sides of the run in line with what its records say now. It is nil
// when the side is none any more. The caller holds the lock.
func (g *engine) part(s *side, now time.Time) *trainrun.State {
	r := s.run
	states := r.fold.States()
	if len(states) == 1 && len(r.sides) == 1 {
		return states[0]
	}
	sides := make([]*side, len(states))
	for i, st := range states {
		if i == 0 {
			sides[i] = r.owner()
		} else if sides[i] = r.split(st.Conflict.Host); sides[i] == nil {
			sides[i] = r.newSplit(st.Conflict.Host)
		}
	}
	for _, old := range r.sides {
		if !slices.Contains(sides, old) {
			old.gone = true
			g.fix(old)
			g.report.worked(old)
		}
	}
	r.sides = sides
	var own *trainrun.State
	for i, st := range states {
		if sides[i] == s {
			own = st
		}
		if shape := shapeOf(st); shape != sides[i].shape {
			sides[i].shape = shape
			g.change(sides[i], now)
		}
	}
	return own
}

// newSplit makes the side of a host that turned out to be in conflict. What is known of the run's arrival is known of it.
func (r *run) newSplit(host string) *side {
	o := r.owner()
	s := r.newSide(host, resultfile.SideDirectory(r.dir, host), o.seen)
	s.wallSeen, s.quiet, s.silent, s.verdict, s.told = o.wallSeen, o.quiet, o.silent, o.verdict, o.told
	s.endSeen, s.failSeen, s.lived, s.shown = o.endSeen, o.failSeen, o.lived, nothingShown
	return s
}

// shapeOf tells a change of what a side is made of, which may come with a record of another one.
func shapeOf(st *trainrun.State) string {
	if st.Conflict == nil {
		return fmt.Sprint(st.Records.Count)
	}
	shape := fmt.Sprintf("%d %q", st.Records.Count, st.Conflict.Host)
	for _, h := range st.Conflict.Hosts {
		shape += fmt.Sprintf(" %q %d", h.Host, h.First)
	}
	return shape
}

// change makes a side due again. The caller holds the lock.
func (g *engine) change(s *side, now time.Time) {
	s.version++
	if s.changed.IsZero() {
		s.changed = now
	}
	g.fix(s)
}

// stale names the directories that the run's hosts would have in a conflict, but have not: an earlier look at fewer records
// may have filled them. The owner's side clears them.
func (s *side) stale() []string {
	if s != s.run.owner() {
		return nil
	}
	var out []string
	for _, host := range s.run.fold.Hosts() {
		if s.run.split(host) == nil {
			out = append(out, resultfile.SideDirectory(s.run.dir, host))
		}
	}
	return out
}
