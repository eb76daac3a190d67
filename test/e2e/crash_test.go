package e2e

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// withFaults is the distribution with fault points.
func withFaults(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(collector.Root(t), "build", "faults", "otelcol-train")
	_, err := os.Stat(binary)
	require.NoError(t, err, "no collector with fault points: run make faults")
	return binary
}

func TestTheShippedBinaryHasNoFaultPoints(t *testing.T) {
	t.Parallel()
	for binary, want := range map[string]bool{collector.Binary(t): false, withFaults(t): true} {
		b, err := os.ReadFile(binary)
		require.NoError(t, err)
		assert.Equal(t, want, bytes.Contains(b, []byte("OTELCOL_TRAIN_FAULT")), binary)
	}
}

// The two parts of a stream: a whole training, then another attempt that supersedes one of its curves.
var crashStream = [2][]string{
	{
		crashLine(0, "run.start", `{"planned_epochs":2,"params":{"lr":0.5}}`),
		crashLine(1, "epoch.end", `{"epoch":0,"measurements":{"val/loss":1.5,"early/first":1}}`),
		crashLine(2, "epoch.end", `{"epoch":1,"measurements":{"val/loss":1.25,"early/first":2}}`),
		crashLine(3, "run.end", `{"outcome":"failed"}`),
	},
	{
		crashLine(10, "run.start", `{"planned_epochs":2}`),
		crashLine(11, "epoch.end", `{"epoch":0,"measurements":{"val/loss":0.5}}`),
		crashLine(12, "run.end", `{"outcome":"success"}`),
	},
}

func crashLine(n int, event, body string) string {
	return fmt.Sprintf(`{"schema":"pathologize.ml.training/1","ts":"2026-11-20T10:00:%02dZ","event":%q,"run_id":"crash","body":%s}`, n, event, body)
}

// crash runs a collector that dies at a point, and again without faults, and gives the results in the end.
func crash(t *testing.T, binary string, at int, trace string) (files map[string]string, died bool) {
	t.Helper()
	f := newFolders(t)
	env := f.env(t)
	env["LIVE_INTERVAL"], env["LATE_GRACE"], env["IDLE_TIMEOUT"] = "0s", "20ms", "1h"
	env["OTELCOL_TRAIN_FAULT_AT"], env["OTELCOL_TRAIN_FAULT_TRACE"] = strconv.Itoa(at), trace
	c := collector.New(t, collector.Options{
		Binary: binary, Configs: []string{collector.Shipped(t, "quickstart.yaml")}, Env: env,
		YAML: "exporters: {dvc_result: {report: true, plots: {full_fidelity: true}}}\n" + // more files, more steps
			"receivers: {train_jsonl: {checkpoint_interval: 50ms}}\n",
	})
	require.NoError(t, c.Launch())
	tr := newTrainer(t, f, "crash")
	wait := func(what string, done func() bool) {
		t.Helper()
		require.Eventually(t, func() bool {
			if !c.Running() {
				died = true
				requireWhole(t, tree(t, f.Results))
				delete(env, "OTELCOL_TRAIN_FAULT_AT")
				require.NoError(t, c.Launch())
			}
			return done()
		}, resultWithin, 10*time.Millisecond, "%s, point %d", what, at)
	}
	for i, lines := range crashStream {
		tr.write(strings.Join(lines, "\n") + "\n")
		outcome := []string{"failed", "success"}[i]
		wait("no result says "+outcome, func() bool {
			b, _ := os.ReadFile(filepath.Join(f.Results, "crash", "result.json"))
			return bytes.Contains(b, []byte(`"outcome": "`+outcome+`",`+"\n    \"outcome_from\"")) && bytes.Contains(b, []byte(`"final": true`))
		})
	}
	for _, gone := range []string{"plots/metrics/early", "plots/full/early", "report/early"} {
		wait(gone+" is there, which no result has any more", func() bool {
			_, err := os.Lstat(filepath.Join(f.Results, "crash", gone))
			return os.IsNotExist(err)
		})
	}
	c.Kill()
	return tree(t, f.Results), died
}

// requireWhole wants every file as it was meant, old or new, right after a crash; the last result is there only when all that it lists is.
func requireWhole(t *testing.T, files map[string]string) {
	t.Helper()
	if last := files["crash/result.json"]; strings.Contains(last, `"outcome": "success"`) {
		var doc struct {
			Files map[string]struct{ SHA256 string }
		}
		require.NoError(t, json.Unmarshal([]byte(last), &doc))
		require.NotEmpty(t, doc.Files)
		for name, file := range doc.Files {
			require.Equal(t, file.SHA256, fmt.Sprintf("%x", sha256.Sum256([]byte(files["crash/"+name]))), "result.json came before %s", name)
		}
	}
	for name, text := range files {
		switch path.Ext(name) {
		case ".json":
			require.True(t, json.Valid([]byte(text)), "%s is torn: %q", name, text)
		case ".gz":
			r, err := gzip.NewReader(strings.NewReader(text))
			require.NoError(t, err, name)
			_, err = io.ReadAll(r)
			require.NoError(t, err, name)
			continue
		case ".svg":
			require.True(t, strings.HasSuffix(text, "</svg>\n"), name)
		}
		require.True(t, strings.HasSuffix(text, "\n"), "%s is torn: %q", name, text)
	}
}

// TestACrashAtEachStepChangesNoResult lets the collector die at each step that changes the disk: each file, its sync and its name, each
// folder, each removed file, and each write to the storage.
func TestACrashAtEachStepChangesNoResult(t *testing.T) {
	t.Parallel()
	binary := withFaults(t)
	trace := filepath.Join(t.TempDir(), "trace")
	want, died := crash(t, binary, 0, trace)
	require.False(t, died)
	text, err := os.ReadFile(trace)
	require.NoError(t, err)
	points := strings.Fields(string(text))
	for _, kind := range []string{"mkdir", "create", "write", "sync", "rename", "renamed", "syncdir", "remove", "lock", "append", "appended", "store", "stored"} {
		require.Contains(t, points, kind)
	}
	require.Contains(t, want, "crash/plots/full/val/loss.tsv.gz")
	var deaths atomic.Int32
	t.Cleanup(func() {
		t.Logf("%d points, %d deaths", len(points), deaths.Load())
		assert.Greater(t, int(deaths.Load()), len(points)*9/10)
	})
	for i, point := range points {
		t.Run(fmt.Sprintf("%d %s", i+1, point), func(t *testing.T) {
			t.Parallel()
			got, died := crash(t, binary, i+1, "")
			if died {
				deaths.Add(1)
			}
			assert.Equal(t, want, got)
		})
	}
}

// TestFiftyKillsAtRandomChangeNoResult kills the shipped binary while results are written again and again.
func TestFiftyKillsAtRandomChangeNoResult(t *testing.T) {
	t.Parallel()
	const kills, epochs = 50, 200
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a load, no secret
	live, calm := newFolders(t), newFolders(t)
	start := func(f folders) *collector.Process {
		env := f.env(t)
		env["LIVE_INTERVAL"], env["LATE_GRACE"], env["IDLE_TIMEOUT"] = "1s", "20ms", "1h"
		return collector.New(t, collector.Options{
			Configs: []string{collector.Shipped(t, "quickstart.yaml")}, Env: env,
			YAML: "exporters: {dvc_result: {report: true}}\nreceivers: {train_jsonl: {checkpoint_interval: 50ms}}\n",
		})
	}
	lines := []string{crashLine(0, "run.start", `{"planned_epochs":200,"params":{"lr":0.5}}`)}
	for i := range epochs {
		lines = append(lines, crashLine(i%60, "epoch.end", fmt.Sprintf(`{"epoch":%d,"measurements":{"val/loss":%d.5,"train/loss":%d}}`, i, epochs-i, i)))
	}
	lines = append(lines, crashLine(59, "run.end", `{"outcome":"success"}`))
	newTrainer(t, calm, "crash").lines(lines...)
	c, tr := start(live), newTrainer(t, live, "crash")
	c.Start()
	for kill := range kills {
		n := len(lines) / (kills - kill + 1)
		tr.lines(lines[:n]...)
		lines = lines[n:]
		pause(t, time.Duration(random.IntN(700))*time.Millisecond)
		c.Kill()
		require.NoError(t, c.Launch())
	}
	tr.lines(lines...)
	quiet := start(calm)
	quiet.Start()
	waitResult(t, live, "crash", "success")
	waitResult(t, calm, "crash", "success")
	c.Kill()
	quiet.Stop()
	assert.Equal(t, tree(t, calm.Results), tree(t, live.Results))
}
