package summary

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// samples writes each stream that the repository has of a framework into a folder of its own. SUMMARY_SAMPLES names a folder with
// more.
func samples(t *testing.T) []string {
	t.Helper()
	root, dir := collector.Root(t), t.TempDir()
	var paths []string
	add := func(name, text string) {
		path := filepath.Join(dir, fmt.Sprintf("%s-%d", name, len(paths)), "train.jsonl")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		paths = append(paths, path)
	}
	fixtures, err := filepath.Glob(filepath.Join(root, "internal", "trainprofile", "testdata", "*", "*.txt"))
	require.NoError(t, err)
	for _, f := range fixtures {
		archive, err := txtar.ParseFile(f)
		require.NoError(t, err)
		for _, part := range archive.Files {
			if part.Name == "in" {
				add(filepath.Base(filepath.Dir(f)), string(part.Data))
			}
		}
	}
	require.Greater(t, len(paths), 100)
	folders := []string{filepath.Join(root, "test", "testdata", "streams")}
	if more := os.Getenv("SUMMARY_SAMPLES"); more != "" {
		folders = append(folders, more)
	}
	for _, folder := range folders {
		streams, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
		require.NoError(t, err)
		for _, s := range streams {
			text, err := os.ReadFile(s)
			require.NoError(t, err)
			add(strings.TrimSuffix(filepath.Base(s), ".jsonl"), string(text))
		}
	}
	return paths
}

// schemaOf compiles the schema that the command prints.
func schemaOf(t *testing.T, args ...string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(run(t, append([]string{"schema"}, args...)...).out))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("s.json", doc))
	s, err := c.Compile("s.json")
	require.NoError(t, err)
	return s
}

func TestEverySampleGivesAValidDocument(t *testing.T) {
	t.Parallel()
	one, list := schemaOf(t), schemaOf(t, "list")
	largest, row := 0, 0
	for _, path := range samples(t) {
		got := run(t, "--full", "--no-process-check", path)
		require.Zero(t, got.code, "%s %s", path, got.err)
		for line := range strings.Lines(got.out) {
			d, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
			require.NoError(t, err)
			assert.NoError(t, one.Validate(d), path)
			assert.LessOrEqual(t, len(line)-1, 2048, path)
			largest = max(largest, len(line)-1)
			invented(t, path, d.(map[string]any))
		}
	}
	folder := filepath.Dir(filepath.Dir(samples(t)[0]))
	got := run(t, folder)
	d, err := jsonschema.UnmarshalJSON(strings.NewReader(got.out))
	require.NoError(t, err)
	assert.NoError(t, list.Validate(d))
	for _, r := range d.(map[string]any)["runs"].([]any) {
		b, err := json.Marshal(r)
		require.NoError(t, err)
		if r.(map[string]any)["ref"] == nil {
			assert.LessOrEqual(t, len(b), 200)
		}
		row = max(row, len(b))
	}
	t.Logf("the largest document has %d bytes, the largest row %d", largest, row)
}

// invented looks for what no stream proves.
func invented(t *testing.T, path string, d map[string]any) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	p := d["progress"].(map[string]any)
	if n, ok := p["epochs_completed"].(json.Number); ok && n.String() != "0" {
		assert.NotNil(t, p["last_epoch"], path)
	}
	if b, ok := d["best"].(map[string]any); ok {
		if c, ok := b["checkpoint"].(map[string]any); ok {
			base := filepath.Base(strings.TrimSuffix(c["path"].(string), "…"))
			assert.Contains(t, string(text), base[:min(len(base), 20)], "%s: a checkpoint that the stream does not name", path)
		}
	}
	for _, key := range []string{"state", "alive"} {
		why, _ := d["why"].(map[string]any)
		if d[key] == nil {
			assert.NotEmpty(t, why[key], "%s: nobody says why %s is not known", path, key)
		}
	}
}
