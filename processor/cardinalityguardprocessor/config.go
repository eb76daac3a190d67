package cardinalityguardprocessor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/merge"
)

// Config is what an operator writes under cardinality_guard.
type Config struct {
	// Policy is a policy that stands here. Without any, what the registry of the vocabulary forbids holds.
	Policy map[string]any `mapstructure:"policy"`

	// PolicyFile is a file with the policy. A change of it takes effect while the guard runs.
	PolicyFile string `mapstructure:"policy_file"`

	// PolicyURL is an address of http or https that gives the policy. A change takes effect while the guard runs.
	PolicyURL string `mapstructure:"policy_url"`

	// PolicyPollInterval is the time between two looks at policy_file or policy_url.
	PolicyPollInterval time.Duration `mapstructure:"policy_poll_interval"`

	// AuditReport is a Markdown file that tells what the policy changes and would change; beside it the same as JSON.
	AuditReport string `mapstructure:"audit_report"`

	// FlushInterval is the time between two points of a merged series.
	FlushInterval time.Duration `mapstructure:"flush_interval"`

	// TrackNative remembers cumulative series that pass untouched, so that a later collision goes on from their value.
	TrackNative bool `mapstructure:"track_native"`

	// InitialValue says what the first point of an unknown source counts: auto, keep or drop.
	InitialValue string `mapstructure:"initial_value"`

	// GaugeStaleness is how long the last value of a silent source is part of a merged gauge.
	GaugeStaleness time.Duration `mapstructure:"gauge_staleness"`

	// SourceExpiry is how long a silent source is remembered.
	SourceExpiry time.Duration `mapstructure:"source_expiry"`

	// DeltaDedup drops a delta that its source sent before, with the same start and time.
	DeltaDedup bool `mapstructure:"delta_dedup"`

	// MaxFutureSkew is how far ahead of the clock the time of a point is believed.
	MaxFutureSkew time.Duration `mapstructure:"max_future_skew"`

	// Exemplars says what stays of exemplars: scrub, drop_trace_context or drop.
	Exemplars string `mapstructure:"exemplars"`

	// ReplicaAttribute is added to merged series when several guards write them.
	ReplicaAttribute ReplicaConfig `mapstructure:"replica_attribute"`

	// MetadataKeys are keys of the client's metadata that belong to the identity of every series. Their values go on with merged points.
	MetadataKeys []string `mapstructure:"metadata_keys"`

	// Storage is the extension that keeps the state over a restart. Empty: memory only.
	Storage *component.ID `mapstructure:"storage"`

	// Limits bound what is remembered.
	Limits LimitsConfig `mapstructure:"limits"`

	_ struct{} // keyed literals only
}

// ReplicaConfig is an attribute that tells the guards of one series apart.
type ReplicaConfig struct {
	Key   string `mapstructure:"key"`
	Value string `mapstructure:"value"`

	_ struct{} // keyed literals only
}

// LimitsConfig bounds the state.
type LimitsConfig struct {
	SeriesPerMetric int `mapstructure:"series_per_metric"`
	SeriesTotal     int `mapstructure:"series_total"`
	SourcesTotal    int `mapstructure:"sources_total"`
	Tombstones      int `mapstructure:"tombstones"`

	_ struct{} // keyed literals only
}

// Values of exemplars.
const (
	exemplarsScrub            = "scrub"
	exemplarsDropTraceContext = "drop_trace_context"
	exemplarsDrop             = "drop"
)

var initialValues = map[string]merge.InitialValue{"auto": merge.Auto, "keep": merge.Keep, "drop": merge.None}

func createDefaultConfig() component.Config {
	return &Config{
		PolicyPollInterval: 30 * time.Second,
		FlushInterval:      15 * time.Second,
		TrackNative:        true,
		InitialValue:       "auto",
		GaugeStaleness:     5 * time.Minute,
		SourceExpiry:       time.Hour,
		DeltaDedup:         true,
		MaxFutureSkew:      time.Minute,
		Exemplars:          exemplarsScrub,
		Limits:             LimitsConfig{SeriesPerMetric: 2000, SeriesTotal: 50_000, SourcesTotal: 100_000, Tombstones: 100_000},
	}
}

// Validate reports every mistake at once, naming keys as the YAML spells them.
func (c *Config) Validate() error {
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	errs = append(errs, c.validatePolicy()...)
	want(c.FlushInterval > 0, "flush_interval: want more than 0, got %s", c.FlushInterval)
	want(c.GaugeStaleness > 0, "gauge_staleness: want more than 0, got %s", c.GaugeStaleness)
	want(c.SourceExpiry > 0, "source_expiry: want more than 0, got %s", c.SourceExpiry)
	want(c.MaxFutureSkew >= 0, "max_future_skew: want 0 or more, got %s", c.MaxFutureSkew)
	_, known := initialValues[c.InitialValue]
	want(known, "initial_value: want auto, keep or drop, got %q", c.InitialValue)
	switch c.Exemplars {
	case exemplarsScrub, exemplarsDropTraceContext, exemplarsDrop:
	default:
		want(false, "exemplars: want scrub, drop_trace_context or drop, got %q", c.Exemplars)
	}
	want(c.ReplicaAttribute.Key != "" || c.ReplicaAttribute.Value == "", "replica_attribute::key: want a key for the value %q", c.ReplicaAttribute.Value)
	for i, key := range c.MetadataKeys {
		want(key != "", "metadata_keys[%d]: want at least one character", i)
		twice := slices.ContainsFunc(c.MetadataKeys[:i], func(other string) bool { return strings.EqualFold(other, key) })
		want(!twice, "metadata_keys[%d]: %q is there twice; case does not count", i, key)
	}
	for _, l := range []struct {
		key   string
		value int
		least int
	}{
		{"series_per_metric", c.Limits.SeriesPerMetric, 2},
		{"series_total", c.Limits.SeriesTotal, 2},
		{"sources_total", c.Limits.SourcesTotal, 1},
		{"tombstones", c.Limits.Tombstones, 0},
	} {
		want(l.value >= l.least, "limits::%s: want %d or more, got %d", l.key, l.least, l.value)
	}
	return errors.Join(errs...)
}

// engine is what the engine is told of it.
func (c *Config) engine() merge.Config {
	return merge.Config{
		FlushInterval:    c.FlushInterval,
		GaugeStaleness:   c.GaugeStaleness,
		SourceExpiry:     c.SourceExpiry,
		MaxFutureSkew:    c.MaxFutureSkew,
		Initial:          initialValues[c.InitialValue],
		TrackNative:      c.TrackNative,
		DeltaDedup:       c.DeltaDedup,
		SeriesPerMetric:  c.Limits.SeriesPerMetric,
		Series:           c.Limits.SeriesTotal,
		Sources:          c.Limits.SourcesTotal,
		Tombstones:       c.Limits.Tombstones,
		ReplicaAttribute: [2]string{c.ReplicaAttribute.Key, c.ReplicaAttribute.Value},
	}
}
