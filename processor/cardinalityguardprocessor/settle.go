package cardinalityguardprocessor

import "go.opentelemetry.io/collector/pdata/pcommon"

// settle decides the fate of every collected point and which groups become a merged point.
func (w *worker) settle() {
	t := &w.table
	for n := range t.groups {
		g := &t.groups[n]
		switch {
		case !g.touched: // its points pass as they are
		case g.how == oneWriter:
			w.settleWriter(g)
		case w.judge(g):
			t.merged = append(t.merged, int32(n))
			w.contribute(g)
		}
	}
}

// settleWriter keeps one point of each time: the last one with a value. The staleness marker of the series with the old
// labels must not end the series that goes on with the new ones.
func (w *worker) settleWriter(g *group) {
	t := &w.table
	if g.count == 1 {
		return
	}
	kept := make(map[pcommon.Timestamp]int32, g.count)
	for i := g.first; i != none; i = t.refs[i].next {
		r := &t.refs[i]
		other, twice := kept[r.at]
		switch {
		case !twice:
			kept[r.at] = i
		case r.valued || !t.refs[other].valued:
			w.remove(&t.refs[other], becauseDuplicate)
			kept[r.at] = i
		default:
			w.remove(r, becauseDuplicate)
		}
	}
}

// remove drops a collected point.
func (w *worker) remove(r *ref, why reason) {
	r.fate = gone
	w.counts.dropped(w.table.objects[r.object].metric, why, 1)
}

// judge marks the points of a group that cannot be part of the merged point and says whether there is one: a touched
// point with a value must be left. Without one, the touched points go and the native points pass as they are. A point
// without a value says that its source ended, which is no news of an output that others may go on with.
func (w *worker) judge(g *group) bool {
	t := &w.table
	merges := false
	for i := g.first; i != none; i = t.refs[i].next {
		r := &t.refs[i]
		switch {
		case !r.valued:
			r.fate = valueless
		case g.how == mergeDelta && !finite(r.point):
			r.fate = notFinite
		default:
			if r.started {
				w.judgeRepeat(i)
			}
			merges = merges || r.touched
		}
	}
	for i := g.first; i != none; i = t.refs[i].next {
		r := &t.refs[i]
		if !merges && !r.touched {
			r.fate = stays
			continue
		}
		switch r.fate {
		case repeats:
			w.counts.dropped(t.objects[r.object].metric, becauseDuplicate, 1)
		case valueless:
			w.remove(r, becauseNoValue)
		case notFinite:
			w.remove(r, becauseNotFinite)
		}
	}
	return merges
}

// judgeRepeat keeps one of the points that a source sent for the same window: the one with the smaller increment, so that
// nothing is counted twice.
func (w *worker) judgeRepeat(i int32) {
	t := &w.table
	r := &t.refs[i]
	key := window{source: r.source, start: r.point.StartTimestamp(), at: r.at}
	other, twice := t.repeats[key]
	switch {
	case !twice:
		t.repeats[key] = i
	case compareValues(r.point, t.refs[other].point) < 0:
		t.refs[other].fate = repeats
		t.repeats[key] = i
	default:
		r.fate = repeats
	}
}

// contribute notes which metrics the points of a merged group come from.
func (w *worker) contribute(g *group) {
	t := &w.table
	for i := g.first; i != none; i = t.refs[i].next {
		r := &t.refs[i]
		if o := &t.objects[r.object]; r.fate != gone && !o.contributes {
			o.contributes = true
			t.series[o.series].add(t, r.object)
		}
	}
}
