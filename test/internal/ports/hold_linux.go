package ports

import (
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// Find returns an address of 127.0.0.1 and holds its port with a socket that is bound and does not listen, which the kernel closes with this
// process. While it is there, the kernel gives the port to no one who asks for any: not to another test, in this process or another, not to a
// server on port 0, not to an outgoing connection. Who names the port may listen on it, as often as it likes, since both sockets have
// SO_REUSEADDR; servers in Go, Python and Node set it. A port that was only looked at and let go again would be anyone's until they do.
func Find() (string, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("find a free port: make a socket: %w", err)
	}
	port, err := bound(fd)
	if err != nil {
		_ = syscall.Close(fd)
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), nil
}

// bound takes a port on every address of the machine, for a server that listens on all of them.
func bound(fd int) (int, error) {
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return 0, fmt.Errorf("let others listen: %w", err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{}); err != nil {
		return 0, fmt.Errorf("hold it: %w", err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return 0, fmt.Errorf("ask which: %w", err)
	}
	return name.(*syscall.SockaddrInet4).Port, nil
}
