package ports

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// giveOnly has the kernel give a socket that asks for any port this one or none.
func giveOnly(port int) func(network, address string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		var err error
		return errors.Join(c.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_LOCAL_PORT_RANGE, port|port<<16)
		}), err)
	}
}

// anyoneGets says whether a server on port 0 gets the port, and whether an outgoing connection does: the two ways to be given one.
func anyoneGets(t *testing.T, address, to string) (listening, connecting error) {
	t.Helper()
	port := portOf(t, address)
	server := net.ListenConfig{Control: giveOnly(port)}
	l, listening := server.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if listening == nil {
		require.NoError(t, l.Close())
	}
	client := net.Dialer{Control: giveOnly(port)}
	c, connecting := client.DialContext(t.Context(), "tcp", to)
	if connecting == nil {
		require.NoError(t, c.Close())
	}
	return listening, connecting
}

func portOf(t *testing.T, address string) int {
	t.Helper()
	_, text, err := net.SplitHostPort(address)
	require.NoError(t, err)
	port, err := strconv.Atoi(text)
	require.NoError(t, err)
	return port
}

// TestNoOneIsGivenAPortThatIsHeld: neither before its owner listens, nor while it does, nor between its end and its next start.
func TestNoOneIsGivenAPortThatIsHeld(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = other.Close() })
	to := other.Addr().String()
	anyones := false
	for range 20 { // this, too, can be another's
		gone, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, gone.Close())
		listening, connecting := anyoneGets(t, gone.Addr().String(), to)
		if errors.Is(listening, unix.ENOPROTOOPT) {
			t.Skip("NOT TESTED: that no one is given a port that is held: the kernel is older than Linux 6.3 and cannot be asked for one port")
		}
		anyones = anyones || listening == nil && connecting == nil
	}
	require.True(t, anyones, "a port that was let go is anyone's")

	held := Free(t)
	nobodyGets := func() {
		t.Helper()
		listening, connecting := anyoneGets(t, held, to)
		require.ErrorIs(t, listening, unix.EADDRINUSE)
		require.ErrorIs(t, connecting, unix.EADDRNOTAVAIL)
	}
	for range 2 {
		nobodyGets()
		_, err := net.Dial("tcp", held)
		require.ErrorIs(t, err, unix.ECONNREFUSED, "nothing answers yet")
		server, err := net.Listen("tcp", held)
		require.NoError(t, err)
		nobodyGets()
		c, err := net.Dial("tcp", held)
		require.NoError(t, err)
		accepted, err := server.Accept()
		require.NoError(t, err)
		require.NoError(t, accepted.Close())
		require.NoError(t, c.Close())
		require.NoError(t, server.Close())
	}
	everywhere, err := net.Listen("tcp4", ":"+strconv.Itoa(portOf(t, held)))
	require.NoError(t, err, "on every address")
	require.NoError(t, everywhere.Close())
	nobodyGets()
}

const listenAt = "PORTS_TEST_LISTEN_AT"

// TestAProcessListensOnAPortThatItsTestHolds, and that process inherits no hold of its own.
func TestAProcessListensOnAPortThatItsTestHolds(t *testing.T) {
	if at := os.Getenv(listenAt); at != "" {
		l, err := net.Listen("tcp", at)
		require.NoError(t, err)
		require.NoError(t, l.Close())
		files, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		for _, f := range files {
			fd, err := strconv.Atoi(f.Name())
			require.NoError(t, err)
			if name, err := unix.Getsockname(fd); err == nil {
				inet, _ := name.(*unix.SockaddrInet4)
				assert.False(t, inet != nil && inet.Port == portOf(t, at), "inherited")
			}
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1") //nolint:gosec // this test
	cmd.Env = append(os.Environ(), listenAt+"="+Free(t))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
