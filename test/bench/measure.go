package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/pathologize/otelcol-train/test/internal/selfmetrics"
)

// cost is what one run used from its start until its last line was accepted. What starting costs is in it.
type cost struct {
	cpu, kernel, wall time.Duration // kernel is the part of cpu that was spent in it
	peak              int64
	quarters          [4]float64 // median memory of its own while each quarter of the lines was read
	state             float64    // bytes that the runs' state takes in memory, as the collector estimates it
}

// idleCost is what a run used while no file grew.
type idleCost struct {
	share  float64 // of one core
	stored int64   // bytes written to the storage folder
}

// bench runs contenders in a folder of its own.
type bench struct {
	runs   int // so far: each has a folder of its own
	binary string
	dir    string
	suite  suite
	size   size
	factor float64 // by which a target may be missed
}

// configs writes the shipped configurations to where the binary can read them.
func (b *bench) configs() error {
	for _, name := range b.names() {
		text, err := shipped.ReadFile(configPath(name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(b.config(name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) config(name string) string { return filepath.Join(b.dir, name+".yaml") }

// names lists the peer and the contenders.
func (b *bench) names() []string { return append([]string{b.suite.Peer}, b.suite.Contenders...) }

// inTurn calls measure for every configuration, as many rounds as asked for, each round in the other order.
func (b *bench) inTurn(rounds int, measure func(name string) error) error {
	for round := range rounds {
		names := b.names()
		for i := range names {
			if round%2 == 1 {
				i = len(names) - 1 - i
			}
			if err := measure(names[i]); err != nil {
				return fmt.Errorf("%s: %w", names[i], err)
			}
		}
	}
	return nil
}

// load measures one run over data with a number of files and lines; without lines it measures what starting costs.
func (b *bench) load(ctx context.Context, name, data string, files, lines int) (cost, error) {
	var c cost
	err := b.with(name, data, func(p *process) error {
		within := max(loadWithin, time.Duration(lines)*lineWithin)
		var own [4][]float64
		p.watch = func(got float64) {
			if n, err := ownMemory(p.cmd.Process.Pid); err == nil && got > 0 && lines > 0 {
				quarter := min(3, int(4*got/float64(lines)))
				own[quarter] = append(own[quarter], float64(n))
			}
		}
		if lines == 0 {
			within = startWithin
		}
		err := p.waitFor(ctx, b.suite.Done, float64(lines), within)
		p.watch = nil
		if err == nil && b.suite.Results != "" && name != b.suite.Peer && name != b.suite.Unwritten && lines > 0 {
			err = p.waitFor(ctx, b.suite.Results, float64(files), within)
		}
		if err == nil && b.suite.adds(name) {
			err = p.waitFor(ctx, b.suite.Through, float64(lines), within)
		}
		c.wall = time.Since(p.began)
		var errCPU, errKernel, errPeak error
		c.cpu, errCPU = cpuTime(p.cmd.Process.Pid)
		c.kernel, errKernel = kernelTime(p.cmd.Process.Pid)
		c.peak, errPeak = peakRSS(p.cmd.Process.Pid)
		for i := range own {
			c.quarters[i] = median(own[i])
		}
		var errState error
		if b.suite.State != "" {
			var m selfmetrics.Metrics
			m, errState = selfmetrics.Scrape(ctx, p.metrics)
			c.state = m.Sum(b.suite.State, nil)
		}
		return errors.Join(err, errCPU, errKernel, errPeak, errState)
	})
	return c, err
}

// idle measures a phase without growth, after all of data has been read.
func (b *bench) idle(ctx context.Context, name, data string) (idleCost, error) {
	var c idleCost
	phase := b.size.Idle
	err := b.with(name, data, func(p *process) error {
		if err := p.waitFor(ctx, b.suite.Done, float64(phase.Lines), loadWithin); err != nil {
			return err
		}
		if err := wait(ctx, phase.Settle); err != nil {
			return err
		}
		before, err := observe(p)
		if err != nil {
			return err
		}
		if err := wait(ctx, phase.For); err != nil {
			return err
		}
		after, err := observe(p)
		if err != nil {
			return err
		}
		c.share = float64(after.cpu-before.cpu) / float64(after.at.Sub(before.at))
		if after.state != before.state {
			c.stored = max(1, after.written-before.written)
		}
		return nil
	})
	return c, err
}

// with runs a contender, with an empty folder for its state, as long as do lasts. The folders of the runs before stay until the bench ends: some
// file systems look at every file that was just removed before they make one, and the next run would pay for the one before.
func (b *bench) with(name, data string, do func(*process) error) error {
	b.runs++
	state := filepath.Join(b.dir, "states", strconv.Itoa(b.runs))
	if err := os.MkdirAll(state, 0o750); err != nil {
		return err
	}
	p, err := startProcess(b.binary, b.config(name), data, state)
	if err != nil {
		return err
	}
	return errors.Join(do(p), p.stop())
}

// observation is a process at a moment.
type observation struct {
	at      time.Time
	cpu     time.Duration
	written int64
	state   string // names, sizes and times of the files in its storage folder
}

func observe(p *process) (observation, error) {
	cpu, errCPU := cpuTime(p.cmd.Process.Pid)
	o := observation{at: time.Now(), cpu: cpu}
	written, errWritten := writtenBytes(p.cmd.Process.Pid)
	state, errState := describe(p.state)
	o.written, o.state = written, state
	return o, errors.Join(errCPU, errWritten, errState)
}

// describe tells two states of a folder apart. Every write changes a file's time.
func describe(dir string) (string, error) {
	var text string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		text += fmt.Sprintf("%s %d %d\n", path, fi.Size(), fi.ModTime().UnixNano())
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil // it has no storage
	}
	return text, err
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
