package componentkit

import (
	"sync"
	"time"
)

const (
	everyMinute = time.Minute
	maxKeys     = 4096
)

// Seldom lets a message through once an interval for each key, and adds up what the others would have told. The zero value
// is ready; it may be used by many goroutines.
type Seldom struct {
	// Every is the interval; 0 is a minute. It is not changed once in use.
	Every time.Duration

	mu    sync.Mutex
	keys  map[string]*spoken
	swept time.Time
}

// spoken is what is known of one key.
type spoken struct {
	at     time.Time
	unsaid int64
}

// Note adds n to what is untold under a key. When the key's interval is over, due is true and total is all that was noted
// since the last time, n included: tell it now.
func (s *Seldom) Note(key string, n int64) (total int64, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	k := s.find(key, now)
	k.unsaid += n
	if !k.at.IsZero() && now.Sub(k.at) < s.every() {
		return 0, false
	}
	total = k.unsaid
	k.at, k.unsaid = now, 0
	return total, true
}

// Allow says whether a message under a key may be told now.
func (s *Seldom) Allow(key string) bool {
	_, due := s.Note(key, 1)
	return due
}

// Forget makes the next message under a key due, as after a recovery.
func (s *Seldom) Forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.keys, key)
}

func (s *Seldom) every() time.Duration {
	if s.Every == 0 {
		return everyMinute
	}
	return s.Every
}

// find gives the entry of a key. Keys are bounded: those whose interval is over make room, and what finds none shares an
// entry, so that a flood of keys is told as seldom as one.
func (s *Seldom) find(key string, now time.Time) *spoken {
	if s.keys == nil {
		s.keys = map[string]*spoken{}
	}
	if k, ok := s.keys[key]; ok {
		return k
	}
	if len(s.keys) >= maxKeys && now.Sub(s.swept) >= s.every() {
		s.swept = now
		for old, k := range s.keys {
			if now.Sub(k.at) >= s.every() {
				delete(s.keys, old)
			}
		}
	}
	if len(s.keys) >= maxKeys {
		key = ""
		if k, ok := s.keys[key]; ok {
			return k
		}
	}
	k := &spoken{}
	s.keys[key] = k
	return k
}
