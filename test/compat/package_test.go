package compat

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// scratch is where the tests compile; it is removed with them.
var scratch string

func TestMain(m *testing.M) { os.Exit(tested(m)) }

func tested(m *testing.M) int {
	folder, err := os.MkdirTemp("", "compat-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	scratch = folder
	defer func() { _ = os.RemoveAll(folder) }()
	status := m.Run()
	if err := goleak.Find(); err != nil && status == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}
