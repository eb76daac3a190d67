package summary

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// TestAClientOfAnotherSDK is the official TypeScript one.
func TestAClientOfAnotherSDK(t *testing.T) {
	t.Parallel()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("NOT TESTED: an MCP client of another SDK; install node and npm")
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "client.mjs"} {
		text, err := os.ReadFile(filepath.Join("testdata", "mcpclient", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	install := exec.CommandContext(t.Context(), npm, "install", "--no-audit", "--no-fund", "--ignore-scripts")
	install.Dir = dir
	if text, err := install.CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: an MCP client of another SDK; npm install: %s", text)
	}
	path := filepath.Join(dir, "runs", "my run", "train.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	for i := range 6 {
		at := time.Now().Add(time.Duration(i-6) * time.Second).UTC().Format(time.RFC3339)
		appendLine(t, path, fmt.Sprintf(`{"ts":%q,"event":"epoch.end","run_id":"my run","body":{"epoch":%d,"measurements":{"val/loss":%d}}}`, at, i, 9-i))
	}
	c := exec.CommandContext(t.Context(), "node", "client.mjs", collector.Summary(t), filepath.Join(dir, "runs"), "my run")
	c.Dir = dir
	text, err := c.CombinedOutput()
	require.NoError(t, err, string(text))
	var got struct {
		Tools    []string       `json:"tools"`
		Bytes    int            `json:"bytes"`
		Calls    map[string]int `json:"calls"`
		Error    bool           `json:"error"`
		Resource string         `json:"resource"`
	}
	require.NoError(t, json.Unmarshal(text, &got), string(text))
	assert.Equal(t, []string{"get_metric", "list_runs", "summarize_run", "wait_for_run"}, got.Tools)
	assert.Equal(t, map[string]int{"get_metric": 2, "list_runs": 2, "summarize_run": 1, "wait_for_run": 2}, got.Calls)
	assert.Less(t, got.Bytes, 10_000)
	assert.True(t, got.Error)
	assert.Equal(t, "train-summary/1", got.Resource)
	t.Logf("the list of tools has %d bytes", got.Bytes)
}

// TestAMalformedFrameEndsNoServer as a client's mistake is its own: it is answered, and what comes behind it is served.
func TestAMalformedFrameEndsNoServer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, collector.Summary(t), "mcp", "--root", t.TempDir())
	in, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	var logged bytes.Buffer
	c.Stderr = &logged
	require.NoError(t, c.Start())
	answers := bufio.NewScanner(out)
	for _, said := range []struct{ line, answered string }{
		{`{"jsonrpc":"2.0",`, `"id":null,"error":{"code":-32700,`},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, `"id":1,"result":{`},
		{`{"jsonrpc":"1.0","id":2,"method":"tools/list"}`, `"id":2,"error":{"code":-32600,`},
		{`{}{}`, `"id":null,"error":{"code":-32700,`},
		{`[{"jsonrpc":"2.0","id":3,"method":"ping"}]`, `"id":3,"result":{`},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"list_runs","arguments":{}}}`, `"id":4,"result":{`},
	} {
		_, err := fmt.Fprintln(in, said.line)
		require.NoError(t, err)
		require.True(t, answers.Scan(), "%s: %s", said.line, &logged)
		assert.Contains(t, answers.Text(), said.answered, said.line)
	}
	require.NoError(t, in.Close())
	assert.False(t, answers.Scan(), answers.Text())
	assert.NoError(t, c.Wait(), logged.String())
}
