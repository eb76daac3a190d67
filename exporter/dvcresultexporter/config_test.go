package dvcresultexporter

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/exporter/exportertest"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/metadata"
	"github.com/pathologize/otelcol-train/internal/componentcheck"
)

func TestComponent(t *testing.T) {
	dir := t.TempDir()
	componentcheck.Run(t, NewFactory(), componentcheck.WithConfig(func(cfg component.Config) { cfg.(*Config).Directory = dir }))
}

func TestValidateNamesEveryMistake(t *testing.T) {
	t.Parallel()
	cfg := &Config{Layout: layoutFixed, Name: "../x", LateGrace: -1, FailureGrace: -1, LateWindow: -2, LiveInterval: time.Millisecond, MinFreeBytes: -1}
	cfg.Artifacts = ArtifactsConfig{AllowedRoots: []string{"relative"}, PathMap: []PathMapping{{To: "/x"}}, DigestWait: -1}
	err := cfg.Validate()
	require.Error(t, err)
	for _, key := range []string{"directory", "name", "late_grace", "failure_grace", "idle_timeout", "late_window", "live_interval", "max_state_bytes", "min_free_bytes", "plots::max_points", "resources::lookback",
		"artifacts::allowed_roots", "artifacts::path_map", "artifacts::max_file_bytes", "artifacts::max_bytes_per_second", "artifacts::digest_wait",
	} {
		assert.Contains(t, "\n"+err.Error(), "\n"+key+": ")
	}
	assert.Len(t, strings.Split(err.Error(), "\n"), 16)
	cfg.Layout = "flat"
	require.ErrorContains(t, cfg.Validate(), `layout: want per_run or fixed, got "flat"`)
	good := createDefaultConfig().(*Config)
	good.Directory = "results"
	require.NoError(t, good.Validate())
}

func TestStorageThatIsNotConfiguredIsNamed(t *testing.T) {
	t.Parallel()
	cfg := createDefaultConfig().(*Config)
	cfg.Directory = t.TempDir()
	id := component.MustNewIDWithName("file_storage", "state")
	cfg.StorageID = &id
	exp, err := NewFactory().CreateLogs(t.Context(), exportertest.NewNopSettings(metadata.Type), cfg)
	require.NoError(t, err)
	err = exp.Start(t.Context(), componenttest.NewNopHost())
	require.ErrorContains(t, err, "storage: extension file_storage/state is not configured; add it")
	require.NoError(t, exp.Shutdown(t.Context()))
}

func TestOneConfigurationIsOneInstance(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	id := host.StorageID()
	cfg := createDefaultConfig().(*Config)
	cfg.Directory, cfg.StorageID = t.TempDir(), &id
	set := exportertest.NewNopSettings(metadata.Type)
	shared := &instances{byID: map[component.ID]*instance{}}
	a, err := shared.get(set, cfg)
	require.NoError(t, err)
	b, err := shared.get(set, cfg)
	require.NoError(t, err)
	require.Same(t, a, b)
	require.NoError(t, a.start(t.Context(), host))
	require.NoError(t, b.start(t.Context(), host), "the storage's client was opened twice")
	require.NoError(t, a.shutdown(t.Context()))
	assert.Len(t, host.OpenClients(), 1, "the first of two shutdowns ended the work")
	require.NoError(t, b.shutdown(t.Context()))
	assert.Empty(t, host.OpenClients())
	assert.Empty(t, shared.byID)

	other := *cfg
	c, err := shared.get(set, &other)
	require.NoError(t, err)
	assert.NotSame(t, a, c)
}

func TestTwoExportersHaveTwoSeries(t *testing.T) {
	t.Parallel()
	tel := componenttest.NewTelemetry()
	for _, name := range []string{"", "second"} {
		cfg := createDefaultConfig().(*Config)
		cfg.Directory = t.TempDir()
		set := exportertest.NewNopSettings(metadata.Type)
		set.ID, set.TelemetrySettings = component.NewIDWithName(metadata.Type, name), tel.NewTelemetrySettings()
		exp, err := NewFactory().CreateLogs(t.Context(), set, cfg)
		require.NoError(t, err)
		require.NoError(t, exp.Start(t.Context(), componenttest.NewNopHost()))
		t.Cleanup(func() { require.NoError(t, exp.Shutdown(context.Background())) })
		require.NoError(t, exp.ConsumeLogs(t.Context(), logsOf(t, wholeRun("a")[:1]...)))
	}
	componentcheck.AssertTelemetry(t, tel, "otelcol_dvc_result_records",
		`otelcol_dvc_result_records{exporter="dvc_result"} 1`, `otelcol_dvc_result_records{exporter="dvc_result/second"} 1`)
	componentcheck.AssertTelemetry(t, tel, "otelcol_dvc_result_masked_values",
		`otelcol_dvc_result_masked_values{exporter="dvc_result"} 1`, `otelcol_dvc_result_masked_values{exporter="dvc_result/second"} 1`)
	assert.Len(t, componentcheck.FormatTelemetry(t, tel, "otelcol_dvc_result_runs"), 6)
	assert.Len(t, componentcheck.FormatTelemetry(t, tel, "otelcol_dvc_result_state_size"), 2)
}

func TestSizesTakeUnitsAndPlainNumbers(t *testing.T) {
	t.Parallel()
	for _, sizes := range []map[string]any{
		{"max_state_bytes": "2MiB", "min_free_bytes": "4KiB"}, {"max_state_bytes": 2 << 20, "min_free_bytes": 4096},
		{"max_state_bytes": "2097152", "min_free_bytes": "4096B"},
	} {
		cfg := createDefaultConfig().(*Config)
		cfg.Directory = "results"
		require.NoError(t, confmap.NewFromStringMap(sizes).Unmarshal(cfg))
		require.NoError(t, cfg.Validate())
		assert.EqualValues(t, 2<<20, cfg.MaxStateBytes)
		assert.EqualValues(t, 4096, cfg.MinFreeBytes)
	}
	err := confmap.NewFromStringMap(map[string]any{"max_state_bytes": "much"}).Unmarshal(createDefaultConfig())
	require.ErrorContains(t, err, "max_state_bytes")
	require.ErrorContains(t, err, "want a size such as")
}
