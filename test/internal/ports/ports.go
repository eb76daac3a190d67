// Package ports gives tests free addresses on the loopback interface.
package ports

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
)

var (
	mu    sync.Mutex
	given = map[string]bool{}
)

// Free is Find for a test.
func Free(t testing.TB) string {
	t.Helper()
	addr, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// Find returns an address of 127.0.0.1 that nothing listens on. It never returns the same address twice in one process, so that parallel tests
// do not hand one another a port between looking and listening.
func Find() (string, error) {
	mu.Lock()
	defer mu.Unlock()
	for range 50 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", fmt.Errorf("find a free port: %w", err)
		}
		addr := l.Addr().String()
		if err := l.Close(); err != nil {
			return "", fmt.Errorf("free port %s: %w", addr, err)
		}
		if !given[addr] {
			given[addr] = true
			return addr, nil
		}
	}
	return "", errors.New("find a free port: none left")
}
