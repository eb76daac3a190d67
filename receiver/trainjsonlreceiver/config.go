package trainjsonlreceiver

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/internal/trainlines"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// startAtBeginning is the only value of start_at.
const startAtBeginning = "beginning"

// Values of identity.
const (
	identityInode = "inode"
	identityPath  = "path"
)

const nonFiniteKeep = "keep"

var nonFinite = map[string]trainrecord.NonFinite{
	nonFiniteKeep: trainrecord.KeepNonFinite, "null": trainrecord.NullNonFinite, "string": trainrecord.StringNonFinite,
}

// Config is what an operator writes under train_jsonl.
type Config struct {
	// Include are globs of the files to read; ** crosses folders, but enters none through a symbolic link, nor does what follows it.
	Include []string `mapstructure:"include"`
	// Exclude are globs of files that Include matches and that are not read.
	Exclude []string `mapstructure:"exclude"`
	// StartAt is beginning: a training stream without its start is no training stream.
	StartAt string `mapstructure:"start_at"`
	// Storage is the extension that keeps the offsets over a restart.
	Storage *component.ID `mapstructure:"storage"`
	// RunID says where a run's identity comes from when its lines do not tell.
	RunID RunIDConfig `mapstructure:"run_id"`
	// Identity says what a file is known by: inode (with its device), or path.
	Identity string `mapstructure:"identity"`
	// IncludeFileName adds log.file.name to each record, IncludeFilePath log.file.path.
	IncludeFileName bool `mapstructure:"include_file_name"`
	IncludeFilePath bool `mapstructure:"include_file_path"`
	// Timezone is that of times written without one.
	Timezone string `mapstructure:"timezone"`
	// LinePrefixes are taken off the start of a line: known stands for the built-in ones, what begins with ^ is an expression.
	LinePrefixes []string `mapstructure:"line_prefixes"`
	// NonFinite says what becomes of NaN and the infinities: keep, null or string.
	NonFinite string `mapstructure:"non_finite"`
	// TornAfter is the silence after which a last line without newline is reported; 0 never does.
	TornAfter time.Duration `mapstructure:"torn_after"`
	// SilentAfter is the time without growth after which a stream counts as silent.
	SilentAfter time.Duration `mapstructure:"silent_after"`
	// StreamStatus are events that tell what the streams do.
	StreamStatus StreamStatusConfig `mapstructure:"stream_status"`
	// MaxLineSize is the longest line that is decoded.
	MaxLineSize componentkit.ByteSize `mapstructure:"max_line_size"`
	// MaxInFlightBytes bounds the input that is read and not yet accepted by the pipeline, over all files.
	MaxInFlightBytes componentkit.ByteSize `mapstructure:"max_in_flight_bytes"`
	// CheckpointInterval is the least time between two writes of offsets.
	CheckpointInterval time.Duration `mapstructure:"checkpoint_interval"`
	// PollInterval is the time between two looks at files that change.
	PollInterval time.Duration `mapstructure:"poll_interval"`

	_ struct{} // keyed literals only
}

// RunIDConfig says how a path names its run.
type RunIDConfig struct {
	// PathRegex has the named group run_id, and may have rank, attempt and part.
	PathRegex string `mapstructure:"path_regex"`

	_ struct{} // keyed literals only
}

// StreamStatusConfig says whether the pipeline is told what streams do.
type StreamStatusConfig struct {
	// Interval is how often the states are looked at; each change is told. 0 tells nothing.
	Interval time.Duration `mapstructure:"interval"`

	_ struct{} // keyed literals only
}

func createDefaultConfig() component.Config {
	return &Config{
		StartAt:            startAtBeginning,
		Timezone:           "UTC",
		LinePrefixes:       []string{trainlines.PrefixesKnown},
		NonFinite:          nonFiniteKeep,
		Identity:           identityInode,
		IncludeFilePath:    true,
		TornAfter:          10 * time.Minute,
		SilentAfter:        10 * time.Minute,
		MaxLineSize:        trainrecord.MaxLine,
		MaxInFlightBytes:   64 << 20,
		CheckpointInterval: time.Second,
		PollInterval:       200 * time.Millisecond,
	}
}

// Validate reports every mistake at once, naming keys as the YAML spells them.
func (c *Config) Validate() error {
	errs := []error{c.validateFiles(), c.validateRunID(), c.validateSizes(), c.validateTimes()}
	if _, err := time.LoadLocation(c.Timezone); err != nil {
		errs = append(errs, fmt.Errorf("timezone: want a name such as UTC, Local or Europe/Berlin: %w", err))
	}
	_, err := trainlines.CompilePrefixes(c.LinePrefixes)
	errs = append(errs, err)
	if _, ok := nonFinite[c.NonFinite]; !ok {
		errs = append(errs, fmt.Errorf("non_finite: want keep, null or string, got %q", c.NonFinite))
	}
	return errors.Join(errs...)
}

func (c *Config) validateFiles() error {
	var errs []error
	if len(c.Include) == 0 {
		errs = append(errs, errors.New("include: name at least one glob, such as /data/runs/*/train.jsonl"))
	}
	errs = append(errs, validateGlobs("include", c.Include), validateGlobs("exclude", c.Exclude))
	errs = append(errs, validateWalks(c.Include)...)
	errs = append(errs, validateHomes("include", c.Include), validateHomes("exclude", c.Exclude))
	switch c.StartAt {
	case startAtBeginning:
	case "end":
		errs = append(errs, errors.New("start_at: end would drop the start of every run, and with it its parameters, first epochs and identity; "+
			"use beginning: with a storage nothing is read twice"))
	default:
		errs = append(errs, fmt.Errorf("start_at: want beginning, got %q", c.StartAt))
	}
	if c.Identity != identityInode && c.Identity != identityPath {
		errs = append(errs, fmt.Errorf("identity: want inode, or path for network file systems without stable inodes, got %q", c.Identity))
	}
	return errors.Join(errs...)
}

func validateHomes(key string, globs []string) error {
	var errs []error
	for _, glob := range globs {
		if strings.HasPrefix(glob, "~") {
			errs = append(errs, fmt.Errorf("%s: ~ is not expanded, write ${env:HOME} instead, got %q", key, glob))
		}
	}
	return errors.Join(errs...)
}

func (c *Config) validateRunID() error {
	if c.RunID.PathRegex == "" {
		return nil
	}
	re, err := regexp.Compile(c.RunID.PathRegex)
	if err != nil {
		return fmt.Errorf("run_id: path_regex: %w", err)
	}
	var errs []error
	if re.SubexpIndex(groupRunID) < 0 {
		errs = append(errs, errors.New("run_id: path_regex: name the group of the run: (?P<run_id>...)"))
	}
	for _, name := range re.SubexpNames() {
		if name != "" && !slices.Contains(pathGroups, name) {
			errs = append(errs, fmt.Errorf("run_id: path_regex: group %q is none of %v", name, pathGroups))
		}
	}
	return errors.Join(errs...)
}

func (c *Config) validateSizes() error {
	var errs []error
	if c.MaxLineSize < trainrecord.MaxRaw || c.MaxLineSize > trainrecord.MaxLine {
		errs = append(errs, fmt.Errorf("max_line_size: want 4KiB to 16MiB, got %d bytes", c.MaxLineSize))
	}
	if least := max(c.MaxLineSize, turnBytes); c.MaxInFlightBytes < least {
		errs = append(errs, fmt.Errorf("max_in_flight_bytes: want at least max_line_size and 256KiB, got %d bytes", c.MaxInFlightBytes))
	}
	return errors.Join(errs...)
}

func (c *Config) validateTimes() error {
	var errs []error
	if c.TornAfter != 0 && c.TornAfter < 10*time.Millisecond {
		errs = append(errs, fmt.Errorf("torn_after: want 0s (never) or at least 10ms, with a unit such as 10m, got %s", c.TornAfter))
	}
	if c.SilentAfter < time.Second {
		errs = append(errs, fmt.Errorf("silent_after: want at least 1s, with a unit such as 10m, got %s", c.SilentAfter))
	}
	if c.StreamStatus.Interval != 0 && c.StreamStatus.Interval < time.Second {
		errs = append(errs, fmt.Errorf("stream_status: interval: want 0s (no events) or at least 1s, with a unit such as 1m, got %s", c.StreamStatus.Interval))
	}
	if c.CheckpointInterval < 10*time.Millisecond {
		errs = append(errs, fmt.Errorf("checkpoint_interval: want at least 10ms, got %s", c.CheckpointInterval))
	}
	if c.PollInterval < 10*time.Millisecond {
		errs = append(errs, fmt.Errorf("poll_interval: want at least 10ms, got %s", c.PollInterval))
	}
	return errors.Join(errs...)
}
