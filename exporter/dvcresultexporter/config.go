package dvcresultexporter

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/resultfile"
	"github.com/pathologize/otelcol-train/internal/componentkit"
)

const (
	layoutPerRun = "per_run"
	layoutFixed  = "fixed"

	minStateBytes = 1 << 20
	minPoints     = 10
	minDuration   = 10 * time.Millisecond
	maxPoints     = 100_000
	maxLookback   = time.Hour
)

// Config is what an operator writes under dvc_result.
type Config struct {
	// Directory receives one folder a run.
	Directory string `mapstructure:"directory"`
	// Layout is per_run, a folder for each run, or fixed, one folder for the newest run.
	Layout string `mapstructure:"layout"`
	// Name is that of the folder of layout fixed.
	Name string `mapstructure:"name"`
	// StorageID names the storage extension that keeps the state of runs across restarts; without it the state is in
	// memory, and a restart needs a receiver that reads the streams from their beginning.
	StorageID *component.ID `mapstructure:"storage"`

	// LateGrace passes between the end of a run and its result, and between a late record and the next one.
	LateGrace time.Duration `mapstructure:"late_grace"`
	// FailureGrace passes between a failure and the result that says failed: another attempt may begin.
	FailureGrace time.Duration `mapstructure:"failure_grace"`
	// IdleTimeout is the silence after which a run counts as stalled.
	IdleTimeout time.Duration `mapstructure:"idle_timeout"`
	// LateWindow is the time in which a record after the end still changes the result.
	LateWindow time.Duration `mapstructure:"late_window"`
	// LiveInterval is the time between results of a run that goes on; 0 writes none.
	LiveInterval time.Duration `mapstructure:"live_interval"`

	// MaxStateBytes bounds the memory of all runs.
	MaxStateBytes componentkit.ByteSize `mapstructure:"max_state_bytes"`
	// MinFreeBytes is what stays free on the file system of Directory.
	MinFreeBytes componentkit.ByteSize `mapstructure:"min_free_bytes"`

	// Report adds report.md and its drawings to each result.
	Report bool `mapstructure:"report"`

	Plots     PlotsConfig     `mapstructure:"plots"`
	Artifacts ArtifactsConfig `mapstructure:"artifacts"`
	Resources ResourcesConfig `mapstructure:"resources"`

	_ struct{} // keyed literals only
}

// PlotsConfig says what the plot tables hold.
type PlotsConfig struct {
	// MaxPoints bounds the rows of a table; a longer curve keeps the points that show its shape.
	MaxPoints int `mapstructure:"max_points"`
	// FullFidelity adds plots/full/<name>.tsv.gz with every point.
	FullFidelity bool `mapstructure:"full_fidelity"`

	_ struct{}
}

// ArtifactsConfig says which files and folders that runs name are read for their digests.
type ArtifactsConfig struct {
	// AllowedRoots are the folders below which files may be read; without any, none is.
	AllowedRoots []string `mapstructure:"allowed_roots"`
	// PathMap says where the paths of containers are on this host.
	PathMap []PathMapping `mapstructure:"path_map"`
	// MaxFileBytes bounds a file, and a folder as a whole.
	MaxFileBytes componentkit.ByteSize `mapstructure:"max_file_bytes"`
	// MaxBytesPerSecond bounds the reading.
	MaxBytesPerSecond componentkit.ByteSize `mapstructure:"max_bytes_per_second"`
	// DigestWait is how long a final result waits for digests; it says pending then and is written once more.
	DigestWait time.Duration `mapstructure:"digest_wait"`
	// Verify has files read whose digest the run told.
	Verify bool `mapstructure:"verify"`

	_ struct{}
}

// PathMapping maps a folder of a container.
type PathMapping struct {
	From string `mapstructure:"from"`
	To   string `mapstructure:"to"`

	_ struct{}
}

func (c *ArtifactsConfig) validate(bad func(format string, args ...any)) {
	for _, root := range c.AllowedRoots {
		if !filepath.IsAbs(root) {
			bad("artifacts::allowed_roots: want absolute paths, got %q", root)
		}
	}
	for _, m := range c.PathMap {
		if m.From == "" || !filepath.IsAbs(m.To) {
			bad("artifacts::path_map: want from, a folder as runs name it, and to, an absolute path, got %q and %q", m.From, m.To)
		}
	}
	if c.MaxFileBytes < 1 {
		bad("artifacts::max_file_bytes: want 1 or more, got %d bytes", c.MaxFileBytes)
	}
	if c.MaxBytesPerSecond < 1<<10 {
		bad("artifacts::max_bytes_per_second: want at least 1KiB, got %d bytes", c.MaxBytesPerSecond)
	}
	if c.DigestWait < 0 || c.DigestWait != 0 && c.DigestWait < minDuration {
		bad("artifacts::digest_wait: want 0s or at least %s, with a unit such as 1m, got %s", minDuration, c.DigestWait)
	}
}

// ResourcesConfig says how metrics of a DCGM exporter are joined to runs.
type ResourcesConfig struct {
	// Lookback is how long after its event a record may come, and still have the GPU readings of its time.
	Lookback time.Duration `mapstructure:"lookback"`

	_ struct{}
}

func createDefaultConfig() component.Config {
	return &Config{
		Layout:        layoutPerRun,
		Name:          "latest",
		LateGrace:     10 * time.Second,
		FailureGrace:  time.Minute,
		IdleTimeout:   30 * time.Minute,
		LateWindow:    24 * time.Hour,
		MaxStateBytes: 256 << 20,
		MinFreeBytes:  64 << 20,
		Plots:         PlotsConfig{MaxPoints: 1000},
		Artifacts:     ArtifactsConfig{MaxFileBytes: 20 << 30, MaxBytesPerSecond: 100 << 20, DigestWait: time.Minute},
		Resources:     ResourcesConfig{Lookback: 5 * time.Minute},
	}
}

// Validate reports every mistake at once.
func (c *Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Directory == "" {
		bad("directory: want the folder that receives the results, such as /srv/repo/results")
	}
	if strings.HasPrefix(c.Directory, "~") {
		bad("directory: ~ is not expanded, write ${env:HOME} instead, got %q", c.Directory)
	}
	if c.Layout != layoutPerRun && c.Layout != layoutFixed {
		bad("layout: want %s or %s, got %q", layoutPerRun, layoutFixed, c.Layout)
	}
	if c.Layout == layoutFixed && !resultfile.IsPlain(c.Name) {
		bad("name: want a folder name of lower-case letters, digits, ., _ and -, got %q", c.Name)
	}
	// A number without a unit is read as nanoseconds, which nobody means.
	if c.LateGrace != 0 && c.LateGrace < minDuration {
		bad("late_grace: want 0s or at least %s, with a unit such as 10s, got %s", minDuration, c.LateGrace)
	}
	if c.FailureGrace != 0 && c.FailureGrace < minDuration {
		bad("failure_grace: want 0s or at least %s, with a unit such as 1m, got %s", minDuration, c.FailureGrace)
	}
	if c.IdleTimeout < minDuration {
		bad("idle_timeout: want at least %s, with a unit such as 30m, got %s", minDuration, c.IdleTimeout)
	}
	if c.LateWindow < c.LateGrace || c.LateWindow < 0 {
		bad("late_window: want at least late_grace (%s), got %s", c.LateGrace, c.LateWindow)
	}
	if c.LiveInterval != 0 && c.LiveInterval < time.Second {
		bad("live_interval: want 0s (final results only) or at least 1s, got %s", c.LiveInterval)
	}
	if c.MaxStateBytes < minStateBytes {
		bad("max_state_bytes: want at least 1MiB, got %d bytes", c.MaxStateBytes)
	}
	if c.MinFreeBytes < 0 {
		bad("min_free_bytes: want 0 or more, got %d bytes", c.MinFreeBytes)
	}
	if c.Plots.MaxPoints < minPoints || c.Plots.MaxPoints > maxPoints {
		bad("plots::max_points: want %d to %d, got %d", minPoints, maxPoints, c.Plots.MaxPoints)
	}
	c.Artifacts.validate(bad)
	if c.Resources.Lookback < time.Second || c.Resources.Lookback > maxLookback {
		bad("resources::lookback: want 1s to %s, with a unit such as 5m, got %s", maxLookback, c.Resources.Lookback)
	}
	return errors.Join(errs...)
}

// runDirectory is the folder of a run.
func (c *Config) runDirectory(id string) string {
	if c.Layout == layoutFixed {
		return c.Name
	}
	return resultfile.RunDirectory(id)
}
