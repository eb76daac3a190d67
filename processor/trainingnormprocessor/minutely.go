package trainingnormprocessor

import (
	"sync"
	"time"
)

// minutely lets something happen at most once a minute and counts how often it was left out.
type minutely struct {
	mu      sync.Mutex
	last    time.Time
	skipped int64
}

func (m *minutely) do(f func(skipped int64)) {
	m.mu.Lock()
	now := time.Now()
	if !m.last.IsZero() && now.Sub(m.last) < time.Minute {
		m.skipped++
		m.mu.Unlock()
		return
	}
	skipped := m.skipped
	m.last, m.skipped = now, 0
	m.mu.Unlock()
	f(skipped)
}
