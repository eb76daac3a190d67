package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/markdown"
)

// pages are all pages of the repository by path, without test data.
func pages(t *testing.T) map[string]string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "*.md")
	cmd.Dir = collector.Root(t)
	out, err := cmd.Output()
	require.NoError(t, err)
	found := map[string]string{}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		if strings.Contains(name, "testdata/") {
			continue
		}
		found[name] = markdown.Page(t, name)
	}
	require.Greater(t, len(found), 30)
	return found
}

// handbook are the pages for operators, whose blocks are checked one by one.
func handbook(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, text := range pages(t) {
		if filepath.Dir(name) == "docs" || name == "README.md" || name == "cmd/compat/README.md" {
			out[name] = text
		}
	}
	return out
}

// exists says whether a path of the repository is there.
func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(collector.Root(t), path))
	return err == nil
}
