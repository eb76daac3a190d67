package summary

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// TestTheVersionIsThatOfTheDistribution, on the command line and to a client of the MCP server.
func TestTheVersionIsThatOfTheDistribution(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(collector.Root(t), "builder-config.yaml"))
	require.NoError(t, err)
	var manifest struct {
		Dist struct{ Version string }
	}
	require.NoError(t, yaml.Unmarshal(text, &manifest))
	require.NotEmpty(t, manifest.Dist.Version)
	assert.Equal(t, answer{out: "trainsummary version " + manifest.Dist.Version + "\n"}, run(t, "--version"))

	c := exec.CommandContext(t.Context(), collector.Summary(t), "mcp", "--root", t.TempDir())
	in, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	_, err = in.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n"))
	require.NoError(t, err)
	line, err := bufio.NewReader(out).ReadBytes('\n')
	require.NoError(t, err)
	require.NoError(t, in.Close())
	require.NoError(t, c.Wait())
	var got struct {
		Result struct{ ServerInfo struct{ Version string } }
	}
	require.NoError(t, json.Unmarshal(line, &got))
	assert.Equal(t, manifest.Dist.Version, got.Result.ServerInfo.Version, string(line))
}
