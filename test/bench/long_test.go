package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/selfmetrics"
)

const (
	shortSteps = 60_000
	longSteps  = 1_000_000 // with OTELCOL_TRAIN_MEASURE

	maxStateOfRun = 32 << 20 // bytes; max_state_bytes is 256 MiB
	maxStored     = 150.0    // bytes a record that are written: the journal, its snapshots, and what the pages of a storage's file hold besides
)

// One run of very many steps: its state is bounded, and what a record costs in the storage does not grow with the run.
func TestALongRunStaysInsideItsBounds(t *testing.T) {
	t.Parallel()
	steps := shortSteps
	if os.Getenv("OTELCOL_TRAIN_MEASURE") != "" {
		steps = longSteps
	}
	data, state := t.TempDir(), t.TempDir()
	config, err := filepath.Abs("configs/results.yaml")
	require.NoError(t, err)
	p, err := startProcess(collector.Binary(t), config, data, state)
	require.NoError(t, err)
	defer func() { assert.NoError(t, p.stop()) }()

	f, err := os.Create(filepath.Join(data, "long.jsonl"))
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	write := func(event, body string) {
		at = at.Add(30 * time.Millisecond)
		_, err := fmt.Fprintf(f, `{"ts":%q,"event":%q,"run_id":"long","body":{%s}}`+"\n", at.Format("2006-01-02T15:04:05.000Z"), event, body)
		require.NoError(t, err)
	}
	var stored []int64
	for quarter := range 4 {
		for i := range steps / 4 {
			step := quarter*steps/4 + i
			write("step.end", fmt.Sprintf(`"step":%d,"measurements":{"train/loss":%.8g}`, step, math.Sin(float64(step)/1000)))
		}
		require.NoError(t, p.waitFor(t.Context(), "otelcol_dvc_result_records", float64((quarter+1)*steps/4), loadWithin))
		written, err := givenBytes(p.cmd.Process.Pid)
		require.NoError(t, err)
		stored = append(stored, written)
	}
	write("run.end", `"outcome":"success"`)
	require.NoError(t, p.waitFor(t.Context(), "otelcol_dvc_result_written_results", 1, loadWithin))
	m, err := selfmetrics.Scrape(t.Context(), p.metrics)
	require.NoError(t, err)
	size := m.Sum("otelcol_dvc_result_state_size", nil)
	peak, err := peakRSS(p.cmd.Process.Pid)
	require.NoError(t, err)
	t.Logf("%d steps: state %.1f MiB, peak memory %.0f MiB, bytes stored a record by quarters %v", steps, size/mebi, float64(peak)/mebi, perQuarter(stored, steps))

	assert.Less(t, size, float64(maxStateOfRun))
	assert.Less(t, float64(stored[3])/float64(steps), maxStored)
	text, err := os.ReadFile(filepath.Join(state, "results", "long", "result.json"))
	require.NoError(t, err)
	var result struct{ Steps struct{ Last int } }
	require.NoError(t, json.Unmarshal(text, &result))
	assert.Equal(t, steps-1, result.Steps.Last)
}

func perQuarter(stored []int64, steps int) (out []float64) {
	before := int64(0)
	for _, n := range stored {
		out = append(out, math.Round(4*float64(n-before)/float64(steps)))
		before = n
	}
	return out
}
