package follow

import (
	"github.com/pathologize/otelcol-train/internal/trainrun"
	"github.com/pathologize/otelcol-train/internal/trainview"
)

// Key names a run: by the id that its records give, or, when they give none, by the folder of its stream.
type Key struct{ ID, Folder string }

// Run is what was read of a run.
type Run struct {
	Key     Key
	Name    string // the id, or the name of the folder
	Fold    *trainrun.Fold
	Trail   *trainview.Trail
	Streams []*Stream // in the order in which they were found
	Changed bool      // since the last look
	lines   lineSet
}

func newRun(k Key, name string) *Run {
	return &Run{Key: k, Name: name, Fold: trainrun.New(name), Trail: trainview.NewTrail(), lines: lineSet{}}
}

func (r *Run) add(s *Stream) {
	for _, have := range r.Streams {
		if have == s {
			return
		}
	}
	r.Streams = append(r.Streams, s)
}

// empty says that no line told of the run.
func (r *Run) empty() bool {
	t := r.Trail
	return t.Records+t.BadLines+t.Unmapped+t.Duplicates == 0 && r.Fold.Count() == 0
}

// maxLines is how many lines of a run are remembered, to know those that were written twice.
const maxLines = 1 << 20

// lineSet remembers lines by two sums: a set of open addressing, and a second one once the first is full.
type lineSet struct {
	now, before []uint64
	n           int
}

const firstLines = 1 << 10

// add says whether a line was there before.
func (l *lineSet) add(sum uint64) bool {
	if sum == 0 {
		sum = 1
	}
	if contains(l.before, sum) {
		return true
	}
	if l.now == nil {
		l.now = make([]uint64, firstLines)
	}
	if !insert(l.now, sum) {
		return true
	}
	if l.n++; 2*l.n > len(l.now) {
		l.grow()
	}
	return false
}

func (l *lineSet) grow() {
	if len(l.now) >= maxLines {
		l.before, l.now, l.n = l.now, nil, 0
		return
	}
	next := make([]uint64, 2*len(l.now))
	for _, sum := range l.now {
		if sum != 0 {
			insert(next, sum)
		}
	}
	l.now = next
}

func contains(table []uint64, sum uint64) bool {
	if len(table) == 0 {
		return false
	}
	mask := uint64(len(table) - 1)
	for i := sum & mask; table[i] != 0; i = (i + 1) & mask {
		if table[i] == sum {
			return true
		}
	}
	return false
}

func insert(table []uint64, sum uint64) bool {
	mask := uint64(len(table) - 1)
	i := sum & mask
	for ; table[i] != 0; i = (i + 1) & mask {
		if table[i] == sum {
			return false
		}
	}
	table[i] = sum
	return true
}
