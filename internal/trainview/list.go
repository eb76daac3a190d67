package trainview

import (
	"cmp"
	"slices"
	"time"
)

// attention is the order of a list: what needs it first.
var attention = []string{Failed, Stalled, Unknown, Aborted, Running, Starting, Finished}

// Entry is a run for a list: its document, its id and ref in full.
type Entry struct {
	Document *Document
	ID       string
	Ref      string // what names it where its id does not: the path of its stream, or the id
}

// CompareAttention puts first what needs attention, then goes by id.
func CompareAttention(a, b Entry) int {
	return cmp.Or(cmp.Compare(slices.Index(attention, a.Document.State), slices.Index(attention, b.Document.State)),
		cmp.Compare(a.ID, b.ID), cmp.Compare(a.Ref, b.Ref))
}

// NewList makes the list of runs; the documents need not fit their size.
func NewList(now time.Time, runs []Entry, most int) *List {
	if most <= 0 || most > MaxListed {
		most = MaxListed
	}
	ids := map[string]int{}
	for i := range runs {
		ids[runs[i].ID]++
	}
	sorted := slices.Clone(runs)
	slices.SortStableFunc(sorted, CompareAttention)
	l := &List{Schema: SchemaList, Now: clock(now), Total: len(runs), Runs: []Row{}}
	for _, r := range sorted[:min(len(sorted), most)] {
		l.Runs = append(l.Runs, r.row(ids[r.ID] > 1))
	}
	l.Omitted = l.Total - len(l.Runs)
	return l
}

// row is a run in a line. It gets a ref when its id does not name it.
func (r *Entry) row(ambiguous bool) Row {
	d := r.Document
	row := Row{
		State: d.State, Alive: d.Alive, Done: d.Progress.EpochsCompleted, Of: d.Progress.EpochsPlanned,
		Warn: len(d.Warnings) + d.WarningsOmitted,
	}
	if r.ID != "" {
		row.ID = ptr(Safe(r.ID, maxIDListed))
	}
	if ambiguous || row.ID == nil || *row.ID != r.ID {
		row.Ref = Safe(r.Ref, maxPath)
	}
	if len(d.Metrics) > 0 {
		m := &d.Metrics[0]
		row.Metric, row.Last, row.Trend = ptr(shortened(m.Name, maxListedName)), m.Last, ptr(m.Trend)
		row.Best, row.BestAt = m.Best, m.BestAt
	}
	row.fit()
	return row
}

// fit brings a row to its size. The ref is a handle: it is whole or not there.
func (r *Row) fit() {
	size := func() int {
		short := *r
		short.Ref = ""
		b, err := Encode(short)
		if err != nil {
			return 0
		}
		return len(b) - 1
	}
	for most := maxIDListed / 2; most >= 8 && size() > MaxRow; most /= 2 {
		if r.Metric != nil {
			r.Metric = ptr(shortened(*r.Metric, most))
		}
		if r.ID != nil {
			r.ID = ptr(shortened(*r.ID, most))
		}
	}
	if size() > MaxRow { // numbers of absurd length: the document has them
		r.Best, r.BestAt = nil, nil
	}
	if size() > MaxRow {
		r.Metric, r.Last, r.Trend = nil, nil, nil
	}
}

// States lists the states, what needs attention first.
func States() []string { return slices.Clone(attention) }
