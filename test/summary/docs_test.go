package summary

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/markdown"
)

// blocks gives the code of a language in a page.
func blocks(t *testing.T, page, language string) []string {
	t.Helper()
	out := markdown.Blocks(markdown.Page(t, page), language)
	require.NotEmpty(t, out)
	return out
}

// between gives what stands in a page between two texts.
func between(t *testing.T, page, from, to string) string {
	t.Helper()
	_, rest, found := strings.Cut(markdown.Page(t, page), from)
	require.True(t, found, page)
	part, _, found := strings.Cut(rest, to)
	require.True(t, found, page)
	return part
}

// site is a folder in which the commands of a page find what they name.
func site(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "bin"), 0o700))
	require.NoError(t, os.Symlink(collector.Summary(t), filepath.Join(dir, "bin", "trainsummary")))
	for run, outcome := range map[string]string{"run-7": "success", "run-8": "failed"} {
		path := filepath.Join(dir, "runs", run, "train.jsonl")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		for i := range 3 {
			at := time.Now().Add(time.Duration(i-4) * time.Second).UTC().Format(time.RFC3339)
			appendLine(t, path, fmt.Sprintf(`{"ts":%q,"event":"epoch.end","run_id":%q,"body":{"epoch":%d,"measurements":{"val/loss":%d}}}`, at, run, i, 9-i))
		}
		appendLine(t, path, fmt.Sprintf(`{"ts":%q,"event":"run.end","run_id":%q,"body":{"outcome":%q}}`, time.Now().UTC().Format(time.RFC3339), run, outcome))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "runs", "run-9"), 0o700))
	appendLine(t, filepath.Join(dir, "runs", "run-9", "train.jsonl"), `{"ep":1,"it":200,"loss":0.9,"lr":0.001,"secs":61.5,"eval":{"loss":1.1}}`)
	profile := "profile: my_trainer" + between(t, "internal/trainprofile/README.md", "```yaml\nprofile: my_trainer", "```")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "my-trainer.yaml"), []byte(profile), 0o600))
	return dir, append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
}

func TestTheCommandsOfThePageWork(t *testing.T) {
	t.Parallel()
	want := []string{`"state":"finished"`, `"condition":"epoch=2","met":true`, "ended, or diverging", `"run-8"`, "", `"profile":"my_trainer"`}
	list := blocks(t, "docs/agents.md", "sh")
	require.Len(t, list, len(want))
	dir, env := site(t)
	for i, commands := range list {
		var errs bytes.Buffer
		c := exec.CommandContext(t.Context(), "sh", "-ec", commands)
		c.Dir, c.Env, c.Stderr = dir, env, &errs
		out, err := c.Output()
		require.NoError(t, err, "%s\n%s", commands, errs.String())
		assert.Contains(t, string(out), want[i], commands)
		assert.Empty(t, errs.String(), commands)
	}
	page, err := os.ReadFile(filepath.Join(dir, "run-7.html"))
	require.NoError(t, err)
	assert.Contains(t, string(page), "<svg")
	assert.FileExists(t, filepath.Join(dir, "summary.json"))
}

// TestTheDocumentsOfThePagesFitTheSchema holds the examples to what the command says.
func TestTheDocumentsOfThePagesFitTheSchema(t *testing.T) {
	t.Parallel()
	schema := schemaOf(t)
	for _, page := range []string{"docs/agents.md", "README.md"} {
		shown := 0
		for _, b := range blocks(t, page, "json") {
			var d map[string]any
			require.NoError(t, json.Unmarshal([]byte(b), &d), b)
			if d["schema"] == "train-summary/1" {
				assert.NoError(t, schema.Validate(any(d)))
				shown++
			}
		}
		assert.Equal(t, 1, shown, page)
	}
}

// TestTheClientsConfigurationsStartAServer starts what a client would start.
func TestTheClientsConfigurationsStartAServer(t *testing.T) {
	t.Parallel()
	dir, env := site(t)
	started := 0
	for _, b := range blocks(t, "docs/agents.md", "json") {
		var config map[string]map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		}
		if json.Unmarshal([]byte(b), &config) != nil {
			continue
		}
		for _, servers := range config {
			for _, s := range servers {
				c := exec.CommandContext(t.Context(), "env", append([]string{s.Command}, s.Args...)...)
				c.Dir, c.Env = dir, env
				in, err := c.StdinPipe()
				require.NoError(t, err)
				out, err := c.StdoutPipe()
				require.NoError(t, err)
				require.NoError(t, c.Start())
				for _, m := range []string{
					`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
					`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_runs","arguments":{}}}`,
				} {
					_, err := in.Write([]byte(m + "\n"))
					require.NoError(t, err)
				}
				r := bufio.NewReader(out)
				_, err = r.ReadString('\n')
				require.NoError(t, err)
				answer, err := r.ReadString('\n')
				require.NoError(t, err)
				assert.Contains(t, answer, `run-8`)
				require.NoError(t, in.Close())
				assert.NoError(t, c.Wait(), "it ends with its client")
				started++
			}
		}
	}
	assert.Equal(t, 2, started)
}

func TestHelpPagesAndCompletion(t *testing.T) {
	t.Parallel()
	assert.Contains(t, run(t, "man").out, `.TH "TRAINSUMMARY"`)
	assert.Contains(t, run(t, "--help").out, "--wait-for")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		got := run(t, "completion", shell)
		assert.Zero(t, got.code)
		assert.Contains(t, got.out, "trainsummary")
	}
	rules := run(t, "rules")
	assert.Contains(t, rules.out, `{"name":"trend_z","value":1.645`)
	text := markdown.Page(t, "docs/agents.md")
	for _, word := range strings.Fields("ended finished failed stalled epoch=N step=N best warning change") {
		assert.Contains(t, text, "`"+word+"`")
	}
}
