package trainingnormprocessor

import (
	"container/list"
	"sync"

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
	recent *list.List // front: seen last
}

type streamEntry struct {
	key    string
	stream trainprofile.Stream
}

func newStreams(limit int) *streams {
	return &streams{limit: limit, byKey: map[string]*list.Element{}, recent: list.New()}
}

// get gives the memory of a stream, and the key of the one that had to be forgotten for it, if any.
func (s *streams) get(key string) (stream *trainprofile.Stream, forgotten string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byKey[key]; ok {
		s.recent.MoveToFront(e)
		return &e.Value.(*streamEntry).stream, ""
	}
	if s.recent.Len() >= s.limit {
		forgotten = s.recent.Remove(s.recent.Back()).(*streamEntry).key
		delete(s.byKey, forgotten)
	}
	entry := &streamEntry{key: key}
	s.byKey[key] = s.recent.PushFront(entry)
	return &entry.stream, forgotten
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
