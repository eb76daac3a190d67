package monitoring

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

var (
	metricName = regexp.MustCompile(`\botelcol_[a-z0-9_]+`)
	selector   = regexp.MustCompile(`\b(otelcol_[a-z0-9_]+)\{([^}]*)\}`)
	matcher    = regexp.MustCompile(`(\w+)(=~|!=|!~|=)"([^"]*)"`)
	alarm      = regexp.MustCompile(`(?m)^ +on: otel\.(\S+)$`)
	template   = regexp.MustCompile(`(?m)^ template: \S+$`)
)

// ruleFile is what is looked at of a Prometheus rule file.
type ruleFile struct {
	Groups []struct {
		Rules []struct {
			Alert       string            `yaml:"alert"`
			Expr        string            `yaml:"expr"`
			Labels      map[string]string `yaml:"labels"`
			Annotations map[string]string `yaml:"annotations"`
		} `yaml:"rules"`
	} `yaml:"groups"`
}

func rules(t *testing.T) map[string]string {
	t.Helper()
	var f ruleFile
	require.NoError(t, yaml.Unmarshal(file(t, "alerts.yaml"), &f))
	out := map[string]string{}
	for _, group := range f.Groups {
		for _, rule := range group.Rules {
			require.NotContains(t, out, rule.Alert, "twice")
			out[rule.Alert] = rule.Expr
			assert.Contains(t, []string{"critical", "warning", "info"}, rule.Labels["severity"], rule.Alert)
			for _, key := range []string{"summary", "description", "runbook"} {
				assert.NotEmpty(t, rule.Annotations[key], "%s has no %s", rule.Alert, key)
			}
		}
	}
	return out
}

// dashboard gives the expressions of the dashboard by the panel's title.
func dashboard(t *testing.T) map[string]string {
	t.Helper()
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(file(t, "grafana/otelcol-train.json"), &d))
	out := map[string]string{}
	for _, panel := range d.Panels {
		for _, target := range panel.Targets {
			out["dashboard "+panel.Title] += target.Expr + "\n"
		}
	}
	return out
}

// watched is every text that names self-metrics.
func watched(t *testing.T) map[string]string {
	t.Helper()
	out := dashboard(t)
	for name, expr := range rules(t) {
		out["alert "+name] = expr
	}
	health := string(file(t, "netdata/health.d/otelcol-train.conf"))
	found := alarm.FindAllStringSubmatch(health, -1)
	require.Len(t, found, len(template.FindAllString(health, -1)), "an alarm is on no metric")
	for _, on := range found {
		out["netdata "+on[1]] = on[1]
	}
	return out
}

// TestLabelsAndValuesOfOurMetricsAreDeclared: a selector with a misspelt reason matches nothing, silently.
func TestLabelsAndValuesOfOurMetricsAreDeclared(t *testing.T) {
	t.Parallel()
	components := ours(t)
	for where, text := range watched(t) {
		for _, s := range selector.FindAllStringSubmatch(text, -1) {
			metric, own := components[s[1]]
			if !own {
				continue
			}
			for _, m := range matcher.FindAllStringSubmatch(s[2], -1) {
				if m[1] == "instance" {
					continue
				}
				values, has := metric.labels[m[1]]
				if !assert.True(t, has, "%s: %s has no label %s", where, s[1], m[1]) || values == nil {
					continue
				}
				for _, value := range strings.Split(m[3], "|") {
					assert.Contains(t, values, value, "%s: %s{%s}", where, s[1], m[1])
				}
			}
		}
	}
}

// TestEveryCounterOfOursHasAnAlertOrAReason: what drops, changes or delays data is seen by somebody.
func TestEveryCounterOfOursHasAnAlertOrAReason(t *testing.T) {
	t.Parallel()
	var reasons map[string]string
	require.NoError(t, yaml.Unmarshal(file(t, "not-alerted.yaml"), &reasons))
	alerts := ""
	for _, expr := range rules(t) {
		alerts += expr + "\n"
	}
	names := metricName.FindAllString(alerts, -1)
	components := ours(t)
	for name, metric := range components {
		if !metric.counter {
			continue
		}
		alerted := slices.Contains(names, name)
		_, excused := reasons[name]
		assert.True(t, alerted || excused, "%s is in no rule of monitoring/alerts.yaml: write one, or its reason into monitoring/not-alerted.yaml", name)
		assert.False(t, alerted && excused, "%s has an alert and a reason for none", name)
	}
	for name := range reasons {
		assert.Contains(t, components, name, "not-alerted.yaml names what is not there")
	}
}

// TestAlertsOnCountersSeeTheFirstEvent: a counter appears with its first event, and increase() does not see that.
func TestAlertsOnCountersSeeTheFirstEvent(t *testing.T) {
	t.Parallel()
	components := ours(t)
	for alert, expr := range rules(t) {
		for _, found := range regexp.MustCompile(`increase\((otelcol_[^\[]+)\[10m\]\) > 0`).FindAllStringSubmatch(expr, -1) {
			assert.Contains(t, expr, "("+found[1]+" + 0 > 0 unless "+found[1]+" offset 10m)", alert)
		}
		for _, name := range metricName.FindAllString(expr, -1) {
			if components[name].counter {
				assert.Contains(t, expr, "increase("+name, "%s looks at the counter %s otherwise than by its increase", alert, name)
			}
		}
	}
}
