package trainingnormprocessor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func TestValidateNamesEveryMistake(t *testing.T) {
	t.Parallel()
	cfg := &Config{Profiles: []string{"", "a.yaml", "a.yaml"}, Timezone: "Mars/Olympus"}
	err := confmap.Validate(cfg)
	require.Error(t, err)
	assert.Equal(t, "profiles[0]: want the path of a profile, got nothing\n"+
		"profiles[2]: a.yaml is listed twice\n"+
		"timezone: want a name such as UTC, Local or Europe/Berlin: unknown time zone Mars/Olympus", err.Error())
	assert.NoError(t, confmap.Validate(createDefaultConfig()))
}

// TestWrongProfilesKeepItFromStarting says in the error what to do, in every kind of pipeline.
func TestWrongProfilesKeepItFromStarting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bad := filepath.Join(dir, "mine.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("profile: mine\nframework: other\nrules: [{name: a, event: epoch.end, set: {epoch: ep}}]"), 0o600))
	missing := filepath.Join(dir, "missing.yaml")
	for name, c := range map[string]struct {
		cfg  Config
		want string
	}{
		"wrong": {
			Config{Profiles: []string{bad}, Timezone: "UTC"},
			"profiles[0]: profile mine.yaml: rules[0].set.epoch: say how the framework counts: base: 0, 1, progress, remembered or first (line 3)",
		},
		"missing": {Config{Profiles: []string{missing}, Timezone: "UTC"}, "profiles[0]: open " + missing + ": no such file or directory; want the path of a profile that can be read, from the working directory unless it begins with /"},
		"unknown framework": {
			Config{Framework: "torch", Timezone: "UTC"},
			`framework: no profile is called "torch"; known are `,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, _ := settings(t)
			_, err := NewFactory().CreateLogs(t.Context(), set, &c.cfg, consumertest.NewNop())
			require.Error(t, err)
			assert.True(t, strings.HasPrefix(err.Error(), c.want), err.Error())
			_, err = NewFactory().CreateTraces(t.Context(), set, &c.cfg, consumertest.NewNop())
			require.Error(t, err)
			assert.True(t, strings.HasPrefix(err.Error(), c.want), err.Error())
		})
	}
}

func TestOperatorsProfileReplacesAShippedOne(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ultralytics.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
profile: ultralytics
detect: {strong: {has: train/box_loss}}
time: [at]
rules: [{name: epoch, event: epoch.end, set: {epoch: {from: epoch, base: 0}}}]
`), 0o600))
	set, _ := settings(t)
	sink := &consumertest.LogsSink{}
	p, err := NewFactory().CreateLogs(t.Context(), set, &Config{Profiles: []string{file}, Timezone: "Asia/Tokyo"}, sink)
	require.NoError(t, err)
	ld := plog.NewLogs()
	lr := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	require.NoError(t, lr.Body().SetEmptyMap().FromRaw(map[string]any{
		"epoch": 1, "train/box_loss": 0.5, "at": "2026-11-07 09:00:00",
	}))
	require.NoError(t, p.ConsumeLogs(t.Context(), ld))
	epoch, ok := lr.Attributes().Get(trainrecord.AttrEpochCurrent)
	require.True(t, ok)
	assert.EqualValues(t, 1, epoch.Int())
	assert.Equal(t, "2026-11-07T00:00:00Z", lr.Timestamp().AsTime().Format("2006-01-02T15:04:05Z07:00"))
}
