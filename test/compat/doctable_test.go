package compat

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

var update = flag.Bool("update", false, "write the generated pages anew")

const (
	tableStart = "<!-- survey: written by `make docs` -->\n"
	tableEnd   = "<!-- survey: end -->\n"
)

func TestMigrationPageListsTheSurvey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(collector.Root(t), "docs", "replace-host-collector.md")
	page, err := os.ReadFile(path) //nolint:gosec // a page of this repository
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(page), tableStart)
	require.True(t, ok, "the page has no %q", tableStart)
	_, after, ok := strings.Cut(rest, tableEnd)
	require.True(t, ok, "the page has no %q", tableEnd)
	current(t, path, before+tableStart+table()+tableEnd+after)
}

// current holds a page to what it should be; -update writes it.
func current(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		//nolint:gosec // a page that everybody reads
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	got, err := os.ReadFile(path) //nolint:gosec // a page of this repository
	require.NoError(t, err)
	require.Equal(t, want, string(got), "the page is not current: run make docs")
}

func table() string {
	var b strings.Builder
	b.WriteString("| configuration | as in | verdict |\n| --- | --- | --- |\n")
	for _, c := range configurations {
		verdict := "starts"
		if len(c.missing) > 0 {
			verdict = "missing: " + strings.Join(c.missing, ", ")
		}
		fmt.Fprintf(&b, "| [%s](../test/compat/testdata/%s) | %s | %s |\n", strings.TrimSuffix(c.file, ".yaml"), c.file, c.origin, verdict)
	}
	return b.String()
}
