package dvcresultexporter

import (
	"path"
	"slices"
	"time"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/digest"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// run is what the exporter knows of a run. The engine's lock guards it and its sides.
type run struct {
	id  string
	key string // of its values in the storage
	dir string // of its result

	fold    *trainrun.Fold // nil while the state is parked
	packed  []byte         // the parked state, when there is no storage
	size    int64          // memory that fold or packed takes
	stored  int64          // bytes of its snapshot in the storage
	version uint64         // grows with each record
	saved   uint64         // the version that the storage has a snapshot of
	sparse  bool           // points were given up for memory
	thin    bool           // nothing more can be given up until the next record
	closed  bool           // late records are counted only; there is no state any more

	stuck map[string]bool // files that the receiver cannot read or deliver
	files []string        // of different folders, that told of the training since the start; two at most

	digests map[string]digest.Digest // of the files it named, by key

	sides []*side // the owner's first; more while hosts are in conflict
}

// tells notes the file that a row of rank 0 came from: rows from two folders are mostly two runs whose folders have one name.
func (r *run) tells(e *trainrun.Entry, file string) {
	if file == "" || e.Rank > 0 || len(r.files) > 1 || e.Event != trainrun.EventEpochEnd && e.Event != trainrun.EventStepEnd {
		return
	}
	if len(r.files) == 0 || path.Dir(r.files[0]) != path.Dir(file) {
		r.files = append(r.files, file)
	}
}

// owner is the side that has the run's directory.
func (r *run) owner() *side { return r.sides[0] }

// split finds the side of a host beside the owner's.
func (r *run) split(host string) *side {
	for _, s := range r.sides[1:] {
		if s.host == host {
			return s
		}
	}
	return nil
}

// targets are the sides that a record belongs to, as far as is known now. Whose it is in the end, the state says.
func (r *run) targets(e *trainrun.Entry) []*side {
	if len(r.sides) == 1 || r.fold == nil {
		return r.sides
	}
	host := r.fold.HostOf(e)
	if host == "" {
		return r.sides
	}
	if s := r.split(host); s != nil {
		return []*side{s}
	}
	return r.sides[:1]
}

func (r *run) all(holds func(s *side) bool) bool {
	return !slices.ContainsFunc(r.sides, func(s *side) bool { return !holds(s) })
}

// lastSeen is when the last new record came.
func (r *run) lastSeen() time.Time {
	seen := r.owner().seen
	for _, s := range r.sides {
		seen = later(seen, s.seen)
	}
	return seen
}

// idle says that no result is being written, or is to be written.
func (r *run) idle() bool {
	return r.all(func(s *side) bool { return !s.writing && s.changed.IsZero() })
}

func (r *run) isWriting() bool { return !r.all(func(s *side) bool { return !s.writing }) }

// isSettled says whether every outcome stands on a record.
func (r *run) isSettled() bool { return r.all((*side).isSettled) }

// lastSettled is when the last outcome was written.
func (r *run) lastSettled() time.Time {
	settled := r.owner().settled
	for _, s := range r.sides {
		settled = later(settled, s.settled)
	}
	return settled
}

// isLate says whether the time for late records of the whole run is over.
func (r *run) isLate(late time.Duration, now time.Time) bool {
	return r.closed || r.all(func(s *side) bool { return s.isLate(late, now) })
}

// mayClose says whether nothing but the time for late records is left.
func (r *run) mayClose() bool {
	return r.all(func(s *side) bool { return s.mayClose() && s.changed.IsZero() })
}
