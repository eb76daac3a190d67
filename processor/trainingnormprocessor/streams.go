package trainingnormprocessor

import (
	"container/list"
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pathologize/otelcol-train/internal/trainprofile"
)

// Bounds of the memory of streams.
const (
	maxStreams   = 16384
	maxStreamKey = 1024
)

// streams remembers for each stream what it was recognised as; the least recently seen one is forgotten first.
type streams struct {
	mu     sync.Mutex
	limit  int
	byKey  map[string]*streamEntry
	byID   map[uint64]*streamEntry // the same by a hash of the id: no key is made, and little memory is touched where runs alternate
	seed   maphash.Seed
	recent *list.List        // front: seen last
	moves  int               // to the front
	alias  map[string]string // run and first line of a stream -> the key under which it was seen last
	traced atomic.Bool       // some stream had a run in a trace of its trainer's
}

// streamEntry has in front what is read for each record.
type streamEntry struct {
	stream  trainprofile.Stream
	settled atomic.Pointer[settled] // nil: nobody knows what the storage holds
	moved   int                     // which move to the front was its last
	ids     atomic.Pointer[derived] // of the run that its last mapped record was of
	id      streamID
	hash    uint64 // of id
	recent  *list.Element
	key     string
	alias   string
}

// settled is what the storage holds of a stream: a decision, or none, and its life.
type settled struct {
	decision *trainprofile.Decision
	life     *trainprofile.Life
}

// unsettled gives what the storage should hold of the stream, nil when it surely does.
func (e *streamEntry) unsettled() *settled {
	latest, life := e.stream.Latest(), e.stream.Life()
	if s := e.settled.Load(); s != nil && s.decision == latest && s.life == life {
		return nil
	}
	return &settled{latest, life}
}

// streamID is what a record says of its stream: its file, else its run and scope; and the first line, when that is known.
type streamID struct{ file, run, scope, first string }

// clone gives the same with texts of its own, which lie together.
func (id streamID) clone() streamID {
	all := strings.Clone(id.file + id.run + id.scope + id.first)
	cut := func(text string) string {
		own := all[:len(text)]
		all = all[len(text):]
		return own
	}
	return streamID{cut(id.file), cut(id.run), cut(id.scope), cut(id.first)}
}

// find gives the entry of a stream that was added by its id, nil when there is none.
func (s *streams) find(id streamID) *streamEntry {
	hash := maphash.Comparable(s.seed, id)
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byID[hash]
	if !ok || e.id != id {
		return nil
	}
	return s.see(e)
}

// see notes that a stream was seen. One that is in the front half stays where it is: that is far enough from being forgotten,
// and moving costs more than finding.
func (s *streams) see(entry *streamEntry) *streamEntry {
	if s.moves-entry.moved >= s.limit/2 {
		s.recent.MoveToFront(entry.recent)
		s.moves++
		entry.moved = s.moves
	}
	return entry
}

// add gives the entry of a key, as get does, and lets it be found by an id from now on, instead of one whose id has the same hash.
func (s *streams) add(id streamID, key, alias string, middle bool) (entry *streamEntry, forgotten string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry, forgotten = s.entry(key, alias, middle)
	s.hide(entry)
	entry.id, entry.hash = id.clone(), maphash.Comparable(s.seed, id)
	s.byID[entry.hash] = entry
	return entry, forgotten
}

// hide lets an entry be found by its id no more.
func (s *streams) hide(entry *streamEntry) {
	if s.byID[entry.hash] == entry {
		delete(s.byID, entry.hash)
	}
}

func newStreams(limit int) *streams {
	return &streams{limit: limit, byKey: map[string]*streamEntry{}, byID: map[uint64]*streamEntry{}, seed: maphash.MakeSeed(), recent: list.New(), alias: map[string]string{}}
}

// get gives the memory of a stream, and the key of the one that had to be forgotten for it, if any. A stream that is met in
// its middle under a new key was renamed: it is what the stream with the same alias, its run and first line, was.
func (s *streams) get(key, alias string, middle bool) (stream *trainprofile.Stream, forgotten string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry, forgotten := s.entry(key, alias, middle)
	return &entry.stream, forgotten
}

func (s *streams) entry(key, alias string, middle bool) (_ *streamEntry, forgotten string) {
	if e, ok := s.byKey[key]; ok {
		return s.see(e), ""
	}
	entry := &streamEntry{key: key, alias: alias}
	if e, ok := s.byKey[s.alias[alias]]; ok && middle && alias != "" {
		was := &e.stream
		if d, decided := was.Decision(); decided {
			entry.stream.Restore(d)
		}
		entry.stream.RestoreLife(was.Life())
	}
	if s.recent.Len() >= s.limit {
		old := s.recent.Remove(s.recent.Back()).(*streamEntry)
		forgotten = old.key
		delete(s.byKey, forgotten)
		s.hide(old)
		if s.alias[old.alias] == forgotten {
			delete(s.alias, old.alias)
		}
	}
	s.moves++
	entry.moved = s.moves
	s.byKey[key], entry.recent = entry, s.recent.PushFront(entry)
	if alias != "" {
		s.alias[alias] = key
	}
	return entry, forgotten
}

// ofFile gives the streams of a file that were found by its path; none when it has none.
func (s *streams) ofFile(path string) (of []*streamEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, entry := range s.byKey {
		if rest, ok := strings.CutPrefix(entry.key, "f"+path); ok && path != "" && (rest == "" || rest[0] == 0) {
			of = append(of, entry)
		}
	}
	return of
}

// peek gives the memory of a stream, nil when there is none. Asking is no use of the stream.
func (s *streams) peek(key string) *trainprofile.Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byKey[key]
	if !ok {
		return nil
	}
	return &e.stream
}
