package packages

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
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

// runBy says which test runs each shell block of the pages about packages and hosts.
var runBy = map[string][]string{
	"install.md":         {"TestAHostsLifeWithThePackage", "TestSystemdRunsTheUnit", "TestAHostsLifeWithTheRpm"},
	"upgrading.md":       {"TestAHostsLifeWithThePackage"},
	"operations.md":      {"TestSystemdSwapsTheBinaryAndRollsBack"},
	"security.md":        {"TestARunIsDeletedAsThePageSays"},
	"troubleshooting.md": {"TestTheReadmesChartsAndSummary"},
	"fleet.md":           {"TestTheNameOfAGatewayIsMadeOnce"},
	"replace-host-collector.md": {
		"TestSwapAndRollBackBesideAStockCollector", "TestSwapAndRollBackBesideAStockCollector", "TestSwapAndRollBackBesideAStockCollector",
		"TestSystemdSwapsTheBinaryAndRollsBack", "TestSystemdSwapsTheBinaryAndRollsBack",
	},
}

// TestEachBlockOfAPageIsRun: one that is added to a page needs a test that runs it, and a page that gets its first a line in runBy.
func TestEachBlockOfAPageIsRun(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob(filepath.Join("..", "*", "*_test.go"))
	require.NoError(t, err)
	tests := ""
	for _, source := range sources {
		text, err := os.ReadFile(source) //nolint:gosec // ours
		require.NoError(t, err)
		tests += string(text)
	}
	// kubernetes.md wants a cluster and faq.md a registry; the blocks of the others run in test/summary and test/e2e, all that there are.
	elsewhere := []string{"kubernetes.md", "faq.md", "agents.md", "trainers.md"}
	pages, err := filepath.Glob(filepath.Join(collector.Root(t), "docs", "*.md"))
	require.NoError(t, err)
	for _, path := range pages {
		name := filepath.Base(path)
		if slices.Contains(elsewhere, name) {
			continue
		}
		assert.Len(t, runBy[name], strings.Count(pageText(t, name), "```sh\n"), name)
		for _, test := range runBy[name] {
			assert.Contains(t, tests, "func "+test+"(", name)
		}
	}
}

// TestTheNameOfAGatewayIsMadeOnce with the page's command: a gateway that starts again keeps it.
func TestTheNameOfAGatewayIsMadeOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	command := strings.ReplaceAll(fromPage(t, "fleet.md"), "/var/lib/otelcol-train/", dir+"/")
	names := map[string]bool{}
	for range 2 {
		out, err := exec.Command("sh", "-ec", command).CombinedOutput() //nolint:gosec // the page's
		require.NoError(t, err, string(out))
		name, err := os.ReadFile(filepath.Join(dir, "id")) //nolint:gosec // the test's own
		require.NoError(t, err)
		assert.Len(t, strings.TrimSpace(string(name)), 36)
		names[string(name)] = true
	}
	assert.Len(t, names, 1)
}
