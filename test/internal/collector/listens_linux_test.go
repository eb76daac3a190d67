package collector

import (
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/ports"
)

// TestAFixedPortIsSeen, and neither one of ports.Free nor one that the kernel gave.
func TestAFixedPortIsSeen(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	require.NoError(t, err)
	var low, high int
	_, err = fmt.Sscan(string(text), &low, &high)
	require.NoError(t, err)
	for _, address := range []string{ports.Free(t), "[::1]:"} {
		if l, err := net.Listen("tcp", address); err == nil { // there may be no IPv6
			t.Cleanup(func() { _ = l.Close() })
		}
	}
	fixed, err := fixedPorts(os.Getpid())
	require.NoError(t, err)
	assert.Empty(t, fixed)
	for port := low - 1; port > 1024; port-- {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue // another's
		}
		t.Cleanup(func() { _ = l.Close() })
		fixed, err = fixedPorts(os.Getpid())
		require.NoError(t, err)
		assert.Equal(t, []int{port}, fixed)
		return
	}
	t.Skip("NOT TESTED: that a fixed port is seen: the kernel gives all of them")
}
