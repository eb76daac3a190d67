// Package ports gives tests free addresses on the loopback interface.
package ports

import (
	"net"
	"sync"
	"testing"
)

var (
	mu    sync.Mutex
	given = map[string]bool{}
)

// Free returns an address of 127.0.0.1 that nothing listens on. It never returns the same address twice in one test binary, so that
// parallel tests do not hand one another a port between looking and listening.
func Free(t testing.TB) string {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	for range 50 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatalf("find a free port: %v", err)
		}
		addr := l.Addr().String()
		if err := l.Close(); err != nil {
			t.Fatalf("free port %s: %v", addr, err)
		}
		if !given[addr] {
			given[addr] = true
			return addr
		}
	}
	t.Fatal("find a free port: none left")
	return ""
}
