package packages

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	noLinks = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	linked  = regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)
	runbook = regexp.MustCompile(`runbook: ([^#\s]+)`)
)

// pagesLeadSomewhere: who has the package alone follows each link of its pages to a file of the package, and alerts to their runbooks.
func pagesLeadSomewhere(t *testing.T, r root) {
	t.Helper()
	const top = "/usr/share/doc/otelcol-train"
	pages, followed := 0, 0
	for path := range strings.Lines(r.must(t, "dpkg -L otelcol-train")) {
		page := strings.TrimSpace(path)
		if !strings.HasSuffix(page, ".md") {
			continue
		}
		pages++
		text, err := os.ReadFile(r.path(page))
		require.NoError(t, err)
		for _, found := range linked.FindAllStringSubmatch(noLinks.ReplaceAllString(string(text), ""), -1) {
			if strings.Contains(found[1], "://") || strings.HasPrefix(found[1], "mailto:") {
				continue
			}
			leads(t, r, page, filepath.Join(filepath.Dir(page), found[1]))
			followed++
		}
	}
	assert.Greater(t, pages, 100)
	assert.Greater(t, followed, 200)
	alerts, err := os.ReadFile(r.path("/usr/share/otelcol-train/alerts.yaml"))
	require.NoError(t, err)
	for _, found := range runbook.FindAllStringSubmatch(string(alerts), -1) {
		leads(t, r, "alerts.yaml", filepath.Join(top, found[1]))
	}
}

// leads follows symbolic links too, and stays inside of the root.
func leads(t *testing.T, r root, page, target string) {
	t.Helper()
	real, err := filepath.EvalSymlinks(r.path(target))
	if assert.NoError(t, err, "%s links to %s", page, target) {
		assert.True(t, strings.HasPrefix(real, r.path("/usr/share/")), "%s links to %s, which is %s", page, target, real)
	}
}
