package monitoring

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

var part = regexp.MustCompile(`increase\((\w+)(?:\{(\w+)(=~|!=|=)"([^"]*)"\})?\[10m\]\) > 0`)

// promtest is a file for promtool test rules, as far as it is used.
type promtest struct {
	RuleFiles []string  `yaml:"rule_files"`
	Interval  string    `yaml:"evaluation_interval"`
	Tests     []oneTest `yaml:"tests"`
}

type oneTest struct {
	Name     string   `yaml:"name"`
	Interval string   `yaml:"interval"`
	Series   []input  `yaml:"input_series"`
	Asks     []asking `yaml:"promql_expr_test"`
}

type input struct {
	Series string `yaml:"series"`
	Values string `yaml:"values"`
}

type asking struct {
	Expr    string   `yaml:"expr"`
	At      string   `yaml:"eval_time"`
	Samples []sample `yaml:"exp_samples"`
}

type sample struct {
	Labels string  `yaml:"labels"`
	Value  float64 `yaml:"value"`
}

// matching gives a label's value that a matcher takes, and one that it does not.
func matching(operator, values string) (takes, not string) {
	switch first, _, _ := strings.Cut(values, "|"); operator {
	case "!=":
		return "other", values
	default:
		return first, "other"
	}
}

// one is the test of a counter: it appears with one event in the second minute and never moves again.
func one(alert, metric, label, operator, values string) []oneTest {
	firing := func(at string, count int) asking {
		a := asking{Expr: fmt.Sprintf(`count(ALERTS{alertname=%q,alertstate="firing"})`, alert), At: at, Samples: []sample{}}
		if count > 0 {
			a.Samples = []sample{{"{}", float64(count)}}
		}
		return a
	}
	of := func(value string) []input {
		labels := `{instance="h"}`
		if label != "" {
			labels = fmt.Sprintf(`{instance="h",%s=%q}`, label, value)
		}
		return []input{{metric + labels, "_x1 1x14"}}
	}
	takes, not := matching(operator, values)
	tests := []oneTest{{
		Name: alert + " " + metric, Interval: "1m", Series: of(takes),
		Asks: []asking{firing("0m", 0), firing("3m", 1), firing("9m", 1), firing("13m", 0)},
	}}
	if label != "" {
		tests = append(tests, oneTest{Name: alert + " " + metric + " of another " + label, Interval: "1m", Series: of(not), Asks: []asking{firing("3m", 0)}})
	}
	return tests
}

// alone writes a file with one rule of alerts.yaml, since promtool evaluates all rules of a file in each test.
func alone(t *testing.T, dir, alert, expr string) string {
	t.Helper()
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": alert, "rules": []any{map[string]string{"alert": alert, "expr": expr}}}}})
	require.NoError(t, err)
	path := filepath.Join(dir, alert+".yaml")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

// TestEachCounterOfAnAlertFiresItAlone: with its first event, once, and for ten minutes.
func TestEachCounterOfAnAlertFiresItAlone(t *testing.T) {
	t.Parallel()
	dir, counters := t.TempDir(), 0
	args := []string{"test", "rules"}
	for alert, expr := range rules(t) {
		file := promtest{Interval: "1m"}
		for _, found := range part.FindAllStringSubmatch(expr, -1) {
			counters++
			file.Tests = append(file.Tests, one(alert, found[1], found[2], found[3], found[4])...)
		}
		assert.Equal(t, strings.Count(expr, "increase("), len(part.FindAllString(expr, -1)), "%s looks at a counter in a way that is not tested", alert)
		if len(file.Tests) == 0 {
			continue
		}
		file.RuleFiles = []string{alone(t, dir, alert, expr)}
		text, err := yaml.Marshal(file)
		require.NoError(t, err)
		path := filepath.Join(dir, alert+"_test.yaml")
		require.NoError(t, os.WriteFile(path, text, 0o600))
		args = append(args, path)
	}
	assert.Greater(t, counters, 60)
	promtool(t, args...)
}
