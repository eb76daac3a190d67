package scripts

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

const url = `, "database_specific": {"url": "https://example.org/GO-2099-0001"}`

// database writes a mirror of a database of vulnerabilities that knows one, and returns its address.
func database(t *testing.T, module, pkg, symbol, fixed, more string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"index/db.json":      `{"modified": "2026-01-01T00:00:00Z"}`,
		"index/vulns.json":   `[{"id": "GO-2099-0001", "modified": "2026-01-01T00:00:00Z"}]`,
		"index/modules.json": fmt.Sprintf(`[{"path": %q, "vulns": [{"id": "GO-2099-0001", "modified": "2026-01-01T00:00:00Z", "fixed": %q}]}]`, module, fixed),
		"ID/GO-2099-0001.json": fmt.Sprintf(`{"schema_version": "1.3.1", "id": "GO-2099-0001", "modified": "2026-01-01T00:00:00Z", "published": "2026-01-01T00:00:00Z",
			"summary": "invented for a test", "affected": [{"package": {"name": %q, "ecosystem": "Go"},
			"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": %q}]}],
			"ecosystem_specific": {"imports": [{"path": %q, "symbols": [%q]}]}}]%s}`, module, fixed, pkg, symbol, more),
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return "file://" + dir
}

func TestAKnownVulnerabilityOfAnyBinaryFails(t *testing.T) {
	t.Parallel()
	const hit = "GO-2099-0001"
	top := collector.Root(t)
	_, err := os.Stat(filepath.Join(top, "build", "govulncheck"))
	require.NoError(t, err, "run make build/govulncheck")
	distribution, summary := collector.Binary(t), filepath.Join(top, "build", "trainsummary")
	for name, c := range map[string]struct {
		database string
		binaries []string
		fails    bool
		says     string
	}{
		"of the Collector":                      {database(t, "go.uber.org/zap", "go.uber.org/zap", "Logger.Info", "99.0.0", url), []string{distribution, summary}, true, hit},
		"of the last command":                   {database(t, "github.com/modelcontextprotocol/go-sdk", "github.com/modelcontextprotocol/go-sdk/mcp", "NewServer", "99.0.0", url), []string{distribution, summary}, true, hit},
		"of Go itself":                          {database(t, "stdlib", "os", "ReadFile", "99.0.0", url), []string{summary}, true, hit},
		"mended in an older version":            {database(t, "go.uber.org/zap", "go.uber.org/zap", "Logger.Info", "1.0.0", url), []string{distribution}, false, "No vulnerabilities found"},
		"of what is not linked":                 {database(t, "example.org/nobody", "example.org/nobody", "F", "99.0.0", url), []string{distribution}, false, "No vulnerabilities found"},
		"an entry that govulncheck takes badly": {database(t, "go.uber.org/zap", "go.uber.org/zap", "Logger.Info", "99.0.0", ""), []string{distribution}, true, hit},
		"a database that is not there":          {"file:///nowhere", []string{summary}, true, "nowhere"},
		"no database":                           {"", []string{distribution}, false, "skipped: no vulnerability database"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, status := run(t, top, nil, "scripts/vuln", append([]string{c.database}, c.binaries...)...)
			assert.Equal(t, c.fails, status != 0, out)
			assert.Contains(t, out, c.says)
		})
	}
}
