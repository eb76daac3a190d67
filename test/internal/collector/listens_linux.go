package collector

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const listening = "0A" // TCP_LISTEN in /proc/net/tcp

// fixedPorts are the ports that a process listens on and that no one was given: the kernel gives none outside its range, so a configuration
// named them, or a default did, and the next collector that does has them taken.
func fixedPorts(pid int) ([]int, error) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return nil, err
	}
	var low, high int
	if _, err := fmt.Sscan(string(text), &low, &high); err != nil {
		return nil, err
	}
	own, err := sockets(pid)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, table := range []string{"tcp", "tcp6"} {
		ports, err := listenedOn(fmt.Sprintf("/proc/%d/net/%s", pid, table), own)
		if err != nil {
			return nil, err
		}
		for _, port := range ports {
			if port < low || port > high {
				out = append(out, port)
			}
		}
	}
	return out, nil
}

// sockets are the inodes of a process's sockets.
func sockets(pid int) (map[string]bool, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	own := map[string]bool{}
	for _, f := range files {
		if to, err := os.Readlink(f); err == nil && strings.HasPrefix(to, "socket:[") { // others are closed meanwhile
			own[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
		}
	}
	return own, err
}

// listenedOn reads a table of the kernel's: a line has the address, as hex:port, the state and the inode in its fields 1, 3 and 9.
func listenedOn(table string, own map[string]bool) ([]int, error) {
	f, err := os.Open(table) //nolint:gosec // the kernel's
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no IPv6, or the process has ended
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var out []int
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 10 || fields[3] != listening || !own[fields[9]] {
			continue
		}
		_, hex, _ := strings.Cut(fields[1], ":")
		port, err := strconv.ParseUint(hex, 16, 16)
		if err != nil {
			return nil, err
		}
		out = append(out, int(port))
	}
	return out, lines.Err()
}
