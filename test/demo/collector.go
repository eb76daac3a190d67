package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/pathologize/otelcol-train/test/internal/environ"
	"github.com/pathologize/otelcol-train/test/internal/ports"
)

const (
	idleTimeout = 4 * time.Second
	lateGrace   = 1 * time.Second
	startWithin = 60 * time.Second
	stopWithin  = 30 * time.Second
)

// collector is the running binary.
type collector struct {
	cmd    *exec.Cmd
	log    string
	exited chan error
}

// startCollector starts the binary on dir and waits until its health check answers.
func startCollector(ctx context.Context, dir string) (*collector, error) {
	binary := os.Getenv("OTELCOL_TRAIN")
	if binary == "" {
		binary = filepath.Join("build", "otelcol-train", "otelcol-train")
	}
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("%w: run make build", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "runs"), 0o755); err != nil {
		return nil, err
	}
	health, err := ports.Find()
	if err != nil {
		return nil, err
	}
	c := &collector{log: filepath.Join(dir, "collector.log"), exited: make(chan error, 1)}
	logFile, err := os.Create(c.log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = logFile.Close() }() // the child has its own copy
	c.cmd = exec.Command(binary, "--config", filepath.Join("config", "quickstart.yaml"),
		"--config", "yaml:service::telemetry::metrics::level: none")
	c.cmd.Stdout, c.cmd.Stderr = logFile, logFile
	if c.cmd.Env, err = environ.Clean("config", map[string]string{
		"RUNS_DIR": filepath.Join(dir, "runs"), "RESULTS_DIR": filepath.Join(dir, "results"), "STATE_DIR": filepath.Join(dir, "state"),
		"HEALTH_ENDPOINT": health, "IDLE_TIMEOUT": idleTimeout.String(), "LATE_GRACE": lateGrace.String(),
	}); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { c.exited <- c.cmd.Wait() }()
	if err := c.waitHealthy(ctx, "http://"+health); err != nil {
		_ = c.stop()
		return nil, fmt.Errorf("%w; its log is %s", err, rel(c.log))
	}
	return c, nil
}

func (c *collector) waitHealthy(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case err := <-c.exited:
			c.exited <- err
			return fmt.Errorf("the collector ended at once: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("the collector is not ready: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// stop ends the collector as a service manager would, and reports an end that was not clean.
func (c *collector) stop() error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case err := <-c.exited:
		return err
	case <-time.After(stopWithin):
		_ = c.cmd.Process.Kill()
		return fmt.Errorf("the collector did not stop within %s", stopWithin)
	}
}
