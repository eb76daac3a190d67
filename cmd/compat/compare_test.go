package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.yaml.in/yaml/v3"
)

// one is a metric of each type, of a scope with a version.
func one(version string) pmetric.Metrics {
	md := pmetric.NewMetrics()
	rm := md.ResourceMetrics().AppendEmpty()
	rm.Resource().Attributes().PutStr("host.name", "gpu-1")
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName("receiver")
	sm.Scope().SetVersion(version)
	sm.Metrics().AppendEmpty().SetEmptyGauge().DataPoints().AppendEmpty()
	sm.Metrics().AppendEmpty().SetEmptySum().DataPoints().AppendEmpty()
	sm.Metrics().AppendEmpty().SetEmptyHistogram().DataPoints().AppendEmpty()
	sm.Metrics().AppendEmpty().SetEmptyExponentialHistogram().DataPoints().AppendEmpty()
	sm.Metrics().AppendEmpty().SetEmptySummary().DataPoints().AppendEmpty()
	for i, m := range sm.Metrics().All() {
		m.SetName([]string{"gauge", "sum", "histogram", "exponential", "summary"}[i])
	}
	return md
}

func setOf(t *testing.T, all ...pmetric.Metrics) seriesSet {
	t.Helper()
	set := seriesSet{}
	for _, md := range all {
		require.NoError(t, set.addMetrics(md))
	}
	return set
}

func TestEveryPartOfTheIdentityMakesAnotherSeries(t *testing.T) {
	t.Parallel()
	before := setOf(t, one("1"))
	require.Len(t, before, 5)
	for name, change := range map[string]func(pmetric.ResourceMetrics, pmetric.ScopeMetrics, pmetric.Metric){
		"resource": func(rm pmetric.ResourceMetrics, _ pmetric.ScopeMetrics, _ pmetric.Metric) {
			rm.Resource().Attributes().PutStr("k", "v")
		},
		"schema":  func(rm pmetric.ResourceMetrics, _ pmetric.ScopeMetrics, _ pmetric.Metric) { rm.SetSchemaUrl("x") },
		"scope":   func(_ pmetric.ResourceMetrics, sm pmetric.ScopeMetrics, _ pmetric.Metric) { sm.Scope().SetName("x") },
		"version": func(_ pmetric.ResourceMetrics, sm pmetric.ScopeMetrics, _ pmetric.Metric) { sm.Scope().SetVersion("x") },
		"scope attr": func(_ pmetric.ResourceMetrics, sm pmetric.ScopeMetrics, _ pmetric.Metric) {
			sm.Scope().Attributes().PutInt("k", 1)
		},
		"scope url":   func(_ pmetric.ResourceMetrics, sm pmetric.ScopeMetrics, _ pmetric.Metric) { sm.SetSchemaUrl("x") },
		"name":        func(_ pmetric.ResourceMetrics, _ pmetric.ScopeMetrics, m pmetric.Metric) { m.SetName(m.Name() + "x") },
		"unit":        func(_ pmetric.ResourceMetrics, _ pmetric.ScopeMetrics, m pmetric.Metric) { m.SetUnit("W") },
		"description": func(_ pmetric.ResourceMetrics, _ pmetric.ScopeMetrics, m pmetric.Metric) { m.SetDescription("x") },
		"attribute": func(_ pmetric.ResourceMetrics, _ pmetric.ScopeMetrics, m pmetric.Metric) {
			attributesOf(m).PutStr("gpu", "0")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			md := one("1")
			rm := md.ResourceMetrics().At(0)
			for _, m := range rm.ScopeMetrics().At(0).Metrics().All() {
				change(rm, rm.ScopeMetrics().At(0), m)
			}
			after := setOf(t, md)
			assert.Len(t, before.minus(after), 5)
			assert.Len(t, after.minus(before), 5)
		})
	}
	t.Run("not values and times", func(t *testing.T) {
		t.Parallel()
		md := one("1")
		p := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0)
		p.SetIntValue(7)
		p.SetTimestamp(9)
		assert.Empty(t, setOf(t, md).minus(before))
	})
}

func attributesOf(m pmetric.Metric) pcommon.Map {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		return m.Gauge().DataPoints().At(0).Attributes()
	case pmetric.MetricTypeSum:
		return m.Sum().DataPoints().At(0).Attributes()
	case pmetric.MetricTypeHistogram:
		return m.Histogram().DataPoints().At(0).Attributes()
	case pmetric.MetricTypeExponentialHistogram:
		return m.ExponentialHistogram().DataPoints().At(0).Attributes()
	default:
		return m.Summary().DataPoints().At(0).Attributes()
	}
}

func TestTheReportNamesTheCause(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		now  pmetric.Metrics
		same bool
		want string
	}{
		"nothing":     {one("1"), true, "0 of 5 series differ\n"},
		"the version": {one("2"), false, "they differ in scope.version only, 1 before and 2 now"},
		"a unit": {func() pmetric.Metrics {
			md := one("2")
			md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).SetUnit("W")
			return md
		}(), false, "only now:\n  {\"metric\":\"exponential\""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			same, err := report(&out, setOf(t, one("1")), setOf(t, c.now))
			require.NoError(t, err)
			assert.Equal(t, c.same, same)
			assert.Contains(t, out.String(), c.want)
		})
	}
}

func TestAConfigurationReachesNothingBeyondTheComparison(t *testing.T) {
	t.Parallel()
	c := written(t, `
extensions: {health_check: {}, file_storage: {directory: /var/lib/x}}
receivers:
  otlp: {protocols: {grpc: {}}}
  prometheus:
    config:
      scrape_configs:
        - {job_name: dcgm, scheme: https, scrape_interval: 10s, static_configs: [{targets: ['gpu-1:9400'], labels: {rack: a}}], tls_config: {ca_file: /x},
           metric_relabel_configs: [{source_labels: [a], regex: '(.*)', target_label: b, replacement: '$$1'}]}
        - {job_name: pods, kubernetes_sd_configs: [{role: pod}], relabel_configs: [{source_labels: [__meta_x], action: keep, regex: y}]}
processors: {k8sattributes: {}, batch: {timeout: 5s}, cardinality_guard: {storage: file_storage}}
exporters: {otlp/netdata: {endpoint: 'netdata:4317'}}
service:
  extensions: [health_check, file_storage]
  pipelines:
    metrics/gpu: {receivers: [otlp, prometheus], processors: [k8sattributes, cardinality_guard, batch], exporters: [otlp/netdata]}
    metrics/other: {receivers: [otlp], exporters: [otlp/netdata]}
    metrics/join: {receivers: [prometheus], exporters: [dvc_result]}
    logs: {receivers: [otlp], exporters: [otlp/netdata]}
`)
	r := comparison{target: "127.0.0.1:1", backend: "127.0.0.1:2", folder: "/tmp/f", pin: "0.1"}
	text, err := r.rewrite(c)
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, yaml.Unmarshal(text, &got))
	want := `
receivers:
  prometheus:
    config:
      scrape_configs:
        - {job_name: dcgm, scheme: http, scrape_interval: 1s, scrape_timeout: 1s, static_configs: [{targets: ['127.0.0.1:1'], labels: {rack: a}}],
           metric_relabel_configs: [{source_labels: [a], regex: '(.*)', target_label: b, replacement: '$$1'}]}
        - {job_name: pods, scheme: http, scrape_interval: 1s, scrape_timeout: 1s, static_configs: [{targets: ['127.0.0.1:1']}]}
processors:
  batch: {timeout: 5s}
  cardinality_guard: {storage: file_storage}
  transform/compat_pin: {metric_statements: [{context: scope, statements: ['set(scope.version, "0.1")']}]}
exporters: {otlp/compat: {endpoint: '127.0.0.1:2', tls: {insecure: true}}}
extensions: {file_storage: {directory: /tmp/f/file_storage, create_directory: true}}
service:
  extensions: [file_storage]
  telemetry: {metrics: {level: none}}
  pipelines:
    metrics/gpu: {receivers: [prometheus], processors: [transform/compat_pin, cardinality_guard, batch], exporters: [otlp/compat]}
`
	var wanted map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(want), &wanted))
	assert.Equal(t, wanted, got)
	assert.Len(t, r.notes, 2)

	_, err = (&comparison{}).rewrite(written(t, "receivers: {otlp: {}}"))
	require.ErrorContains(t, err, "no metrics pipeline leads from a prometheus receiver to a backend")
}

// TestWhatElseAReceiverIsToldStays: labels of all, and options that change names, are part of what is compared.
func TestWhatElseAReceiverIsToldStays(t *testing.T) {
	t.Parallel()
	c := written(t, `
receivers:
  prometheus:
    trim_metric_suffixes: true
    initial_scrape_offset: 5m
    target_allocator: {endpoint: 'http://allocator'}
    config:
      global: {external_labels: {site: a}}
      scrape_config_files: [/etc/jobs/*.yaml]
      scrape_configs:
        - {job_name: a, honor_labels: true, bearer_token_file: /x, no_proxy: a, proxy_url: 'http://p', http_headers: {X: {files: [/x]}},
           static_configs: [{targets: [a]}, {targets: [b, c]}, {targets: [d], labels: {rack: b}}]}
connectors: {forward: {}}
service: {pipelines: {metrics: {receivers: [prometheus], exporters: [otlp, forward]}, metrics/2: {receivers: [prometheus], exporters: [otlp]}}}
`)
	r := comparison{target: "127.0.0.1:1"}
	text, err := r.rewrite(c)
	require.NoError(t, err)
	var got struct{ Receivers map[string]any }
	require.NoError(t, yaml.Unmarshal(text, &got))
	var want any
	require.NoError(t, yaml.Unmarshal([]byte(`
trim_metric_suffixes: true
config:
  global: {external_labels: {site: a}}
  scrape_configs:
    - {job_name: a, honor_labels: true, scheme: http, scrape_interval: 1s, scrape_timeout: 1s,
       static_configs: [{targets: ['127.0.0.1:1']}, {targets: ['127.0.0.1:1'], labels: {rack: b}}]}
`), &want))
	assert.Equal(t, want, got.Receivers["prometheus"])
	assert.Equal(t, 2, r.scraped)
	assert.ElementsMatch(t, []string{
		"target_allocator of prometheus is left out: its targets are not known here",
		"scrape_config_files of prometheus is left out: it is not looked into",
		"what stands behind the connector forward is not compared",
	}, r.notes)
}

func TestAnExpositionIsReadFromAFileOrAnExporter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "metrics.prom")
	require.NoError(t, os.WriteFile(path, []byte("a 1\n"), 0o600))
	text, err := read(t.Context(), path)
	require.NoError(t, err)
	served, err := serve(text)
	require.NoError(t, err)
	defer func() { require.NoError(t, served.close()) }()
	again, err := read(t.Context(), "http://"+served.address+"/metrics")
	require.NoError(t, err)
	assert.Equal(t, "a 1\n", string(again))
}

func TestABinaryThatEndsIsTold(t *testing.T) {
	t.Parallel()
	served, err := serve([]byte("a 1\n"))
	require.NoError(t, err)
	defer func() { require.NoError(t, served.close()) }()
	err = runUntilScraped(t.Context(), binary{path: script(t, "echo no such processor; exit 1")}, "x", served, 1)
	require.ErrorContains(t, err, "ended before it had scraped")
	require.ErrorContains(t, err, "no such processor")
}
