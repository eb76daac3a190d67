package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

const (
	kibi = 1 << 10
	mebi = 1 << 20
)

// rows measures everything that the suite asks for.
func (b *bench) rows(ctx context.Context) ([]row, error) {
	rows, err := b.startRows(ctx)
	if err != nil {
		return nil, err
	}
	for _, files := range b.size.Files {
		more, err := b.loadRows(ctx, files)
		if err != nil {
			return nil, fmt.Errorf("%d files: %w", files, err)
		}
		rows = append(rows, more...)
	}
	if b.size.Idle.Runs == 0 {
		return rows, nil
	}
	more, err := b.idleRows(ctx)
	if err != nil {
		return nil, fmt.Errorf("idle: %w", err)
	}
	return append(rows, more...), nil
}

// data writes a data set, calls use with its folder and removes it.
func (b *bench) data(files, lines int, use func(dir string) error) error {
	dir := filepath.Join(b.dir, "data")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := writeData(dir, shapes[b.suite.Lines], files, lines); err != nil {
		return err
	}
	if err := use(dir); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// startRows tells what starting costs; no target speaks of it.
func (b *bench) startRows(ctx context.Context) ([]row, error) {
	costs := map[string][]cost{}
	if err := b.data(0, 0, func(dir string) error { return b.loads(ctx, dir, 0, 0, costs) }); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	return b.compare(func(name string) []row {
		return []row{
			{load: "no line", measure: "CPU of starting, s", format: "%.2f", ours: each(costs[name], cpuSeconds)},
			{load: "no line", measure: "peak memory, MiB", format: "%.0f", ours: each(costs[name], peakMebi)},
		}
	}), nil
}

// loadRows measures a load, and more of it while a target is missed.
func (b *bench) loadRows(ctx context.Context, files int) ([]row, error) {
	var rows []row
	costs := map[string][]cost{}
	err := b.data(files, b.size.Lines, func(dir string) error {
		for range 1 + b.size.More {
			if err := b.loads(ctx, dir, files, b.size.Lines, costs); err != nil {
				return err
			}
			if rows = b.rowsOf(files, costs); b.allMet(rows) {
				return nil
			}
		}
		return nil
	})
	return rows, err
}

func (b *bench) allMet(rows []row) bool {
	return !slices.ContainsFunc(rows, func(r row) bool { return !r.met(b.factor) })
}

// loads runs every configuration over data, and adds what it cost.
func (b *bench) loads(ctx context.Context, data string, files, lines int, costs map[string][]cost) error {
	return b.inTurn(b.size.Runs, func(name string) error {
		c, err := b.load(ctx, name, data, files, lines)
		costs[name] = append(costs[name], c)
		return err
	})
}

func (b *bench) rowsOf(files int, costs map[string][]cost) []row {
	load := fmt.Sprintf("%s lines, %s", thousands(b.size.Lines), countOf(files, "file"))
	perLine := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(b.size.Lines) }
	cpu := func(c cost) float64 { return perLine(c.cpu) }
	kernel := func(c cost) float64 { return perLine(c.kernel) }
	rows := b.compare(func(name string) []row {
		of := []row{
			{load: load, measure: "CPU a line, µs", format: "%.2f", ours: each(costs[name], cpu), target: b.suite.Targets.CPU},
			{load: load, measure: "of it in the kernel, µs", format: "%.2f", ours: each(costs[name], kernel)},
			{load: load, measure: "wall, s", format: "%.2f", ours: each(costs[name], wallSeconds), target: b.suite.Targets.Wall},
			{load: load, measure: "peak memory, MiB", format: "%.0f", ours: each(costs[name], peakMebi), target: b.suite.Targets.PeakRSS},
		}
		if b.suite.Quarters {
			of = append(of,
				row{load: load, measure: "memory of its own in the second quarter, MiB", format: "%.0f", ours: each(costs[name], quarterMebi(1))},
				row{load: load, measure: "in the third, MiB", format: "%.0f", ours: each(costs[name], quarterMebi(2))},
				row{load: load, measure: "in the last, MiB", format: "%.0f", ours: each(costs[name], quarterMebi(3))})
		}
		if b.suite.State != "" {
			ofRun := func(c cost) float64 { return c.state / kibi / float64(files) }
			of = append(of, row{load: load, measure: "state of a run, KiB", format: "%.0f", ours: each(costs[name], ofRun)})
		}
		return of
	})
	for _, name := range b.suite.Contenders {
		if b.suite.adds(name) {
			rows = append(rows, row{
				load: load, measure: "CPU a line added to " + b.suite.Base + ", µs", contender: name, format: "%.2f",
				peer: each(costs[b.suite.Peer], cpu), ours: less(each(costs[name], cpu), each(costs[b.suite.Base], cpu)), target: b.suite.Targets.AddedCPU,
			})
		}
	}
	return rows
}

// less takes from each run what the same round of the base cost.
func less(all, base []float64) []float64 {
	rest := make([]float64, len(all))
	for i := range all {
		rest[i] = all[i] - base[i]
	}
	return rest
}

func (b *bench) idleRows(ctx context.Context) ([]row, error) {
	var rows []row
	costs := map[string][]idleCost{}
	err := b.data(b.size.Idle.Files, b.size.Idle.Lines, func(dir string) error {
		for range 1 + b.size.More {
			err := b.inTurn(b.size.Idle.Runs, func(name string) error {
				c, err := b.idle(ctx, name, dir)
				costs[name] = append(costs[name], c)
				return err
			})
			if err != nil {
				return err
			}
			if rows = b.rowsOfIdle(costs); b.allMet(rows) {
				return nil
			}
		}
		return nil
	})
	return rows, err
}

func (b *bench) rowsOfIdle(costs map[string][]idleCost) []row {
	load := countOf(b.size.Idle.Files, "idle file")
	share := func(c idleCost) float64 { return 100 * c.share }
	stored := func(c idleCost) float64 { return float64(c.stored) }
	return b.compare(func(name string) []row {
		return []row{
			{load: load, measure: "CPU, % of a core", format: "%.2f", ours: each(costs[name], share), target: b.suite.Targets.IdleCPU},
			{load: load, measure: "bytes stored", format: "%.0f", ours: each(costs[name], stored), least: b.suite.Targets.IdleStorage},
		}
	})
}

// compare sets the rows of each contender beside the peer's.
func (b *bench) compare(of func(name string) []row) []row {
	var rows []row
	peer := of(b.suite.Peer)
	for _, contender := range b.suite.Contenders {
		for i, r := range of(contender) {
			r.contender, r.peer = contender, peer[i].ours
			rows = append(rows, r)
		}
	}
	return rows
}

func each[T any](all []T, value func(T) float64) []float64 {
	values := make([]float64, 0, len(all))
	for _, one := range all {
		values = append(values, value(one))
	}
	return values
}

func cpuSeconds(c cost) float64  { return c.cpu.Seconds() }
func wallSeconds(c cost) float64 { return float64(c.wall) / float64(time.Second) }
func peakMebi(c cost) float64    { return float64(c.peak) / mebi }

// quarterMebi is the memory of its own in a quarter of the lines, 0 where nobody looked meanwhile.
func quarterMebi(n int) func(cost) float64 {
	return func(c cost) float64 { return c.quarters[n] / mebi }
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
