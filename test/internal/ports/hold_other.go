//go:build !linux

package ports

import (
	"fmt"
	"net"
)

// Find returns an address of 127.0.0.1 that nothing listens on. Holding it has no portable form: it may be another's when it is used.
func Find() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}
