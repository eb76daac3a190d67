package signals

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/ports"
)

// program finds a program of Debian's package prometheus: named by an environment variable, or on the PATH.
func program(t *testing.T, name string) string {
	t.Helper()
	env := strings.ToUpper(name)
	path, err := exec.LookPath(name)
	if named := os.Getenv(env); named != "" {
		path, err = exec.LookPath(named)
	}
	if err != nil {
		if os.Getenv("OTELCOL_TRAIN_REQUIRE_PACKAGES") != "" {
			t.Fatalf("no %s: install prometheus, or name it with %s", name, env)
		}
		t.Skipf("NOT TESTED: the dashboard of trainings on a real Prometheus: no %s (Debian: prometheus); name it with %s", name, env)
	}
	return path
}

// prometheus runs one that scrapes an address each second.
type prometheus struct {
	t       *testing.T
	address string
}

func startPrometheus(t *testing.T, target string) *prometheus {
	t.Helper()
	path := program(t, "prometheus")
	dir := t.TempDir()
	p := &prometheus{t, ports.Free(t)}
	config := fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [%q]
scrape_configs: [{job_name: trainings, honor_labels: true, static_configs: [{targets: [%q]}]}]
`, filepath.Join(collector.Root(t), "monitoring", "trainings-rules.yaml"), target)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o644))
	//nolint:gosec // the developer names it
	cmd := exec.Command(path, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+p.address)
	run(t, cmd, "http://"+p.address+"/-/ready")
	return p
}

// sample is a value with the label that a panel shows.
type sample struct {
	labels map[string]string
	value  float64
}

// query evaluates an expression now.
func (p *prometheus) query(expr string) (out []sample) {
	p.t.Helper()
	resp, err := http.Get("http://" + p.address + "/api/v1/query?query=" + url.QueryEscape(expr))
	require.NoError(p.t, err)
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Status, Error string
		Data          struct {
			Result []struct {
				Metric map[string]string
				Value  []any
			}
		}
	}
	require.NoError(p.t, json.NewDecoder(resp.Body).Decode(&answer))
	require.Equal(p.t, "success", answer.Status, "%s: %s", expr, answer.Error)
	for _, r := range answer.Data.Result {
		v, err := strconv.ParseFloat(r.Value[1].(string), 64)
		require.NoError(p.t, err)
		out = append(out, sample{r.Metric, v})
	}
	return out
}

// by gives the values of an expression by a label of ours.
func (p *prometheus) by(expr, label string) map[string]float64 {
	out := map[string]float64{}
	for _, s := range p.query(expr) {
		out[s.labels["pathologize_ml_training_"+label]] = s.value
	}
	return out
}

// dashboard gives the expressions of the shipped page by title, with what Grafana fills in.
func dashboard(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(collector.Root(t), "monitoring", "grafana", "trainings.json"))
	require.NoError(t, err)
	var page struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(data, &page))
	filled := strings.NewReplacer("$__range", "120s", "$__rate_interval", "30s", "$host", ".*")
	panels := map[string][]string{}
	for _, p := range page.Panels {
		for _, target := range p.Targets {
			panels[p.Title] = append(panels[p.Title], filled.Replace(target.Expr))
		}
	}
	return panels
}

// TestTheDashboardTellsWhatTheRunsDid writes runs while a real Prometheus scrapes, and holds the shipped queries against what they did.
// increase() and rate() extrapolate to their windows' edges: by at most an interval of 1 s of about 20, hence a tenth is allowed.
func TestTheDashboardTellsWhatTheRunsDid(t *testing.T) {
	t.Parallel()
	p, panels := ranSeven(t, "cumulative")
	assert.Empty(t, p.query(panels["Nothing arrives"][0]))
	for label, want := range map[string]float64{"success": 4, "failed": 2, "aborted": 1, "unknown": 0} {
		assert.InDelta(t, want, p.by(panels["Runs that ended"][0], "run_outcome")[label], want/10+1e-9, label)
	}
	assert.InDelta(t, 2.0/7, p.query(panels["Failed of those that ended"][0])[0].value, 0.03)
	assert.Equal(t, map[string]float64{"running": 0, "stalled": 0}, p.by(panels["Active runs"][0], "run_state"))
	quantiles := p.by(panels["Duration of phases, 95th percentile"][0], "phase")
	assert.True(t, quantiles["train"] > 0.1 && quantiles["train"] <= 0.5, quantiles) // 0.5 s, in the bucket (0.1, 0.5]
	assert.True(t, quantiles["validation"] > 0.1 && quantiles["validation"] <= 0.5, quantiles)
	median := p.by(panels["Duration of runs, median"][0], "run_outcome")
	assert.True(t, median["success"] > 0 && median["success"] <= 10, median)
	samples := p.by(`increase(pathologize_ml_training_sample_processed_total[120s])`, "phase")
	assert.InDelta(t, 7*128, samples["train"], 90)
	spent := p.by(`increase(pathologize_ml_training_phase_time_seconds_total[120s])`, "phase")
	assert.InDelta(t, 7*1.0, spent["train"], 0.7)
	assert.InDelta(t, 7*0.5, spent["validation"], 0.35)
	assert.InDelta(t, 0.25, p.query(panels["Waiting for data"][0])[0].value, 1e-6, "0.05 of 0.2 s")
	for title, list := range panels {
		for _, expr := range list {
			if title != "Nothing arrives" {
				assert.NotEmpty(t, p.query(expr), "%s: %s shows nothing", title, expr)
			}
		}
	}
	assert.InDelta(t, 4, p.by(`training:run_outcomes:increase1h`, "run_outcome")["success"], 0.4)
}

// TestDifferencesAddUpInPrometheus sends differences: the exporter adds each up that follows the one before exactly.
func TestDifferencesAddUpInPrometheus(t *testing.T) {
	t.Parallel()
	p, _ := ranSeven(t, "delta")
	assert.InDelta(t, 7*128, p.by(`pathologize_ml_training_sample_processed_total`, "phase")["train"], 1e-9)
	assert.InDelta(t, 7*1.0, p.by(`pathologize_ml_training_phase_time_seconds_total`, "phase")["train"], 1e-6)
	assert.InDelta(t, 14, p.by(`pathologize_ml_training_phase_duration_seconds_count`, "phase")["validation"], 1e-9)
	assert.Equal(t, map[string]float64{"running": 0, "stalled": 0}, p.by(`pathologize_ml_training_run_active`, "run_state"))
}

// ranSeven writes seven runs while a Prometheus scrapes, and waits until it has seen them end.
func ranSeven(t *testing.T, temporality string) (*prometheus, map[string][]string) {
	t.Helper()
	program(t, "prometheus")
	f := newFolders(t)
	env := f.env(t)
	target := ports.Free(t)
	env["PROMETHEUS_ENDPOINT"], env["SIGNALS_INTERVAL"] = target, "3s"
	collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, "host-training.yaml"), collector.Shipped(t, "overlays/training-prometheus.yaml")}, Env: env,
		YAML: "connectors: {training_signals: {temporality: " + temporality + "}}\n",
	})
	p := startPrometheus(t, target)
	panels := dashboard(t)
	require.Eventually(t, func() bool { return len(p.query(`up == 1`)) == 1 }, 60*time.Second, 200*time.Millisecond, "no scrape")
	require.Len(t, p.query(panels["Nothing arrives"][0]), 1, "no series: absent() says so")
	for i, outcome := range []string{"success", "failed", "success", "aborted", "success", "failed", "success"} {
		write(t, f, fmt.Sprint("run-", i), outcome)
		wait(t, 2*time.Second)
	}
	require.Eventually(t, func() bool {
		n := p.by(`sum by (pathologize_ml_training_run_outcome) (pathologize_ml_training_run_outcomes_total)`, "run_outcome")
		return n["success"] == 4 && n["failed"] == 2 && n["aborted"] == 1
	}, 60*time.Second, 200*time.Millisecond)
	wait(t, 10*time.Second)
	return p, panels
}

// wait lets time pass: what is tested is what a reader sees of it.
func wait(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}
