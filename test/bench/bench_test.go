package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// tiny is a suite on the real binary that ends in seconds and says nothing about costs.
func tiny(t *testing.T) *bench {
	t.Helper()
	s, err := readSuite("train_jsonl")
	require.NoError(t, err)
	s.Targets = targets{CPU: &target{AtLeast: 0.001}, IdleStorage: s.Targets.IdleStorage}
	b := &bench{
		binary: collector.Binary(t), dir: t.TempDir(), suite: s, factor: 1,
		size: size{Runs: 1, Lines: 2000, Files: []int{3}, Idle: idle{Runs: 1, Files: 20, Lines: 40, Settle: 2500 * time.Millisecond, For: 300 * time.Millisecond}},
	}
	require.NoError(t, b.configs())
	return b
}

func TestASuiteMeasuresTheRealBinary(t *testing.T) {
	t.Parallel()
	b := tiny(t)
	rows, err := b.rows(t.Context())
	require.NoError(t, err)
	got := map[string]row{}
	for _, r := range rows {
		got[r.load+"/"+r.measure] = r
		assert.Equal(t, "train_jsonl", r.contender)
	}
	require.Len(t, got, 8)
	cpu := got["2,000 lines, 3 files/CPU a line, µs"]
	assert.Greater(t, cpu.ours[0], 0.1)
	assert.Greater(t, cpu.peer[0], 0.1)
	assert.Greater(t, got["no line/peak memory, MiB"].ours[0], 10.0)
	assert.Equal(t, []float64{0}, got["20 idle files/bytes stored"].ours)

	var out bytes.Buffer
	assert.Empty(t, b.print(&out, rows))
	assert.Contains(t, out.String(), "| load | measure | file_log | train_jsonl | ratio | wanted | |\n")
	b.suite.Targets.CPU.AtLeast = 1e6
	assert.Equal(t, []string{"2,000 lines, 3 files, CPU a line, µs of train_jsonl (wanted ≥ 1e+06)"}, b.print(&out, rows))
}

// TestWhatAContenderAddsIsARow runs until what it adds has counted every line.
func TestWhatAContenderAddsIsARow(t *testing.T) {
	t.Parallel()
	b := tiny(t)
	var err error
	b.suite, err = readSuite("signals")
	require.NoError(t, err)
	b.size.Idle.Runs, b.size.Lines, b.size.Files = 0, 3000, []int{3}
	require.NoError(t, b.configs())
	rows, err := b.rows(t.Context())
	require.NoError(t, err)
	last := rows[len(rows)-1]
	assert.Equal(t, []any{"CPU a line added to norm, µs", "signals", b.suite.Targets.AddedCPU}, []any{last.measure, last.contender, last.target})
	assert.Len(t, last.ours, 1)
	assert.InDeltaSlice(t, []float64{2, 3}, less([]float64{3, 5}, []float64{1, 2}), 0)
}

func TestEverySuiteNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	files, err := shipped.ReadDir("suites")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		_, err := readSuite(strings.TrimSuffix(f.Name(), ".yaml"))
		assert.NoError(t, err)
	}
	_, err = readSuite("nothing")
	assert.ErrorContains(t, err, `no suite "nothing"`)
}

func TestASuiteThatNamesNothingIsRefused(t *testing.T) {
	t.Parallel()
	s := suite{Peer: "nobody", Base: "norm", Lines: "verse", Full: size{Runs: 1, Lines: 1, Files: []int{1}, Idle: idle{Runs: 1}}}
	err := s.check()
	for _, want := range []string{
		"no file test/bench/configs/nobody.yaml", "contenders:", `base: "norm" is no contender`, "base, through: want both", `no shape "verse"`, "done:", "gate: want runs", "full: idle: want files",
	} {
		assert.ErrorContains(t, err, want)
	}
}

func TestEveryContenderIsAValidConfiguration(t *testing.T) {
	t.Parallel()
	configs, err := filepath.Glob("configs/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, configs)
	for _, config := range configs {
		out, err := collector.Validate(t, collector.Options{
			Configs: []string{config},
			Env:     map[string]string{"BENCH_DATA": t.TempDir(), "BENCH_STATE": t.TempDir(), "BENCH_HOST": "127.0.0.1", "BENCH_PORT": "1"},
		})
		assert.NoError(t, err, "%s: %s", config, out)
	}
}

func TestLinesAreTheSameInEverySession(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ epoch, run string }{"native": {`"event":"epoch.end"`, "run_id"}, "huggingface": {`"eval_loss"`, ""}} {
		one, two := t.TempDir(), t.TempDir()
		for _, dir := range []string{one, two} {
			require.NoError(t, writeData(dir, shapes[name], 3, 100))
		}
		lines, epochs, runs := 0, 0, map[any]bool{}
		for _, file := range []string{"run-000000.jsonl", "run-000001.jsonl", "run-000002.jsonl"} {
			text, err := os.ReadFile(filepath.Join(one, file))
			require.NoError(t, err)
			again, err := os.ReadFile(filepath.Join(two, file))
			require.NoError(t, err)
			assert.Equal(t, text, again)
			for line := range bytes.Lines(text) {
				var record map[string]any
				require.NoError(t, json.Unmarshal(line, &record))
				runs[record[c.run]] = true
				lines++
				if bytes.Contains(line, []byte(c.epoch)) {
					epochs++
				}
			}
		}
		assert.Equal(t, 100, lines, name)
		assert.Equal(t, 9, epochs, name)
		if c.run != "" {
			assert.Len(t, runs, 3, name)
		}
	}
}

func TestARatioIsHeldToItsTarget(t *testing.T) {
	t.Parallel()
	none := int64(0)
	for name, c := range map[string]struct {
		row    row
		factor float64
		want   string
		met    bool
	}{
		"no target":        {row{peer: []float64{1}, ours: []float64{9}}, 1, "", true},
		"met":              {row{peer: []float64{30, 2, 90}, ours: []float64{10, 10, 10}, target: &target{AtLeast: 3}}, 1, "met", true},
		"aim met":          {row{peer: []float64{40}, ours: []float64{10}, target: &target{AtLeast: 3, Aim: 4}}, 1, "met, and the aim", true},
		"missed":           {row{peer: []float64{29}, ours: []float64{10}, target: &target{AtLeast: 3}}, 1, "MISSED", false},
		"within tolerance": {row{peer: []float64{25}, ours: []float64{10}, target: &target{AtLeast: 3}}, 1.25, "within 1.25 ×", true},
		"beyond tolerance": {row{peer: []float64{23}, ours: []float64{10}, target: &target{AtLeast: 3}}, 1.25, "MISSED", false},
		"nothing stored":   {row{peer: []float64{7, 7}, ours: []float64{0, 0}, least: &none}, 1.25, "met", true},
		"stored once":      {row{peer: []float64{7, 7, 7}, ours: []float64{0, 0, 1}, least: &none}, 1.25, "MISSED", false},
	} {
		assert.Equal(t, c.met, c.row.met(c.factor), name)
		assert.Equal(t, c.want, c.row.verdict(c.factor), name)
	}
	assert.InDelta(t, 2.5, median([]float64{4, 1, 3, 2}), 0)
	assert.Equal(t, "1,234,567", thousands(1234567))
	assert.Equal(t, "123", thousands(123))
}

func TestARunThatCannotEndSaysWhy(t *testing.T) {
	t.Parallel()
	p, err := startProcess("/bin/sh", "no-such-option", t.TempDir(), t.TempDir())
	require.NoError(t, err)
	assert.ErrorContains(t, p.waitFor(t.Context(), "m", 1, time.Minute), "ended early:\n/bin/sh")

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("m{a=\"1\"} 2\nm{a=\"2\"} 3\n"))
	}))
	t.Cleanup(server.Close)
	alive := &process{metrics: server.Listener.Addr().(*net.TCPAddr).String(), exited: make(chan struct{})}
	var seen []float64
	alive.watch = func(got float64) { seen = append(seen, got) }
	assert.NoError(t, alive.waitFor(t.Context(), "m", 5, time.Minute))
	assert.Equal(t, []float64{5}, seen)
	assert.ErrorContains(t, alive.waitFor(t.Context(), "m", 4, time.Minute), "is 5, want exactly 4")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, alive.waitFor(ctx, "m", 6, time.Minute), context.Canceled)
}

func TestAWriteToTheStorageIsSeen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "store")
	require.NoError(t, os.WriteFile(path, []byte("one"), 0o600))
	require.NoError(t, os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)))
	before, err := describe(dir)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte("two"), 0o600))
	after, err := describe(dir)
	require.NoError(t, err)
	assert.NotEqual(t, before, after)
	gone, err := describe(filepath.Join(dir, "none"))
	require.NoError(t, err)
	assert.Empty(t, gone)
}

func TestMemoryIsToldByQuarters(t *testing.T) {
	t.Parallel()
	n, err := ownMemory(os.Getpid())
	require.NoError(t, err)
	assert.Greater(t, n, int64(mebi))
	c := cost{quarters: [4]float64{mebi, 2 * mebi, 3 * mebi, 4 * mebi}}
	assert.InDeltaSlice(t, []float64{2, 4}, []float64{quarterMebi(1)(c), quarterMebi(3)(c)}, 0)
}
