// Package ports gives tests addresses on the loopback interface for the processes that they start. Each stays the caller's until its own
// process ends, whether something listens there or not: nothing else on the machine is given its port.
package ports

import "testing"

// Free is Find for a test.
func Free(t testing.TB) string {
	t.Helper()
	addr, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	return addr
}
