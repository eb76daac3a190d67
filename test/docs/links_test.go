package docs

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/markdown"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	noWord  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	code    = regexp.MustCompile("`[^`\n]*`")
)

// anchors are those that a page's headings have.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, found := range heading.FindAllStringSubmatch(markdown.Prose(text), -1) {
		title := link.ReplaceAllString(found[1], "")
		out[strings.ReplaceAll(noWord.ReplaceAllString(strings.ToLower(title), ""), " ", "-")] = true
	}
	return out
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	all := pages(t)
	for name, text := range all {
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(markdown.Prose(text), ""), -1) {
			target, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			page := name
			if target != "" {
				page = path.Join(path.Dir(name), target)
				assert.True(t, exists(t, page), "%s: %s", name, found[1])
			}
			if linked, isPage := all[page]; isPage && anchor != "" {
				assert.True(t, anchors(linked)[anchor], "%s: %s has no heading #%s", name, page, anchor)
			}
		}
	}
}

// TestEveryAlertHasItsPlaceInTroubleshooting: the runbook of an alert is a heading.
func TestEveryAlertHasItsPlaceInTroubleshooting(t *testing.T) {
	t.Parallel()
	alerts, err := os.ReadFile(filepath.Join(collector.Root(t), "monitoring", "alerts.yaml"))
	require.NoError(t, err)
	runbooks := regexp.MustCompile(`runbook: (\S+)#(\S+)`).FindAllStringSubmatch(string(alerts), -1)
	require.NotEmpty(t, runbooks)
	all := pages(t)
	for _, found := range runbooks {
		assert.True(t, anchors(all[found[1]])[found[2]], found[0])
	}
}

// TestPagesNameMetricsThatAreThere in full; a name that is cut to _suffix is not looked at.
func TestPagesNameMetricsThatAreThere(t *testing.T) {
	t.Parallel()
	declared := ""
	for _, kind := range []string{"receiver", "processor", "exporter", "connector"} {
		files, err := filepath.Glob(filepath.Join(collector.Root(t), kind, "*", "metadata.yaml"))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file) //nolint:gosec // a file of this repository
			require.NoError(t, err)
			declared += string(text)
		}
	}
	ours := regexp.MustCompile(`\botelcol_((?:train_jsonl|training_norm|training_records|training_signals|cardinality_guard|dvc_result|isolate|secret_mask)_[a-z_]*[a-z])`)
	for name, text := range handbook(t) {
		for _, found := range ours.FindAllStringSubmatch(text, -1) {
			assert.Contains(t, declared, "    "+found[1]+":\n", "%s: %s", name, found[0])
		}
	}
}
