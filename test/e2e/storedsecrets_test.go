package e2e

import (
	"encoding/base64"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/markdown"
)

var encoded = regexp.MustCompile(`[A-Za-z0-9+/]{8,}={0,2}`)

// readable is what somebody finds in a file who looks for texts, also encoded ones.
func readable(raw string) string {
	var out strings.Builder
	out.WriteString(raw)
	for _, word := range encoded.FindAllString(raw, -1) {
		if text, err := base64.StdEncoding.DecodeString(word); err == nil {
			out.WriteByte('\n')
			out.Write(text)
		}
	}
	return out.String()
}

// TestTheStorageIsTheUsersAndHasNoSecret: what docs/security.md says of the storage. Names of streams and ids of runs are there as they are.
func TestTheStorageIsTheUsersAndHasNoSecret(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	env := f.env(t)
	c := collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, "host-training.yaml")}, Env: env,
		YAML: "receivers: {host_metrics: {collection_interval: 1h}}\n",
	})
	s := secrets{}
	newTrainer(t, f, "planted").lines(plantedLines(t, s)...)
	sendPlanted(t, env["OTLP_ENDPOINT"], s)
	waitResult(t, f, "planted", "failed")
	c.Stop()

	info, err := os.Stat(f.State)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o750), info.Mode().Perm())
	for secret, kind := range s {
		// the id of a run; and what nothing shows to be a secret: no backend gets that command line, the storage has it
		if kind == "other token=%s" || kind == "x %s" {
			delete(s, secret)
		}
	}
	files := tree(t, f.State)
	var names []string
	for name, raw := range files {
		names = append(names, name)
		info, err := os.Stat(filepath.Join(f.State, name))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
		s.absent(t, name, readable(raw))
	}
	assert.ElementsMatch(t, []string{
		"connector_training_records__metrics", "connector_training_signals_", "exporter_dvc_result_",
		"processor_cardinality_guard_train_metrics", "processor_training_norm__logs", "receiver_trainjsonl_",
	}, names, "docs/security.md has a line for each")
	assert.Contains(t, files["exporter_dvc_result_"], "bert-base", "parameters are there to be found")
	assert.Contains(t, readable(files["receiver_trainjsonl_"]), filepath.Join(f.Runs, "planted"), "names of streams are, too")
}

// TestARunIsDeletedAsThePageSays runs the commands of docs/security.md: nothing is left of the run, and the others have what they had.
func TestARunIsDeletedAsThePageSays(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	c := collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, "host-training.yaml")}, Env: f.env(t),
		YAML: "receivers: {host_metrics: {collection_interval: 1h}}\n",
	})
	for _, run := range []string{"run-7", "run-8"} {
		newTrainer(t, f, run).lines(
			line(t, run, "run.start", map[string]any{"params": map[string]any{"lr": 0.1}}, nil),
			line(t, run, "run.end", map[string]any{"outcome": "success"}, nil))
		waitResult(t, f, run, "success")
	}
	kept := tree(t, filepath.Join(f.Results, "run-8"))

	_, rest, _ := strings.Cut(markdown.Page(t, "docs/security.md"), "```sh\nsystemctl stop otelcol-train\n")
	commands, _, found := strings.Cut(rest, "systemctl start otelcol-train\n")
	require.True(t, found)
	commands = strings.NewReplacer("/srv/runs", f.Runs, "/srv/results", f.Results, "/var/lib/otelcol-train/storage", f.State).Replace(commands)
	c.Stop()
	out, err := exec.Command("sh", "-ec", commands).CombinedOutput() //nolint:gosec // the page's, in the test's folders
	require.NoError(t, err, string(out))
	c.Start()
	c.WaitMetric("otelcol_dvc_result_records", nil, 2, resultWithin)
	c.Stop()

	assert.Equal(t, kept, tree(t, filepath.Join(f.Results, "run-8")))
	require.NoError(t, filepath.WalkDir(filepath.Dir(f.Results), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			assert.NotContains(t, path, "run-7")
			return err
		}
		raw, err := os.ReadFile(path) //nolint:gosec // the test's own
		assert.NotContains(t, path+readable(string(raw)), "run-7")
		return err
	}))
}
