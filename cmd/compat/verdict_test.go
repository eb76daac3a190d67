package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// accepted is what a small binary takes.
var accepted = map[string][]string{
	"receivers":  {"host_metrics", "hostmetrics", "kubeletstats", "prometheus", "receiver_creator"},
	"processors": {"batch", "transform"},
	"exporters":  {"debug", "otlp", "otlp_grpc"},
	"extensions": {"basicauth"},
}

func written(t *testing.T, text string) *configuration {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	c, err := load(context.Background(), []string{path})
	require.NoError(t, err)
	return c
}

func TestEachNameHasItsVerdict(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"receivers: {hostmetrics/a: {}, hostmetrics: {}}":             "receiver hostmetrics ok",
		"receivers: {kubelet_stats: {}}":                              "receiver kubelet_stats spelled otherwise write kubeletstats",
		"extensions: {basic_auth/client: {}}":                         "extension basic_auth spelled otherwise write basicauth",
		"exporters: {logging: {loglevel: debug}}":                     "exporter logging spelled otherwise write debug (verbosity: detailed in the place of loglevel: debug)",
		"exporters: {signalfx: {}}":                                   "exporter signalfx MISSING an exporter to a vendor, left out",
		"receivers: {k8s_objects: {}}":                                "receiver k8s_objects MISSING its module cannot be had for this core version",
		"receivers: {nvml: {}}":                                       "receiver nvml MISSING a receiver of a vendor's agent: scrape the DCGM exporter",
		"receivers: {redis: {}}":                                      "receiver redis MISSING left out: add the line of its module (if it is contrib's, github.com/open-telemetry/opentelemetry-collector-contrib/receiver/redisreceiver)",
		"extensions: {ecs_observer: {}}":                              "extension ecs_observer MISSING left out: add the line of its module (if it is contrib's, github.com/open-telemetry/opentelemetry-collector-contrib/extension/observer/ecsobserver)",
		"extensions: {memory_ballast: {}}":                            "extension memory_ballast spelled otherwise write GOMEMLIMIT",
		"processors: {spanmetrics: {}}":                               "processor spanmetrics spelled otherwise write the connector span_metrics",
		"service: {telemetry: {metrics: {address: ':8888'}}}":         "key service::telemetry::metrics::address spelled otherwise write readers",
		"processors: {batch: {timeout: '${secretsmanager:timeout}'}}": "provider secretsmanager MISSING write the value with ${env:...}",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			findings := judge(written(t, text), accepted)
			require.NotEmpty(t, findings)
			f := findings[0]
			got := strings.TrimSpace(strings.Join([]string{f.section, f.name, f.verdict, f.note}, " "))
			assert.True(t, strings.HasPrefix(got, want), "got %q", got)
		})
	}
}

func TestTemplatesOfReceiverCreatorAreLookedAt(t *testing.T) {
	t.Parallel()
	c := written(t, "receivers: {receiver_creator/pods: {receivers: {redis/gpu: {rule: 'true'}}}}")
	findings := judge(c, accepted)
	require.Len(t, findings, 2)
	assert.Equal(t, []string{"receiver_creator", ok}, []string{findings[0].name, findings[0].verdict})
	assert.Equal(t, []string{"redis", missing}, []string{findings[1].name, findings[1].verdict})
}

func TestConfigurationsAreReadAsACollectorReadsThem(t *testing.T) {
	t.Setenv("COMPAT_TEST_SECTION", "{debug: {}}")
	dir := t.TempDir()
	part, whole := filepath.Join(dir, "part.yaml"), filepath.Join(dir, "whole.yaml")
	require.NoError(t, os.WriteFile(part, []byte("{batch: {}}"), 0o600))
	require.NoError(t, os.WriteFile(whole, []byte(
		"processors: ${file:"+part+"}\nexporters: ${env:COMPAT_TEST_SECTION}\nreceivers: {prometheus: {config: {scrape_configs: [{job_name: $NODE_NAME}]}}}\n"), 0o600))
	c, err := load(t.Context(), []string{whole, "yaml:extensions::basicauth::client: {}"})
	require.NoError(t, err)
	var got []string
	for _, u := range c.uses() {
		got = append(got, u.section+" "+u.kind)
	}
	assert.Equal(t, []string{"receivers prometheus", "processors batch", "exporters debug", "extensions basicauth"}, got)
	assert.Equal(t, []string{"NODE_NAME"}, c.bare)
}

func TestOnlyValuesNeedAProvider(t *testing.T) {
	t.Parallel()
	c := written(t, `
# password: ${vault:secret/netdata}, $OLD_NAME
exporters: {debug: {}} # ${vault:x}
processors: {transform: {metric_statements: ['replace_pattern(name, "(.*)", "$${copy:1}") where $$NAME != ""']}}
receivers: {prometheus: {config: {scrape_configs: [{job_name: '${env:NODE_NAME:-a}', params: {x: ['a$OTHER_NAME']}}]}}}
`)
	assert.Empty(t, c.schemes)
	assert.Empty(t, c.bare)
	assert.Len(t, c.uses(), 3)
}

func TestWithoutAProviderTheRestIsStillMergedAndJudged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var uris []string
	for name, text := range map[string]string{"a.yaml": "exporters: {debug: {key: '${vault:secret/x}'}}", "b.yaml": "processors: {batch: {}}"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		uris = append(uris, path)
	}
	c, err := load(t.Context(), uris)
	require.NoError(t, err)
	assert.Equal(t, []string{"vault"}, c.schemes)
	assert.Len(t, c.uses(), 2)
}

func TestOnlyPipelinesThatMeasureNeedThePin(t *testing.T) {
	t.Parallel()
	c := written(t, `
receivers: {prometheus: {}, otlp: {}, host_metrics: {}, redis: {}}
processors:
  transform/a: {metric_statements: [{context: scope, statements: ['set(scope.version, "1")']}]}
  transform/b: {metric_statements: ['set(scope.version, "1")']}
  transform/c: {metric_statements: ['set(scope.name, "x")']}
connectors: {count: {}}
exporters: {otlp: {}, dvc_result: {}}
service:
  pipelines:
    metrics/joined: {receivers: [prometheus], exporters: [dvc_result]}
    metrics/pinned: {receivers: [prometheus], processors: [transform/a], exporters: [otlp]}
    metrics/pinned2: {receivers: [host_metrics], processors: [transform/b], exporters: [otlp]}
    metrics/open: {receivers: [otlp, prometheus], processors: [transform/c], exporters: [otlp]}
    metrics/redis: {receivers: [redis], exporters: [otlp]}
    metrics/passed: {receivers: [otlp, count], exporters: [otlp]}
    logs: {receivers: [otlp], exporters: [count]}
`)
	pinned, open := c.measured()
	assert.Equal(t, []string{"metrics/pinned", "metrics/pinned2"}, pinned)
	assert.Equal(t, []string{"metrics/open", "metrics/redis"}, open)
}

// script stands for a binary.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "binary")
	syscall.ForkLock.RLock() // a process that starts meanwhile would inherit the open file, which cannot be run then
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700)) //nolint:gosec // it is run
	return path
}

func TestTheVersionToPinHasNoV(t *testing.T) {
	t.Parallel()
	got, err := binary{path: script(t, "echo otelcol-contrib version v0.157.0-nightly.1")}.version(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "0.157.0-nightly.1", got)
	_, err = binary{script(t, "echo 'true (GNU coreutils) 9.1'; echo 'License GPLv3+: GNU GPL version 3 or later'"), "--old"}.version(t.Context())
	require.ErrorContains(t, err, "tells no version", "another program")
	_, err = binary{script(t, "echo unknown flag; exit 3"), "--old"}.version(t.Context())
	require.ErrorContains(t, err, `("unknown flag", exit status 3): name a Collector with --old`)
	_, err = binary{script(t, "echo otelcol version 0.157.0; exit 3"), "--old"}.version(t.Context())
	require.ErrorContains(t, err, `("otelcol version 0.157.0", exit status 3): name a Collector with --old`, "what fails has told nothing")
}

// TestItsOwnVersionNeedsNoConfiguration: a test on the built command holds it to the manifest's.
func TestItsOwnVersionNeedsNoConfiguration(t *testing.T) {
	t.Parallel()
	var out, errs strings.Builder
	assert.Equal(t, exitYes, run(t.Context(), []string{"--version"}, &out, &errs), errs.String())
	assert.Regexp(t, `^otelcol-train-compat version \S+\n$`, out.String())
	assert.Empty(t, errs.String())
}

func TestWhatCannotBeFoundOutIsNoVerdict(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte("exporters: {debug: {}}"), 0o600))
	for name, args := range map[string][]string{
		"no configuration":        {},
		"a binary that says else": {"--new", script(t, "echo x version 1"), config},
		"compare without old":     {"compare", "--old", "", "--exposition", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, errs strings.Builder
			assert.Equal(t, exitUnknown, run(t.Context(), args, &out, &errs))
			assert.Contains(t, errs.String(), "otelcol-train-compat: ")
		})
	}
}

// TestErrorsSayWhatToDo, about each thing that the operator names.
func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	config, list, lost := file("config.yaml", "exporters: {debug: {}}"), file("list.yaml", "- a"), file("lost.yaml", "exporters: ${file:/nonexistent}")
	exposition, gone := file("metrics.prom", "a 1\n"), filepath.Join(dir, "gone")
	served, err := serve(nil)
	require.NoError(t, err)
	require.NoError(t, served.close())
	nobody := "http://" + served.address + "/metrics"
	right := script(t, "echo x version 1")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"configuration":     {[]string{gone}, "the configuration " + gone + " cannot be read (no such file or directory): name the file that the service is started with"},
		"folder":            {[]string{dir}, "the configuration " + dir + " cannot be read (is a directory): name the file"},
		"no configuration":  {[]string{list}, list + " is no configuration of a Collector, name one: "},
		"lost part":         {[]string{lost}, "no such file or directory: ask where the service runs, with its environment and its rights"},
		"binary":            {[]string{"--new", gone, config}, gone + " cannot be run (no such file or directory): name the Collector with --new"},
		"not on the path":   {[]string{"--new", "no-such-collector", config}, "no-such-collector cannot be run (executable file not found in $PATH): name the Collector with --new"},
		"not executable":    {[]string{"--new", config, config}, config + " cannot be run (permission denied): name the Collector with --new"},
		"another program":   {[]string{"--new", right, config}, right + ` does not tell which receivers it accepts ("x version 1"): name a Collector with --new`},
		"exposition":        {[]string{"compare", "--old", right, "--exposition", gone}, "the exposition " + gone + " cannot be read (no such file or directory): name with --exposition a file, or what"},
		"exporter":          {[]string{"compare", "--old", right, "--exposition", nobody}, "connection refused): name with --exposition a file, or what the exporter answers on"},
		"old binary":        {[]string{"compare", "--old", gone, "--exposition", exposition}, gone + " cannot be run (no such file or directory): name the Collector with --old"},
		"configuration new": {[]string{"compare", "--old", right, "--exposition", exposition, "--new-config", gone}, "the configuration " + gone + " cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, errs strings.Builder
			assert.Equal(t, exitUnknown, run(t.Context(), c.args, &out, &errs))
			assert.Contains(t, errs.String(), c.want)
		})
	}
}

// TestAnOldBinaryThatTellsNoVersionIsToldInASentenceOfItsOwn, behind the verdicts.
func TestAnOldBinaryThatTellsNoVersionIsToldInASentenceOfItsOwn(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte("receivers: {prometheus: {}}\nexporters: {otlp: {}}\nservice: {pipelines: {metrics: {receivers: [prometheus], exporters: [otlp]}}}"), 0o600))
	stub := script(t, `case "$1 $*" in --version*) echo x version 1; exit ;; *no_such_type*) echo "(valid values: [prometheus otlp])"; exit 1 ;; esac`)
	var out, errs strings.Builder
	assert.Equal(t, exitUnknown, run(t.Context(), []string{"--new", stub, "--old", script(t, "exit 3"), config}, &out, &errs))
	assert.True(t, strings.HasSuffix(out.String(), "\nvalidate: ok\n"), out.String())
	assert.Contains(t, errs.String(), "name a Collector with --old")
}

// TestValidateIsToldBesideOtherVerdicts, without the list of names that it takes.
func TestValidateIsToldBesideOtherVerdicts(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte("receivers: {kubelet_stats: {}}"), 0o600))
	stub := script(t, `[ "$1" = --version ] && { echo x version 1; exit; }
echo "unknown type: \"kubelet_stats\" for id: \"kubelet_stats\" (valid values: [kubeletstats])"; exit 1`)
	var out, errs strings.Builder
	assert.Equal(t, exitNo, run(t.Context(), []string{"--new", stub, config}, &out, &errs), errs.String())
	assert.Contains(t, out.String(), "spelled otherwise  write kubeletstats\n")
	assert.Contains(t, out.String(), "\nvalidate: unknown type: \"kubelet_stats\" for id: \"kubelet_stats\"\nIt stops at the first name that it does not know: mend")
}
