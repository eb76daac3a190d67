package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/pathologize/otelcol-train/test/internal/ports"
	"github.com/pathologize/otelcol-train/test/internal/selfmetrics"
)

const (
	binaryEnv   = "OTELCOL_TRAIN"
	scrapeEvery = 50 * time.Millisecond // at the least; also the error of a wall time
	scrapeShare = 50                    // of what a run has taken so far: what is scraped pays for it
	startWithin = 60 * time.Second
	loadWithin  = 10 * time.Minute
	lineWithin  = 400 * time.Microsecond // of a load of very many lines, on a machine that does much else
	stopWithin  = 30 * time.Second
)

// process is a contender that runs.
type process struct {
	cmd     *exec.Cmd
	began   time.Time
	metrics string
	state   string // the folder of its storage
	output  *bytes.Buffer
	exited  chan struct{}
	watch   func(got float64) // is told what each scrape says, nil for nobody
}

// startProcess runs the binary with a contender's configuration on data; state is where it may keep something.
func startProcess(binary, config, data, state string) (*process, error) {
	metrics, err := ports.Find()
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(metrics)
	if err != nil {
		return nil, err
	}
	p := &process{metrics: metrics, state: state, output: &bytes.Buffer{}, exited: make(chan struct{})}
	//nolint:gosec // the binary under test
	p.cmd = exec.Command(binary, "--config", config)
	p.cmd.Env = append(os.Environ(), "BENCH_DATA="+data, "BENCH_STATE="+state, "BENCH_HOST="+host, "BENCH_PORT="+port)
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	p.cmd.SysProcAttr = endWithParent()
	p.began = time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // how it ended shows in its output
		close(p.exited)
	}()
	return p, nil
}

// waitFor scrapes until the collector serves and a self-metric has a value.
func (p *process) waitFor(ctx context.Context, metric string, want float64, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		m, err := selfmetrics.Scrape(ctx, p.metrics)
		got := m.Sum(metric, nil)
		if err == nil && p.watch != nil {
			p.watch(got)
		}
		if err == nil && got >= want {
			if got > want {
				return fmt.Errorf("%s is %v, want exactly %v", metric, got, want)
			}
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("the collector ended early:\n%s", p.output)
		case <-ctx.Done():
			return fmt.Errorf("%s is %v after %s, want %v: %w", metric, got, within, want, errors.Join(ctx.Err(), err))
		case <-time.After(max(scrapeEvery, time.Since(p.began)/scrapeShare)):
		}
	}
}

// stop ends the collector as a service manager would.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.exited:
		return nil
	case <-time.After(stopWithin):
		_ = p.cmd.Process.Kill()
		<-p.exited
		return fmt.Errorf("the collector did not stop within %s:\n%s", stopWithin, p.output)
	}
}

// findBinary gives the binary under test.
func findBinary() (string, error) {
	binary := os.Getenv(binaryEnv)
	if binary == "" {
		binary = filepath.Join("build", "otelcol-train", "otelcol-train")
	}
	if _, err := os.Stat(binary); err != nil {
		return "", fmt.Errorf("%w: run make build", err)
	}
	return filepath.Abs(binary)
}
