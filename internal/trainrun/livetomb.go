package trainrun

import (
	"cmp"
	"crypto/sha256"
	"math"
	"slices"
	"strconv"
)

// tombKey names an attempt by the number that its records carry.
type tombKey [16]byte

func tombOf(runID string, written int64) (k tombKey) {
	b := strconv.AppendInt(append([]byte(runID), 0), written, 10)
	sum := sha256.Sum256(b)
	copy(k[:], sum[:])
	return k
}

// tomb is what stays of attempts that are over: nothing counts them again.
type tomb struct {
	number int64
	last   int64
}

// tombstones keeps a bounded number, those that were added last.
type tombstones struct {
	limit int
	byKey map[tombKey]tomb
	order []tombKey
	next  int
}

func newTombstones(limit int) tombstones {
	return tombstones{limit: max(limit, 1), byKey: map[tombKey]tomb{}}
}

func (t *tombstones) add(c *Course) {
	t.put(tombOf(c.RunID, c.Written), tomb{number: c.Number, last: max(c.last, c.End)})
}

func (t *tombstones) put(k tombKey, v tomb) {
	old, ok := t.byKey[k]
	v.number, v.last = max(v.number, old.number), max(v.last, old.last)
	t.byKey[k] = v
	switch {
	case ok:
	case len(t.order) < t.limit:
		t.order = append(t.order, k)
	default:
		delete(t.byKey, t.order[t.next])
		t.order[t.next] = k
		t.next = (t.next + 1) % len(t.order)
	}
}

// bars says that a record is of an attempt that is over, and begins no further one.
func (t *tombstones) bars(s *Sighting) bool {
	if len(t.byKey) == 0 {
		return false
	}
	v, ok := t.byKey[tombOf(s.RunID, s.Attempt)]
	return ok && (s.Event != EventRunStart || s.Time <= v.last)
}

func (t *tombstones) number(s *Sighting) (int64, bool) {
	v, ok := t.byKey[tombOf(s.RunID, s.Attempt)]
	return v.number, ok
}

// maxOver bounds the attempts that are over and only wait for late records: a replay of many finished runs has no more of those.
const maxOver = 1000

// leaver is an attempt that may have to go; rank says before which others.
type leaver struct {
	run  *liveRun
	c    *Course
	rank int
}

// forget leaves only tombstones of the attempts that ended first, when of those that are over, so many, more are kept than maxOver.
func (l *Live) forget(over int, now Moment) {
	if over <= maxOver {
		return
	}
	list := make([]leaver, 0, over)
	for _, r := range l.runs {
		for _, c := range r.courses {
			if c.Settled {
				list = append(list, leaver{run: r, c: c})
			}
		}
	}
	slices.SortFunc(list, func(a, b leaver) int {
		return cmp.Or(cmp.Compare(a.c.closed.mono, b.c.closed.mono), cmp.Compare(a.run.id, b.run.id), cmp.Compare(a.c.Number, b.c.Number))
	})
	for _, v := range list[:over-maxOver] {
		l.give(v.run, v.c, now)
	}
}

// evict gives up attempts when there are too many: those that are over first, then the longest stalled, then the longest idle. It
// makes some room more, so that it is not needed again at once.
func (l *Live) evict(now Moment) {
	if l.kept <= l.opt.Attempts {
		return
	}
	list := make([]leaver, 0, l.kept)
	for _, r := range l.runs {
		for _, c := range r.courses {
			rank := 3
			switch {
			case c.Settled:
				rank = 0
			case c.Ended || !c.Opened:
				rank = 1
			case c.Stalled:
				rank = 2
			}
			list = append(list, leaver{r, c, rank})
		}
	}
	slices.SortFunc(list, func(a, b leaver) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.c.seen.mono, b.c.seen.mono), cmp.Compare(a.run.id, b.run.id),
			cmp.Compare(a.c.Number, b.c.Number))
	})
	room := min(int(math.Ceil(float64(l.opt.Attempts)/16)), l.opt.Attempts-1)
	for _, v := range list {
		if l.kept <= l.opt.Attempts && (v.rank > 1 || l.kept <= l.opt.Attempts-room) {
			break
		}
		l.give(v.run, v.c, now)
	}
}

// give ends an attempt, tells all about it, and leaves a tombstone.
func (l *Live) give(r *liveRun, c *Course, now Moment) {
	if !c.Ended {
		l.end(c, c.fallback(), c.last, now)
		l.tell(Transition{Kind: Evicted, Course: c})
	}
	if !c.Settled {
		c.Settled = true
		l.tell(Transition{Kind: Settled, Course: c})
	}
	l.bury(r, slices.Index(r.courses, c))
	if len(r.courses) == 0 {
		delete(l.runs, r.id)
	}
}
