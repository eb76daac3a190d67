package trainingnormprocessor

import (
	"container/list"
	"strings"
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
	recent *list.List        // front: seen last
	alias  map[string]string // the first line of a stream, as its key ends -> the key under which it was seen last
}

type streamEntry struct {
	key    string
	stream trainprofile.Stream
}

func newStreams(limit int) *streams {
	return &streams{limit: limit, byKey: map[string]*list.Element{}, recent: list.New(), alias: map[string]string{}}
}

// get gives the memory of a stream, and the key of the one that had to be forgotten for it, if any. A stream that is met in
// its middle under a new key was renamed: it is what the stream with the same first line was recognised as.
func (s *streams) get(key string, middle bool) (stream *trainprofile.Stream, forgotten string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := firstLine(key)
	if e, ok := s.byKey[key]; ok {
		s.recent.MoveToFront(e)
		s.alias[first] = key
		return &e.Value.(*streamEntry).stream, ""
	}
	entry := &streamEntry{key: key}
	if e, ok := s.byKey[s.alias[first]]; ok && middle && first != "" {
		if d, decided := e.Value.(*streamEntry).stream.Decision(); decided {
			entry.stream.Restore(d)
		}
	}
	if s.recent.Len() >= s.limit {
		forgotten = s.recent.Remove(s.recent.Back()).(*streamEntry).key
		delete(s.byKey, forgotten)
		if old := firstLine(forgotten); s.alias[old] == forgotten {
			delete(s.alias, old)
		}
	}
	s.byKey[key] = s.recent.PushFront(entry)
	s.alias[first] = key
	return &entry.stream, forgotten
}

// firstLine gives the part of a stream's key that stands for its first line, "" when that is not known.
func firstLine(key string) string {
	_, first, _ := strings.Cut(key, "\x00")
	return first
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
