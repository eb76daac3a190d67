package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
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
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700)) //nolint:gosec // it is run
	return path
}

func TestTheVersionToPinHasNoV(t *testing.T) {
	t.Parallel()
	got, err := binary{path: script(t, "echo otelcol-contrib version v0.157.0-nightly.1")}.version(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "0.157.0-nightly.1", got)
	_, err = binary{path: script(t, "exit 3")}.version(t.Context())
	require.Error(t, err)
}

func TestWhatCannotBeFoundOutIsNoVerdict(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte("exporters: {debug: {}}"), 0o600))
	for name, args := range map[string][]string{
		"no configuration":        {},
		"no such configuration":   {"/nonexistent.yaml"},
		"no such binary":          {"--binary", "/nonexistent", config},
		"a binary that says else": {"--binary", script(t, "echo x version 1"), config},
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
