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

var update = flag.Bool("update", false, "write the table of the migration page anew")

const (
	tableStart = "<!-- survey: written by `go test ./test/compat -update` -->\n"
	tableEnd   = "<!-- survey: end -->\n"
)

func TestMigrationPageListsTheSurvey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(collector.Root(t), "docs", "replace-host-collector.md")
	page, err := os.ReadFile(path) //nolint:gosec // a page of this repository
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(page), tableStart)
	require.True(t, ok, "the page has no %q", tableStart)
	now, after, ok := strings.Cut(rest, tableEnd)
	require.True(t, ok, "the page has no %q", tableEnd)
	if *update {
		//nolint:gosec // a page that everybody reads
		require.NoError(t, os.WriteFile(path, []byte(before+tableStart+table()+tableEnd+after), 0o644))
		return
	}
	require.Equal(t, table(), now, "run go test ./test/compat -update")
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
