// Package collector runs the built otelcol-train binary for tests: start it with configurations, wait until it serves, stop it, kill it,
// start it again, read its logs and its own metrics.
package collector

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pathologize/otelcol-train/test/internal/environ"
	"github.com/pathologize/otelcol-train/test/internal/ports"
)

// BinaryEnv names the environment variable with the path of the binary under test.
const BinaryEnv = "OTELCOL_TRAIN"

const (
	readyWithin = 60 * time.Second
	stopWithin  = 60 * time.Second // systemd waits 90 s before it kills
	pollEvery   = 20 * time.Millisecond
	readyLine   = "Everything is ready"
	settle      = time.Second // the binary begins to heed signals a moment after it says that it is ready
)

// Options say how a collector is run.
type Options struct {
	// Binary is the path of the binary; empty means the one of this repository.
	Binary string
	// Configs are files or URIs for --config, merged in order: maps merge, lists are replaced.
	Configs []string
	// YAML is configuration text merged after Configs.
	YAML string
	// Env is added to the environment, for the ${env:...} of a configuration.
	Env map[string]string

	_ struct{}
}

// Process is one collector; it can be stopped or killed and started again with the same options.
type Process struct {
	t       testing.TB
	opts    Options
	dir     string
	metrics string // address of the collector's own metrics
	logs    *logBuffer
	began   int       // what it had printed when it was launched last
	ready   time.Time // when it said so last; a launch that nobody waited for has none
	cmd     *exec.Cmd
	waited  chan struct{}
	waitErr error
}

// Root is the folder of the repository.
func Root(t testing.TB) string {
	t.Helper()
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		t.Fatal("the tests need source paths: run them without -trimpath")
	}
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}

// Environ is the environment of a collector under test: the caller's, without the variables that configurations in config/ name, and the test's own.
// So a test says the same whatever its caller has exported.
func Environ(t testing.TB, own map[string]string) []string {
	t.Helper()
	env, err := environ.Clean(filepath.Join(Root(t), "config"), own)
	if err != nil {
		t.Fatalf("read the variables of the shipped configurations: %v", err)
	}
	return env
}

// Binary is the path of the binary under test; without one the test fails.
func Binary(t testing.TB) string {
	t.Helper()
	path := os.Getenv(BinaryEnv)
	if path == "" {
		path = filepath.Join(Root(t), "build", "otelcol-train", "otelcol-train")
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("no binary to test: %v: run make build", err)
	}
	return path
}

// Start starts a collector and waits until it serves. It is stopped when the test ends.
func Start(t testing.TB, opts Options) *Process {
	t.Helper()
	p := New(t, opts)
	p.Start()
	return p
}

// New prepares a collector without starting it.
func New(t testing.TB, opts Options) *Process {
	t.Helper()
	if opts.Binary == "" {
		opts.Binary = Binary(t)
	}
	p := &Process{t: t, opts: opts, dir: t.TempDir(), metrics: ports.Free(t), logs: &logBuffer{}}
	t.Cleanup(func() {
		if p.Running() {
			p.Stop()
		}
		if t.Failed() && p.logs.len() > 0 {
			t.Logf("last lines of the collector:\n%s", p.logs.tail(60))
		}
	})
	return p
}

// Start starts the collector, again after Stop or Kill, and waits until it serves.
func (p *Process) Start() {
	p.t.Helper()
	if err := p.Launch(); err != nil {
		p.t.Fatalf("start the collector: %v", err)
	}
	p.WaitReady()
}

// WaitReady waits until a collector that was launched says that its pipelines run.
func (p *Process) WaitReady() {
	p.t.Helper()
	deadline := time.Now().Add(readyWithin)
	for !strings.Contains(p.logs.from(p.began), readyLine) {
		if !p.Running() {
			p.t.Fatalf("the collector ended before it was ready: %v", p.waitErr)
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("the collector was not ready within %s", readyWithin)
		}
		p.pause()
	}
	p.ready = time.Now()
	fixed, err := fixedPorts(p.PID())
	if err != nil {
		p.t.Errorf("ask where the collector listens: %v", err)
	}
	if len(fixed) > 0 {
		p.t.Errorf("the collector listens on %v, as the next one would: give it addresses of ports.Free", fixed)
	}
}

// Launch starts the collector and does not wait for anything.
func (p *Process) Launch() error {
	args, err := p.args()
	if err != nil {
		return err
	}
	if p.Running() {
		return errors.New("it runs already")
	}
	//nolint:gosec // the binary under test
	cmd := exec.Command(p.opts.Binary, args...)
	cmd.Env = Environ(p.t, p.opts.Env)
	cmd.Stdout, cmd.Stderr = p.logs, p.logs
	cmd.SysProcAttr = endWithParent()
	p.began = p.logs.len()
	if err := cmd.Start(); err != nil {
		return err
	}
	waited := make(chan struct{})
	p.cmd, p.waited, p.waitErr = cmd, waited, nil
	go func() {
		p.waitErr = cmd.Wait()
		close(waited)
	}()
	return nil
}

// configArgs writes the test's own YAML and returns the --config options.
func (p *Process) configArgs() ([]string, error) {
	var args []string
	for _, c := range p.opts.Configs {
		args = append(args, "--config", c)
	}
	if p.opts.YAML == "" {
		return args, nil
	}
	path := filepath.Join(p.dir, "test.yaml")
	return append(args, "--config", path), os.WriteFile(path, []byte(p.opts.YAML), 0o600)
}

// args adds an overlay that serves the collector's own metrics on a free port.
func (p *Process) args() ([]string, error) {
	args, err := p.configArgs()
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(p.metrics)
	if err != nil {
		return nil, err
	}
	overlay := fmt.Sprintf("service:\n  telemetry:\n    logs: {level: info}\n    metrics:\n      level: normal\n"+
		"      readers: [{pull: {exporter: {prometheus: {host: %q, port: %s}}}}]\n", host, port)
	path := filepath.Join(p.dir, "telemetry.yaml")
	return append(args, "--config", path), os.WriteFile(path, []byte(overlay), 0o600)
}

// Running says whether the process is alive.
func (p *Process) Running() bool {
	if p.cmd == nil {
		return false
	}
	select {
	case <-p.waited:
		return false
	default:
		return true
	}
}

// Stop ends the collector with SIGTERM; the test fails if it does not end cleanly in time.
func (p *Process) Stop() {
	p.t.Helper()
	if !p.Running() {
		p.t.Errorf("stop the collector: it has ended already: %v", p.waitErr)
		return
	}
	<-time.After(time.Until(p.ready.Add(settle)))
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Errorf("stop the collector: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	select {
	case <-p.waited:
		if p.waitErr != nil {
			p.t.Errorf("the collector did not end cleanly: %v", p.waitErr)
		}
	case <-ctx.Done():
		p.t.Errorf("the collector did not end within %s", stopWithin)
		p.Kill()
	}
}

// Kill ends the collector with SIGKILL and waits until it is gone.
func (p *Process) Kill() {
	p.t.Helper()
	if !p.Running() {
		p.t.Fatalf("kill the collector: it has ended already: %v", p.waitErr)
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Errorf("kill the collector: %v", err)
	}
	<-p.waited
}

// Wait waits until the process has ended by itself and returns its exit error.
func (p *Process) Wait(within time.Duration) error {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	select {
	case <-p.waited:
		return p.waitErr
	case <-ctx.Done():
		p.t.Fatalf("the collector did not end within %s", within)
		return nil
	}
}

// PID is the process id of the running collector.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Logs is all that the collector printed, over every start.
func (p *Process) Logs() string { return p.logs.from(0) }

func (p *Process) pause() { <-time.After(pollEvery) }
