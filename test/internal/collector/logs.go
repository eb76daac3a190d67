package collector

import (
	"strings"
	"sync"
)

// logBuffer keeps what the process prints.
type logBuffer struct {
	mu  sync.Mutex
	buf []byte
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf = append(b.buf, p...)
	return len(p), nil
}

func (b *logBuffer) len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.buf)
}

func (b *logBuffer) from(offset int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.buf[offset:])
}

func (b *logBuffer) tail(lines int) string {
	all := strings.Split(strings.TrimRight(b.from(0), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
