package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

var (
	ourTypes = regexp.MustCompile(`^otelcol_(train_jsonl|training_norm|training_records|training_signals|cardinality_guard|dvc_result|isolate|secret_mask)`)
	ofSignal = regexp.MustCompile(`_(log_records|metric_points|spans)$`)
	metric   = regexp.MustCompile(`otelcol_[a-z_]*[a-z]`)
)

type alertRule struct {
	Alert, Expr string
	Annotations struct{ Runbook string }
}

func alertRules(t *testing.T) []alertRule {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(collector.Root(t), "monitoring", "alerts.yaml"))
	require.NoError(t, err)
	var file struct {
		Groups []struct{ Rules []alertRule }
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	var all []alertRule
	for _, group := range file.Groups {
		all = append(all, group.Rules...)
	}
	return all
}

// sectionOf gives what stands below a heading.
func sectionOf(page, anchor string) string {
	for part := range strings.SplitSeq("\n"+page, "\n## ") {
		if title, text, _ := strings.Cut(part, "\n"); anchors("## " + title)[anchor] {
			return text
		}
	}
	return ""
}

// TestTheHeadingOfAnAlertNamesWhatFired, in full or as the _suffix of a component that it has named.
func TestTheHeadingOfAnAlertNamesWhatFired(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, rule := range alertRules(t) {
		page, anchor, found := strings.Cut(rule.Annotations.Runbook, "#")
		require.True(t, found, rule.Alert)
		section := sectionOf(pages(t)[page], anchor)
		require.NotEmpty(t, section, rule.Alert)
		for _, name := range metric.FindAllString(rule.Expr, -1) {
			name = ofSignal.ReplaceAllString(name, "")
			short := strings.TrimPrefix(name, ourTypes.FindString(name))
			named := strings.Contains(section, name) || ourTypes.MatchString(name) && strings.Contains(section, "`"+short)
			assert.True(t, named, "%s leads to #%s, which does not name %s", rule.Alert, anchor, name)
			checked++
		}
	}
	assert.Greater(t, checked, 50)
}
