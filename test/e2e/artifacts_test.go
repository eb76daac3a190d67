package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// TestOnlyAllowedFilesAreRead names files of every kind in a run and looks at what became of them; none of them holds up the result.
func TestOnlyAllowedFilesAreRead(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	root, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "model"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "model", "w.bin"), []byte("w"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(root, "best.pt"), []byte("best"), 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(root, "link")))
	c := collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, "quickstart.yaml")}, Env: f.env(t),
		YAML: fmt.Sprintf("exporters: {dvc_result: {artifacts: {allowed_roots: [%q], path_map: [{from: /ckpt, to: %q}]}}}", root, root),
	})
	want := map[string]string{
		"/ckpt/best.pt": "ok", "model": "ok", root + "/best.pt": "ok", "fifo": "refused_not_regular", "link": "refused_outside_roots",
		secret: "refused_outside_roots", "../x": "refused_outside_roots", "none.pt": "missing",
	}
	var artifacts []map[string]string
	for path := range want {
		artifacts = append(artifacts, map[string]string{"role": "model", "path": path})
	}
	body, err := json.Marshal(map[string]any{"outcome": "success", "artifacts": artifacts})
	require.NoError(t, err)
	newTrainer(t, f, "crash").lines(crashStream[0][0], crashLine(1, "epoch.end", `{"epoch":0,"measurements":{"val/loss":1}}`), crashLine(2, "run.end", string(body)))
	waitResult(t, f, "crash", "success")
	b, err := os.ReadFile(filepath.Join(f.Results, "crash", "result.json"))
	require.NoError(t, err)
	var doc struct {
		Artifacts []struct{ Path, Status, SHA256 string }
	}
	require.NoError(t, json.Unmarshal(b, &doc))
	got := map[string]string{}
	for _, a := range doc.Artifacts {
		got[a.Path] = a.Status
		assert.Equal(t, a.Status == "ok", a.SHA256 != "", a.Path)
	}
	assert.Equal(t, want, got)
	assert.InDelta(t, 3, c.Metrics().Sum("otelcol_dvc_result_digests", map[string]string{"status": "ok"}), 0)
}

// TestFixedLayoutKeepsTheNewestRun lets an older run come after a newer one.
func TestFixedLayoutKeepsTheNewestRun(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	c := collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, "quickstart.yaml")}, Env: f.env(t), YAML: "exporters: {dvc_result: {layout: fixed, live_interval: 0s}}",
	})
	run := func(id string, hour int) {
		at := func(n int) string { return time.Date(2026, 11, 20, hour, 0, n, 0, time.UTC).Format(time.RFC3339) }
		line := func(n int, event, body string) string {
			return fmt.Sprintf(`{"schema":"pathologize.ml.training/1","ts":%q,"event":%q,"run_id":%q,"body":%s}`, at(n), event, id, body)
		}
		newTrainer(t, f, id).lines(line(0, "run.start", `{}`), line(1, "epoch.end", `{"epoch":0,"measurements":{"val/loss":1}}`), line(2, "run.end", `{"outcome":"success"}`))
	}
	run("newer", 12)
	shows := func(r result) bool { return r.Final && r.RunID == "newer" }
	waitFor(t, f, "latest", "of the newer run", shows)
	want := tree(t, f.Results)
	run("older", 11)
	c.WaitMetric("otelcol_dvc_result_kept_results", nil, 1, resultWithin)
	assert.Equal(t, want, tree(t, f.Results))
	run("newest", 13)
	waitFor(t, f, "latest", "of the newest run", func(r result) bool { return r.Final && r.RunID == "newest" })
}
