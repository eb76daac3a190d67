package soak

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/dcgm"
	"github.com/pathologize/otelcol-train/test/internal/otlpclient"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
)

var (
	duration = flag.Duration("soak", 0, "how long; nothing is run without it")
	liveRuns = flag.Int("runs", 200, "runs that write at once")
	fails    = flag.Duration("fails", time.Minute, "how long the backend works, and then fails")
)

// TestAHostForLong is make soak.
func TestAHostForLong(t *testing.T) {
	if *duration == 0 {
		t.Skip("by hand: make soak")
	}
	folders := collector.NewFolders(t)
	sink := otlpsink.Start(t, otlpsink.Accept)
	sink.KeepLogs(func(context.Context, plog.Logs) {})
	env := folders.Env(t)
	env["NETDATA_OTLP_ENDPOINT"], env["DCGM_EXPORTER_ENDPOINT"], env["LATE_GRACE"] = sink.Endpoint(), dcgm.Serve(t, eightGPUs(t)).Address(), "1s"
	var runs []*run
	for n := range *liveRuns {
		runs = append(runs, newRun(t, folders.Runs, n))
	}
	c := collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, "host-training.yaml")},
		YAML:    "exporters: {dvc_result: {live_interval: 10s}}",
		Env:     env,
	})
	trainers := otlpclient.Connect(t, env["OTLP_ENDPOINT"])
	var looks []look
	t.Logf("| minute | rows | CPU, %% of a core | RSS, MB | of it anonymous, MB | state of runs, MB |")
	began, tick := time.Now(), time.NewTicker(time.Second)
	defer tick.Stop()
	rows := 0
	for second := 0; time.Since(began) < *duration; second++ {
		<-tick.C
		for _, r := range runs {
			r.step(t)
		}
		rows += len(runs)
		if second%10 == 0 {
			_ = trainers.Metrics(t.Context(), metrics(*liveRuns, second)) // the guard and the queue say what becomes of them
			sink.Reset()
		}
		mode := otlpsink.Accept
		if (time.Since(began)/(*fails))%2 == 1 {
			mode = otlpsink.Unavailable
		}
		sink.SetMode(mode)
		if second%60 == 59 {
			looks = append(looks, lookAt(t, c, rows))
			t.Log(looks[len(looks)-1].line(looks))
		}
	}
	sink.SetMode(otlpsink.Accept)
	for _, r := range runs {
		r.log(t, "run.end", `{"outcome":"success"}`)
	}
	for _, r := range runs {
		requireComplete(t, folders.Results, r)
	}
	requireNothingLost(t, c)
	requireFlat(t, looks)
}

// requireNothingLost: only what the backend refused may be gone.
func requireNothingLost(t *testing.T, c *collector.Process) {
	t.Helper()
	for _, name := range []string{"otelcol_train_jsonl_lost_bytes", "otelcol_train_jsonl_refused_records", "otelcol_dvc_result_dropped_runs", "otelcol_dvc_result_thinned_runs"} {
		assert.Zero(t, c.Metrics().Sum(name, nil), name)
	}
	t.Logf("dropped for the backend: %v items of isolate, %v at exporters' queues",
		c.Metrics().Sum("otelcol_isolate_dropped_items", nil), c.Metrics().Sum("otelcol_exporter_enqueue_failed_log_records", nil)+c.Metrics().Sum("otelcol_exporter_enqueue_failed_metric_points", nil))
}

// requireComplete wants every row of a run in its result.
func requireComplete(t *testing.T, results string, r *run) {
	t.Helper()
	var got struct {
		Outcome   string
		Truncated map[string]any
		Epochs    struct{ Completed int }
		Records   struct {
			ByEvent map[string]int `json:"by_event"`
		}
		Metrics map[string]struct {
			Points   int
			LastStep int `json:"last_step"`
		}
	}
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(filepath.Join(results, r.id, "result.json"))
		return err == nil && json.Unmarshal(text, &got) == nil && got.Outcome == "success"
	}, 2*time.Minute, 100*time.Millisecond, r.id)
	assert.Equal(t, r.steps/stepsOfEpoch, got.Epochs.Completed, r.id)
	assert.Equal(t, r.steps-1, got.Metrics["train/loss"].LastStep, r.id)
	assert.Equal(t, map[string]int{"run.start": 1, "step.end": r.steps, "epoch.end": r.steps / stepsOfEpoch, "run.end": 1}, got.Records.ByEvent, r.id)
	assert.Equal(t, r.steps, got.Metrics["train/loss"].Points, r.id)
	assert.Empty(t, got.Truncated, r.id)
}

// requireFlat compares the memory of the last third with that of the second. The curves of runs that go on grow, up to max_state_bytes, and the
// heap has about twice of what is alive: that is taken off.
func requireFlat(t *testing.T, looks []look) {
	t.Helper()
	if len(looks) < 9 {
		return
	}
	third := len(looks) / 3
	before, after := greatest(looks[third:2*third]), greatest(looks[2*third:])
	assert.Less(t, after, before*1.25, "memory grows: %.0f MB, then %.0f MB", before, after)
}

func greatest(looks []look) float64 {
	most := 0.0
	for _, l := range looks {
		most = max(most, l.anonymous-2*l.state)
	}
	return most
}

// look is what the kernel says of the process.
type look struct {
	at             time.Time
	rows           int
	cpu            time.Duration
	rss, anonymous float64
	state          float64
}

func lookAt(t *testing.T, c *collector.Process, rows int) look {
	t.Helper()
	pid := c.PID()
	l := look{at: time.Now(), rows: rows, state: c.Metrics().Sum("otelcol_dvc_result_state_size", nil) / 1e6}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kib, _ := strconv.ParseFloat(fields[1], 64)
		switch fields[0] {
		case "VmRSS:":
			l.rss = kib * 1024 / 1e6
		case "RssAnon:":
			l.anonymous = kib * 1024 / 1e6
		}
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	l.cpu = time.Duration(user+system) * 10 * time.Millisecond
	return l
}

func (l look) line(all []look) string {
	cpu := "-"
	if len(all) > 1 {
		before := all[len(all)-2]
		cpu = fmt.Sprintf("%.1f", 100*float64(l.cpu-before.cpu)/float64(l.at.Sub(before.at)))
	}
	return fmt.Sprintf("| %d | %d | %s | %.0f | %.0f | %.0f |", len(all), l.rows, cpu, l.rss, l.anonymous, l.state)
}
