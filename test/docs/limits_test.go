package docs

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// limitRow is a line of the table of limits: component, key, number, unit.
var limitRow = regexp.MustCompile("(?m)^\\| `([a-z_]+)` `([a-z_.]+)` \\| ([0-9,]+)( MiB| minutes)?")

// TestTheTableOfLimitsHasTheDefaults: those that the binary says it runs host-training.yaml with.
func TestTheTableOfLimitsHasTheDefaults(t *testing.T) {
	t.Parallel()
	config := printed(t, "host-training.yaml", "connectors")

	_, table, _ := strings.Cut(pages(t)["docs/operations.md"], "## Limits that matter\n")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := limitRow.FindAllStringSubmatch(table, -1)
	require.Len(t, rows, 9, "lines with a component, a key and a number")
	for _, row := range rows {
		want, err := strconv.Atoi(strings.ReplaceAll(row[3], ",", ""))
		require.NoError(t, err)
		limit := strconv.Itoa(want)
		switch row[4] {
		case " MiB":
			limit = strconv.Itoa(want << 20)
		case " minutes":
			limit = (time.Duration(want) * time.Minute).String()
		}
		found := 0
		for _, kind := range []string{"receivers", "processors", "connectors", "exporters"} {
			for id, body := range section(config, kind) {
				if kindOf(id) != row[1] {
					continue
				}
				found++
				assert.Equal(t, limit, fmt.Sprint(at(body, strings.Split(row[2], "."))), "%s of %s", row[2], id)
			}
		}
		assert.Positive(t, found, row[1])
	}
}

// printed is a shipped configuration as the binary says that it runs it, from its first section on.
func printed(t *testing.T, name, first string) map[string]any {
	t.Helper()
	out, err := collector.Run(t, collector.Options{}, "print-config", "--config", collector.Shipped(t, name))
	require.NoError(t, err, out)
	_, rest, found := strings.Cut(out, first+":\n")
	require.True(t, found, out)
	var config map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(first+":\n"+rest), &config))
	return config
}

// TestConfigurationsListenAndWaitAsTheySay: OTLP beside Netdata, which has 4317, and a run that says no end is over soon on one host.
func TestConfigurationsListenAndWaitAsTheySay(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "127.0.0.1:4319", at(printed(t, "host-training.yaml", "connectors"), []string{"receivers", "otlp", "protocols", "grpc", "endpoint"}))
	assert.Equal(t, "5m0s", at(printed(t, "quickstart.yaml", "exporters"), []string{"exporters", "dvc_result", "idle_timeout"}))
}

// at is the value below some keys.
func at(body any, keys []string) any {
	for _, key := range keys {
		m, _ := body.(map[string]any)
		body = m[key]
	}
	return body
}
