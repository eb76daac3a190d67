package trainingnormprocessor

import (
	"container/list"
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
	byKey  map[string]*list.Element
	byID   map[streamID]*list.Element // the same, without making a key
	recent *list.List                 // front: seen last
	alias  map[string]string          // run and first line of a stream -> the key under which it was seen last
}

type streamEntry struct {
	key     string
	alias   string
	id      streamID
	stream  trainprofile.Stream
	settled atomic.Pointer[settled] // nil: nobody knows what the storage holds
}

// settled is what the storage holds of a stream: a decision, or none.
type settled struct{ decision *trainprofile.Decision }

// unsettled tells whether the storage may hold something else than the stream's latest decision.
func (e *streamEntry) unsettled() (latest *trainprofile.Decision, is bool) {
	latest = e.stream.Latest()
	s := e.settled.Load()
	return latest, s == nil || s.decision != latest
}

// streamID is what a record says of its stream: its file, else its run and scope; and the first line, when that is known.
type streamID struct{ file, run, scope, first string }

// find gives the entry of a stream that was added by its id, nil when there is none.
func (s *streams) find(id streamID) *streamEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byID[id]
	if !ok {
		return nil
	}
	s.recent.MoveToFront(e)
	return e.Value.(*streamEntry)
}

// add gives the entry of a key, as get does, and lets it be found by an id from now on.
func (s *streams) add(id streamID, key, alias string, middle bool) (entry *streamEntry, forgotten string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry, forgotten = s.entry(key, alias, middle)
	delete(s.byID, entry.id)
	entry.id = streamID{strings.Clone(id.file), strings.Clone(id.run), strings.Clone(id.scope), strings.Clone(id.first)}
	s.byID[entry.id] = s.byKey[key]
	return entry, forgotten
}

func newStreams(limit int) *streams {
	return &streams{limit: limit, byKey: map[string]*list.Element{}, byID: map[streamID]*list.Element{}, recent: list.New(), alias: map[string]string{}}
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
		s.recent.MoveToFront(e)
		return e.Value.(*streamEntry), ""
	}
	entry := &streamEntry{key: key, alias: alias}
	if e, ok := s.byKey[s.alias[alias]]; ok && middle && alias != "" {
		if d, decided := e.Value.(*streamEntry).stream.Decision(); decided {
			entry.stream.Restore(d)
		}
	}
	if s.recent.Len() >= s.limit {
		old := s.recent.Remove(s.recent.Back()).(*streamEntry)
		forgotten = old.key
		delete(s.byKey, forgotten)
		delete(s.byID, old.id)
		if s.alias[old.alias] == forgotten {
			delete(s.alias, old.alias)
		}
	}
	s.byKey[key] = s.recent.PushFront(entry)
	if alias != "" {
		s.alias[alias] = key
	}
	return entry, forgotten
}

// decision gives what was decided for a stream. Asking is no use of the stream.
func (s *streams) decision(key string) (trainprofile.Decision, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byKey[key]
	if !ok {
		return trainprofile.Decision{}, false
	}
	return e.Value.(*streamEntry).stream.Decision()
}
