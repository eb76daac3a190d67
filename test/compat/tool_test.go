package compat

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// compile builds the command once, in a folder that TestMain removes.
var compile = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "otelcol-train-compat")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = filepath.Join("..", "..", "cmd", "compat")
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), err
	}
	return path, nil
})

// asked runs otelcol-train-compat and returns what it printed and its exit status.
func asked(t *testing.T, env map[string]string, args ...string) (string, int) {
	t.Helper()
	path, err := compile()
	require.NoError(t, err, path)
	cmd := exec.Command(path, args...)
	cmd.Env = collector.Environ(t, env)
	out, err := cmd.CombinedOutput()
	if err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, string(out))
	}
	return string(out), cmd.ProcessState.ExitCode()
}

var missingLine = regexp.MustCompile(`(?m)^(\S+) +(\S+) +MISSING +\S`)

// TestTheCommandGivesTheSurveysVerdicts, on the old and the new names alike.
func TestTheCommandGivesTheSurveysVerdicts(t *testing.T) {
	t.Parallel()
	for _, c := range configurations {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			documents := map[string]document{"as found": load(t, c.file)}
			for name, names := range map[string]map[string]map[string]string{"old names": inverse(spellings), "new names": spellings} {
				if d := load(t, c.file); d.rename(names) {
					documents[name] = d
				}
			}
			for name, d := range documents {
				path := filepath.Join(t.TempDir(), "config.yaml")
				require.NoError(t, os.WriteFile(path, []byte(d.text(t)), 0o600))
				out, status := asked(t, environment, "--new", collector.Binary(t), "--old", collector.Stock(t), path)
				var got []string
				for _, line := range missingLine.FindAllStringSubmatch(out, -1) {
					got = append(got, line[1]+" "+line[2])
				}
				slices.Sort(got)
				assert.Equal(t, c.missing, got, "%s:\n%s", name, out)
				if len(c.missing) == 0 {
					assert.Zero(t, status, "%s:\n%s", name, out)
					assert.Contains(t, out, "validate: ok")
				} else {
					assert.Equal(t, 1, status, "%s:\n%s", name, out)
					assert.Regexp(t, `(?s)\nvalidate: .*unknown type.*ask again\n`, out)
				}
				assert.NotContains(t, out, "spelled otherwise", name)
				if _, nowhere := d.components("exporters")["nop"]; !nowhere {
					assert.Contains(t, out, `'set(scope.version, "0.157.0")'`, "it scrapes, sends to a backend and pins nothing")
				}
			}
		})
	}
}

// TestTheCommandTellsWhatIsSpelledOtherwiseOrNotDiscovered: newer names than the binary's, retired ones, and discoveries that were left out.
func TestTheCommandTellsWhatIsSpelledOtherwiseOrNotDiscovered(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(`
receivers:
  kubelet_stats: {}
  prometheus: {config: {scrape_configs: [{job_name: j, ec2_sd_configs: [{region: r}], kubernetes_sd_configs: [{role: pod}]}]}}
processors: {group_by_attrs: {}, group_by_trace: {}}
exporters: {logging: {}}
extensions: {basic_auth: {}, bearer_token_auth: {}, health_check_v2: {}}
service: {telemetry: {metrics: {address: ':8888'}}}
`), 0o600))
	out, status := asked(t, nil, "--new", collector.Binary(t), "--old", collector.Stock(t), path)
	assert.Equal(t, 1, status)
	for _, want := range []string{
		`kubelet_stats +spelled otherwise +write kubeletstats`, `group_by_attrs +spelled otherwise +write groupbyattrs`,
		`group_by_trace +spelled otherwise +write groupbytrace`, `basic_auth +spelled otherwise +write basicauth`,
		`bearer_token_auth +spelled otherwise +write bearertokenauth`, `health_check_v2 +spelled otherwise +write healthcheckv2`,
		`logging +spelled otherwise +write debug`, `service::telemetry::metrics::address +spelled otherwise +write readers`,
		`\nvalidate: Error: .*`, `mend the lines above that are not ok, and ask again\n`, `discovery +ec2_sd_configs +MISSING`, `discovery +kubernetes_sd_configs +ok`,
	} {
		assert.Regexp(t, want, out)
	}
}

// TestComparePinsEverySeries: of a recorded exposition every series differs without the pin, and none with it.
func TestComparePinsEverySeries(t *testing.T) {
	t.Parallel()
	configs := filepath.Join(collector.Root(t), "config")
	host, training := filepath.Join(configs, "host-dcgm-netdata.yaml"), filepath.Join(configs, "host-training.yaml")
	for name, c := range map[string]struct {
		args   []string
		status int
		want   string
	}{
		"without the pin":                 {nil, 1, `(?s)^63 of 63 series differ.*scope.version only, 0.157.0 before and \S+ now`},
		"with the pin":                    {[]string{"--pin", "0.157.0"}, 0, `^0 of 63 series differ\n$`},
		"the shipped configurations":      {[]string{host}, 0, `^0 of 63 series differ\n$`},
		"with training and the guard":     {[]string{"--new-config", training, host}, 0, `^0 of 63 series differ\n$`},
		"something else than the version": {[]string{"--pin", "0.157.0", "--new-config", "yaml:" + otherLabels}, 1, `(?s)^63 of 63 series differ.*only now`},
		"a label of all jobs":             {[]string{"--pin", "0.157.0", "--new-config", "yaml:" + labelOfAll}, 1, `(?s)^63 of 63 series differ.*only now.*"site":"a"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"compare", "--old", collector.Stock(t), "--new", collector.Binary(t),
				"--exposition", filepath.Join("..", "testdata", "dcgm", "metrics.prom")}, c.args...)
			out, status := asked(t, nil, args...)
			assert.Equal(t, c.status, status, out)
			assert.Regexp(t, c.want, strings.TrimLeft(out, "\n"))
		})
	}
}

const labelOfAll = `{receivers: {prometheus: {config: {global: {external_labels: {site: a}}, scrape_configs: [{job_name: dcgm, static_configs: [{targets: [x]}]}]}}},
  service: {pipelines: {metrics: {receivers: [prometheus], exporters: [otlp]}}}}`

const otherLabels = `{receivers: {prometheus: {config: {scrape_configs: [{job_name: other, static_configs: [{targets: [x]}]}]}}},
  service: {pipelines: {metrics: {receivers: [prometheus], exporters: [otlp]}}}}`

func inverse(spellings map[string]map[string]string) map[string]map[string]string {
	out := map[string]map[string]string{}
	for section, names := range spellings {
		out[section] = map[string]string{}
		for old, now := range names {
			out[section][now] = old
		}
	}
	return out
}
