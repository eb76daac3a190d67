package trainjsonlreceiver

import (
	"slices"
	"time"
)

// packedTries is how many reads of a packed file must have failed, one after the other, for it to be awaited no longer than a day.
const packedTries = 8

// awaited are packed files that were not unpacked yet: one of them may go on where a stream was.
type awaited struct {
	paths    []string
	readable []string // those of which it is not known that they cannot be read
	now      time.Time
	oneDay   bool // the collector has run for a day
}

// awaited gives the packed files that were found, and not unpacked yet.
func (t *tailer) awaited(now time.Time) awaited {
	a := awaited{now: now, oneDay: t.rewritten.ranADay(now)}
	if !t.packs {
		return a
	}
	for _, s := range t.list() {
		s.mu.Lock()
		path, failures := s.mark.Path, s.failures
		waits := s.mark.Packed == (unpackedSize{}) && isGzip(path) && !s.gone
		s.mu.Unlock()
		if waits {
			a.paths = append(a.paths, path)
		}
		if waits && failures < packedTries {
			a.readable = append(a.readable, path)
		}
	}
	return a
}

// has says whether one of them may go on where a stream was. It is awaited for a day; for longer only if it may lie there
// since before a start: until the collector has run for a day, or has tried to read it and could not.
func (a *awaited) has(m *mark) bool {
	paths := a.paths
	if m.GoneTime != 0 && m.isOld(a.now) {
		if paths = a.readable; a.oneDay {
			return false
		}
	}
	return slices.ContainsFunc(paths, func(path string) bool { return rotated(*m, path) })
}
