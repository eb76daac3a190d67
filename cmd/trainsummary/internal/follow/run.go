package follow

import (
	"slices"

	"github.com/pathologize/otelcol-train/internal/trainrun"
	"github.com/pathologize/otelcol-train/internal/trainview"
)

// Key names a run: by the id that its records give, or, when they give none, by the folder of its stream.
type Key struct{ ID, Folder string }

// Run is what was read of a run.
type Run struct {
	Key     Key
	Name    string // the id without its secrets, as results have it, or the name of the folder
	Fold    *trainrun.Fold
	Trail   *trainview.Trail
	Streams []*Stream // in the order in which they were found
	Changed bool      // since the last look
	lines   lineSet
}

func newRun(k Key, name string) *Run {
	return &Run{Key: k, Name: name, Fold: trainrun.New(name), Trail: trainview.NewTrail(), lines: lineSet{}}
}

// add says whether the stream is new to the run.
func (r *Run) add(s *Stream) bool {
	if slices.Contains(r.Streams, s) {
		return false
	}
	r.Streams = append(r.Streams, s)
	return true
}

// Ref names the run among all: the path of a stream that is its own, else its id.
func (r *Run) Ref() string {
	for _, s := range r.Streams {
		if s.Whose() == r {
			return s.Ref.Path
		}
	}
	return r.Name
}

// What a document and a ref show of an id.
const (
	maxShownID = 64
	maxRef     = 200
)

// Is says whether the run has an id: as its records give it, or as it is shown.
func (r *Run) Is(id string) bool {
	return id == r.Name || r.Key.ID != "" && id == r.Key.ID || id == trainview.Safe(r.Name, maxShownID) || id == trainview.Safe(r.Name, maxRef)
}

// empty says that no line told of the run.
func (r *Run) empty() bool {
	t := r.Trail
	return t.Records+t.BadLines+t.Unmapped+t.Duplicates == 0 && r.Fold.Count() == 0
}

// maxLines is how many lines of a run are remembered, to know those that were written twice.
const maxLines = 1 << 20

// lineSet remembers lines by their sums. Most lines are later than all before them, so they are new: they are put into the set,
// one of open addressing, only when a line comes that is not. Once the set is full a second one begins.
type lineSet struct {
	waiting     []uint64 // not in the set yet
	time        int64    // the latest
	same        int      // waiting lines of that time, the last ones
	now, before []uint64
	n           int
}

const firstLines = 1 << 10

// seen says whether a line was there before; time is that of its record, 0 for none.
func (l *lineSet) seen(sum uint64, time int64) bool {
	if sum == 0 {
		sum = 1
	}
	switch {
	case time > l.time:
		l.time, l.same = time, 0
	case time == l.time && time > 0:
		if slices.Contains(l.waiting[len(l.waiting)-l.same:], sum) {
			return true
		}
	default:
		l.settle()
		return !l.add(sum)
	}
	l.same++
	l.waiting = append(l.waiting, sum)
	if len(l.waiting) >= maxLines {
		l.settle()
	}
	return false
}

// settle puts the waiting lines into the set. Those of the latest time go on waiting too.
func (l *lineSet) settle() {
	for _, sum := range l.waiting {
		l.add(sum)
	}
	l.waiting = append(l.waiting[:0], l.waiting[len(l.waiting)-l.same:]...)
}

// add says whether a line is new to the set.
func (l *lineSet) add(sum uint64) bool {
	if contains(l.before, sum) {
		return false
	}
	if l.now == nil {
		l.now = make([]uint64, firstLines)
	}
	if !insert(l.now, sum) {
		return false
	}
	if l.n++; 2*l.n > len(l.now) {
		l.grow()
	}
	return true
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
