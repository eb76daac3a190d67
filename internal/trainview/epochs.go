package trainview

import (
	"cmp"
	"math"
	"slices"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

type epochMark struct{ time, attempt, epoch, nanos int64 }

// epoch notes when an epoch was complete, and how long it took.
func (t *Trail) epoch(e *trainrun.Entry) {
	if e.Part != "" {
		return
	}
	m := epochMark{time: e.Time, attempt: e.Attempt, epoch: -1}
	if e.Event == trainrun.EventEpochEnd && e.Epoch.Set {
		m.epoch = e.Epoch.V
		for _, d := range e.Durations {
			if d.Phase == "epoch" {
				m.nanos = d.Nanos
			}
		}
	} else if e.Progress >= 1 {
		m.epoch = int64(math.Floor(e.Progress)) - 1
	}
	if m.epoch < 0 || m.time == 0 && m.nanos == 0 {
		return
	}
	if m.nanos == 0 && t.proved(m) {
		return
	}
	t.epochs.add(m, 8*epochsForLength, func(a, b epochMark) int {
		return cmp.Or(cmp.Compare(a.attempt, b.attempt), cmp.Compare(a.time, b.time), cmp.Compare(a.epoch, b.epoch), cmp.Compare(a.nanos, b.nanos))
	})
}

// proved says whether a record of the same training told of the epoch before: the first one says when.
func (t *Trail) proved(m epochMark) bool {
	for i := range t.epochs.items {
		if o := &t.epochs.items[i]; o.epoch == m.epoch && o.attempt == m.attempt && !t.turned(o.time, m.time) {
			o.time = earlier(o.time, m.time)
			return true
		}
	}
	return false
}

// turn notes when a training began or ended. A further one in the same stream tells of the same epochs again, and most trainers
// do not number their attempts.
func (t *Trail) turn(e *trainrun.Entry, from Origin) {
	if e.Time != 0 && (e.Event == trainrun.EventRunStart || e.Event == trainrun.EventRunEnd || from.EndSign) {
		t.turns.add(e.Time, maxTurns, cmp.Compare[int64])
	}
}

// turned says whether a training began or ended between two times.
func (t *Trail) turned(a, b int64) bool {
	if a > b {
		a, b = b, a
	}
	i, _ := slices.BinarySearch(t.turns.items, a)
	return i < len(t.turns.items) && t.turns.items[i] <= b
}
