package collector

import (
	"context"
	"os/exec"
	"testing"
	"time"
)

// Run runs the binary with arguments to its end and returns what it printed on both outputs.
func Run(t testing.TB, opts Options, args ...string) (string, error) {
	t.Helper()
	if opts.Binary == "" {
		opts.Binary = Binary(t)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	//nolint:gosec // the binary under test
	cmd := exec.CommandContext(ctx, opts.Binary, args...)
	cmd.Env = Environ(t, opts.Env)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Validate runs `validate` on the configurations of opts and returns what it printed and whether it succeeded.
func Validate(t testing.TB, opts Options) (string, error) {
	t.Helper()
	args, err := New(t, opts).configArgs()
	if err != nil {
		t.Fatalf("write the configuration: %v", err)
	}
	return Run(t, opts, append([]string{"validate"}, args...)...)
}
