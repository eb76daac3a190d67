package compat

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/ports"
)

func TestSurveyedConfigurationsHaveTheListedVerdict(t *testing.T) {
	t.Parallel()
	accepted := acceptedNames(t)
	newToOld := inverse(spellings)
	for _, c := range configurations {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			judge(t, c, load(t, c.file), accepted)
			for name, names := range map[string]map[string]map[string]string{"old names": newToOld, "new names": spellings} {
				if d := load(t, c.file); d.rename(names) {
					t.Run(name, func(t *testing.T) { judge(t, c, d, accepted) })
				}
			}
		})
	}
}

// judge holds the binary to the verdict: it names what is missing, and all the rest of the configuration is right for it.
func judge(t *testing.T, c configuration, d document, accepted map[string][]string) {
	t.Helper()
	out, err := collector.Validate(t, collector.Options{YAML: d.text(t), Env: environment})
	require.Equal(t, c.missing, d.missing(accepted))
	if len(c.missing) == 0 {
		require.NoError(t, err, out)
		return
	}
	require.Error(t, err)
	assert.Regexp(t, `unknown type: "?(`+strings.Join(types(c.missing), "|")+`)`, out, "the error names what is missing")
	d.without(accepted)
	out, err = collector.Validate(t, collector.Options{YAML: d.text(t), Env: environment})
	require.NoError(t, err, "without what is missing:\n%s", out)
}

// types gives the component types of missing components.
func types(missing []string) []string {
	out := make([]string, len(missing))
	for i, m := range missing {
		_, out[i], _ = strings.Cut(m, " ")
	}
	return out
}

var anyAddress = regexp.MustCompile(`0\.0\.0\.0:\d+`)

// certificates is where the surveyed configurations look for theirs.
const certificates = "/etc/otel/tls"

// TestSurveyedConfigurationsStart starts each one that misses nothing. What it talks to is not there, and it must bear that.
func TestSurveyedConfigurationsStart(t *testing.T) {
	t.Parallel()
	for _, c := range configurations {
		if len(c.missing) > 0 {
			continue
		}
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("testdata", c.file))
			require.NoError(t, err)
			// the addresses to listen on are the test's own
			local := anyAddress.ReplaceAllStringFunc(string(text), func(string) string { return ports.Free(t) })
			local = strings.ReplaceAll(local, certificates, selfSigned(t))
			env := map[string]string{"STORAGE_DIR": filepath.Join(t.TempDir(), "storage")}
			for k, v := range environment {
				env[k] = v
			}
			collector.Start(t, collector.Options{YAML: local, Env: env}).Stop()
		})
	}
}

func TestEveryAliasIsAccepted(t *testing.T) {
	t.Parallel()
	accepted := acceptedNames(t)
	for section, names := range spellings {
		for old, now := range names {
			assert.Contains(t, accepted[section], old)
			assert.Contains(t, accepted[section], now)
		}
	}
}

// A misspelt build tag changes nothing but the binary, so the binary is asked.
func TestBuildTagsLeaveOutCloudDiscoveriesOnly(t *testing.T) {
	t.Parallel()
	const head = "exporters: {nop: {}}\nservice: {pipelines: {metrics: {receivers: [prometheus], exporters: [nop]}}}\n" +
		"receivers: {prometheus: {config: {scrape_configs: [{job_name: j, "
	for discovery, want := range map[string]bool{
		"ec2_sd_configs: [{region: eu-west-1}]":                       false,
		"gce_sd_configs: [{project: p, zone: z}]":                     false,
		"azure_sd_configs: [{subscription_id: s}]":                    false,
		"consul_sd_configs: [{server: 127.0.0.1}]":                    false,
		"kubernetes_sd_configs: [{role: pod}]":                        true,
		"dns_sd_configs: [{names: [localhost], type: A, port: 9400}]": true,
		"file_sd_configs: [{files: [targets.json]}]":                  true,
		"http_sd_configs: [{url: 'http://127.0.0.1:1/targets'}]":      true,
		"static_configs: [{targets: ['127.0.0.1:9400']}]":             true,
	} {
		out, err := collector.Validate(t, collector.Options{YAML: head + discovery + "}]}}}\n"})
		if want {
			assert.NoError(t, err, "%s: %s", discovery, out)
			continue
		}
		require.Error(t, err, discovery)
		assert.Regexp(t, `field \w+_sd_configs not found`, out, discovery)
	}
}
