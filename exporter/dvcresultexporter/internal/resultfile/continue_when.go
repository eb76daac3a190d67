package resultfile

import (
	"math"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// goesOn says whether a state is of records that come after a result: all of them, or some, and the first is in the middle of a stream.
// Of one that was joined before there may be nothing new.
func (p *previous) goesOn(st *trainrun.State, read func(name string) []byte) bool {
	last := nanos(p.LastAt)
	if last != 0 && st.StartedAt > last {
		return true
	}
	news := st.LastRecordAt - last // both are 0 when nobody tells the time
	if last != 0 {
		news = st.LastRecordAt/1e6 - last/1e6
	}
	if news < 0 || news == 0 && last != 0 && p.Coverage != coveragePartial {
		return false
	}
	return (st.Partial || st.Headless) && !p.beginsWith(st, read)
}

// beginsWith says that a state is there from the beginning of what a result tells. Where several runs share a file, a run that is read once
// more begins in the middle of it as well.
func (p *previous) beginsWith(st *trainrun.State, read func(name string) []byte) bool {
	if st.StartedAt/1e6 > nanos(p.Started)/1e6 {
		return false
	}
	same := len(p.Metrics) == 0
	for _, m := range listMetrics(&trainrun.State{Series: st.Series}) {
		from, ok := p.firstPlace(m.name, read)
		if m.series.Axis == trainrun.AxisOrder || len(m.series.Points) == 0 || !ok {
			continue
		}
		if m.series.Points[0].X > from {
			return false
		}
		same = true
	}
	return same
}

// firstPlace is where the curve of a metric begins.
func (p *previous) firstPlace(name string, read func(name string) []byte) (x int64, ok bool) {
	x = math.MaxInt64
	for _, pt := range p.points(name, read) {
		x = min(x, pt.X)
	}
	if first := p.NonFinite[name].First; first != nil {
		x = min(x, *first)
	}
	return x, x != math.MaxInt64
}
