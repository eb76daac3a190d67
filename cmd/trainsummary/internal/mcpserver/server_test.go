package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/answer"
	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/follow"
)

func record(run, event, body string) string {
	return fmt.Sprintf(`{"ts":%q,"event":%q,"run_id":%q,"body":{%s}}`, time.Now().UTC().Format(time.RFC3339Nano), event, run, body) + "\n"
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func library(t *testing.T, root string) *Library {
	t.Helper()
	session, err := follow.Open([]string{root}, follow.Profiles{})
	require.NoError(t, err)
	return NewLibrary(session, answer.Asker{Now: time.Now})
}

// connect starts a server over a folder and a client of it.
func connect(t *testing.T, root string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	l := library(t, root)
	here, there := mcp.NewInMemoryTransports()
	server, err := New(l, "test", slog.New(slog.DiscardHandler)).Connect(t.Context(), here, nil)
	require.NoError(t, err)
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, o).Connect(t.Context(), there, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, client.Close())
		assert.NoError(t, server.Wait())
	})
	return client
}

func call(t *testing.T, c *mcp.ClientSession, tool string, args map[string]any) (map[string]any, string) {
	t.Helper()
	res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	require.NoError(t, err)
	text := res.Content[0].(*mcp.TextContent).Text
	if res.IsError {
		return nil, text
	}
	var out map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &out))
	assert.Equal(t, out, res.StructuredContent, "the text says the same")
	return out, ""
}

func TestTools(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := filepath.Join(dir, "a", "t.jsonl")
	write(t, good, record("run/1", "epoch.end", `"epoch":0,"measurements":{"val/loss":2,"speed":NaN}`))
	write(t, filepath.Join(dir, "b", "t.jsonl"), record("b", "run.failure", `"message":"x"`))
	write(t, filepath.Join(dir, "c", "x", "t.jsonl"), `{"loss":1,"epoch":1.0,"step":3,"learning_rate":1,"grad_norm":1}`+"\n")
	write(t, filepath.Join(dir, "d", "x", "t.jsonl"), `{"loss":1,"epoch":1.0,"step":3,"learning_rate":1,"grad_norm":2}`+"\n")
	c := connect(t, dir, nil)
	list, _ := call(t, c, "list_runs", nil)
	assert.InDelta(t, 4, list["total"], 0)
	list, _ = call(t, c, "list_runs", map[string]any{"state": "failed", "limit": 1})
	assert.InDelta(t, 1, list["total"], 0)
	d, _ := call(t, c, "summarize_run", map[string]any{"run": "run/1"})
	assert.Equal(t, "running", d["state"])
	write(t, good, record("run/1", "epoch.end", `"epoch":1,"measurements":{"val/loss":1,"speed":3}`))
	d, _ = call(t, c, "summarize_run", map[string]any{"run": good})
	assert.InDelta(t, 2, d["progress"].(map[string]any)["epochs_completed"], 0, "what is appended is read")
	write(t, filepath.Join(dir, "e", "t.jsonl"), record("new", "epoch.end", `"epoch":0`))
	d, text := call(t, c, "summarize_run", map[string]any{"run": "new"})
	assert.Empty(t, text, "a run that has just begun is found")
	assert.Equal(t, "running", d["state"])
	m, _ := call(t, c, "get_metric", map[string]any{"run": "run/1", "metric": "speed"})
	assert.Equal(t, []any{[]any{0.0, "NaN"}, []any{1.0, 3.0}}, m["points"])
	m, _ = call(t, c, "get_metric", map[string]any{"run": "run/1", "metric": "val/loss", "from": 1})
	assert.Equal(t, []any{[]any{1.0, 1.0}}, m["points"])
	for _, bad := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"summarize_run", map[string]any{"run": "zz"}, "call list_runs"},
		{"summarize_run", map[string]any{"run": "x"}, "2 runs have this id"},
		{"summarize_run", map[string]any{}, "run"},
		{"summarize_run", map[string]any{"run": "../../etc/passwd"}, "no run has"},
		{"get_metric", map[string]any{"run": "b", "metric": "zz"}, "no curve"},
		{"get_metric", map[string]any{"run": "run/1", "metric": "zz"}, `"measured":["speed","val/loss"]}`},
		{"get_metric", map[string]any{"run": "b", "metric": "zz", "max_points": 201}, "want 4 to 200"},
		{"list_runs", map[string]any{"state": "fine"}, "want one of"},
		{"list_runs", map[string]any{"limit": 51}, "want 1 to 50"},
		{"wait_for_run", map[string]any{"run": "b", "until": "rain"}, "want ended"},
		{"wait_for_run", map[string]any{"run": "b", "until": "ended", "timeout_s": 601}, "want 1 to 600"},
	} {
		_, text := call(t, c, bad.tool, bad.args)
		assert.Contains(t, text, bad.want)
	}
}

func TestAWaitEndsWithItsCondition(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	write(t, path, record("r", "epoch.end", `"epoch":0`))
	var mu sync.Mutex
	var told []string
	c := connect(t, filepath.Dir(path), &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, req.Params.Message)
	}})
	time.AfterFunc(500*time.Millisecond, func() { write(t, path, record("r", "epoch.end", `"epoch":1`)) })
	p := &mcp.CallToolParams{Name: "wait_for_run", Arguments: map[string]any{"run": "r", "until": "epoch=2,failed", "timeout_s": 300}}
	p.SetProgressToken("w")
	res, err := c.CallTool(t.Context(), p)
	require.NoError(t, err)
	w := res.StructuredContent.(map[string]any)["wait"].(map[string]any)
	assert.Equal(t, "epoch=2", w["condition"])
	assert.Equal(t, true, w["met"])
	mu.Lock()
	assert.Contains(t, told, "running")
	mu.Unlock()
	d, _ := call(t, c, "wait_for_run", map[string]any{"run": "r", "until": "epoch=9", "timeout_s": 1})
	assert.Equal(t, false, d["wait"].(map[string]any)["met"], "a timeout is no error")
	write(t, path, record("r", "run.end", `"outcome":"success"`))
	d, _ = call(t, c, "wait_for_run", map[string]any{"run": "r", "until": "epoch=9"})
	assert.Equal(t, "finished", d["state"], "what cannot come is not waited for")
}

func TestAWaitEndsWhenTheClientCancels(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	write(t, path, record("r", "epoch.end", `"epoch":0`))
	l := library(t, filepath.Dir(path))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	began := time.Now()
	_, err := l.wait(ctx, &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{}}, waitInput{Run: "r", Until: "epoch=9"})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Less(t, time.Since(began), time.Minute)
}

func TestTheToolListIsSmall(t *testing.T) {
	t.Parallel()
	c := connect(t, t.TempDir(), nil)
	list, err := c.ListTools(t.Context(), nil)
	require.NoError(t, err)
	b, err := json.Marshal(list)
	require.NoError(t, err)
	assert.Less(t, len(b), 10_000)
	require.Len(t, list.Tools, 4)
	for _, tool := range list.Tools {
		assert.True(t, tool.Annotations.ReadOnlyHint && tool.Annotations.IdempotentHint && !*tool.Annotations.OpenWorldHint, tool.Name)
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a", "t.jsonl"), record("run/1", "epoch.end", `"epoch":0`))
	c := connect(t, dir, nil)
	for uri, want := range map[string]string{"trainrun:///schema": `"$schema"`, "trainrun:///run%2F1/summary": `"state":"running"`} {
		res, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		require.NoError(t, err, uri)
		assert.Contains(t, res.Contents[0].Text, want)
	}
	_, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "trainrun:///nope/summary"})
	assert.Error(t, err)
}
