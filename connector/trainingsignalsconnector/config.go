package trainingsignalsconnector

import (
	"slices"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Config is what an operator writes under training_signals.
type Config struct {
	// Namespace is the prefix of the names of metrics and attributes; AlsoNamespaces are written besides, in a migration.
	Namespace      string   `mapstructure:"namespace"`
	AlsoNamespaces []string `mapstructure:"also_namespaces"`

	// FlushInterval is the distance of the points of a series; its multiples on the wall clock are their times.
	FlushInterval time.Duration `mapstructure:"flush_interval"`
	// Temporality of sums and histograms: cumulative or delta.
	Temporality string `mapstructure:"temporality"`

	// HistoryAge is the age from which on a record is history when it arrives: it changes what is known, and no metric.
	HistoryAge time.Duration `mapstructure:"history_age"`
	// IdleTimeout, FailureGrace and LateGrace mean what they mean in dvc_result.
	IdleTimeout  time.Duration `mapstructure:"idle_timeout"`
	FailureGrace time.Duration `mapstructure:"failure_grace"`
	LateGrace    time.Duration `mapstructure:"late_grace"`
	// AbandonAfter is the silence after which an attempt counts as over, outcome unknown.
	AbandonAfter time.Duration `mapstructure:"abandon_after"`
	// SeriesExpiry is how long series stay after the last attempt of their resource.
	SeriesExpiry time.Duration `mapstructure:"series_expiry"`

	// Storage is the extension that keeps the state over a restart. Empty: memory only.
	Storage *component.ID `mapstructure:"storage"`

	// ResourceAttributes are those of a record's resource that metrics keep.
	ResourceAttributes []string `mapstructure:"resource_attributes"`
	// TaskFamilies are the allowed ones; empty means the registry's.
	TaskFamilies []string `mapstructure:"task_families"`
	// ExtraAttributes are bounded attributes made of parameters.
	ExtraAttributes []ExtraAttribute `mapstructure:"extra_attributes"`
	// Emits says by framework which signals its trainers send by themselves.
	Emits map[string][]string `mapstructure:"emits"`
	// Progress adds the gauge of the last completed epoch.
	Progress bool `mapstructure:"progress"`
	// Buckets are the bounds of histograms, by the name of the metric without its namespace.
	Buckets map[string][]float64 `mapstructure:"buckets"`

	Spans  SpansConfig `mapstructure:"spans"`
	Limits Limits      `mapstructure:"limits"`

	// Replica tells apart collectors that hold different runs of one host.
	Replica string `mapstructure:"replica"`
	// IDSalt changes all derived ids, for run ids that are used again.
	IDSalt string `mapstructure:"id_salt"`

	_ struct{} // keyed literals only
}

// ExtraAttribute is a bounded attribute of metrics.
type ExtraAttribute struct {
	Key    string   `mapstructure:"key"`
	From   string   `mapstructure:"from"` // params.<name>
	Values []string `mapstructure:"values"`

	_ struct{}
}

// SpansConfig says which spans are sent.
type SpansConfig struct {
	// Epochs is the number of first epochs whose spans are all kept; of later ones fewer and fewer.
	Epochs int `mapstructure:"epochs"`
	// MaxPerAttempt bounds the spans of an attempt.
	MaxPerAttempt int `mapstructure:"max_per_attempt"`
	// MaxAge of a span's end when it is sent.
	MaxAge time.Duration `mapstructure:"max_age"`
	// Announce sends training.start as soon as a run is known.
	Announce bool `mapstructure:"announce"`
	// ExceptionEvent adds the failure to the run's span as an event.
	ExceptionEvent bool `mapstructure:"exception_event"`

	_ struct{}
}

// Limits bound what is kept.
type Limits struct {
	Attempts     int `mapstructure:"attempts"`
	Tombstones   int `mapstructure:"tombstones"`
	Resources    int `mapstructure:"resources"`
	PendingSpans int `mapstructure:"pending_spans"`
	DedupWindow  int `mapstructure:"dedup_window"`
	OpenPhases   int `mapstructure:"open_phases"`

	_ struct{}
}

// Temporalities.
const (
	cumulative = "cumulative"
	delta      = "delta"
)

func createDefaultConfig() component.Config {
	return &Config{
		Namespace: trainrecord.Namespace, FlushInterval: 10 * time.Second, Temporality: cumulative,
		HistoryAge: 5 * time.Minute, IdleTimeout: 30 * time.Minute, FailureGrace: time.Minute, LateGrace: 10 * time.Second,
		AbandonAfter: 24 * time.Hour, SeriesExpiry: 24 * time.Hour,
		ResourceAttributes: []string{"service.name", "service.namespace", trainrecord.AttrHostName, "deployment.environment.name"},
		Spans:              SpansConfig{Epochs: 128, MaxPerAttempt: 2000, MaxAge: 24 * time.Hour, Announce: true},
		Limits:             Limits{Attempts: 10_000, Tombstones: 100_000, Resources: 1000, PendingSpans: 10_000, DedupWindow: 1024, OpenPhases: 16},
	}
}

func (c *Config) namespaces() []string {
	return append([]string{c.Namespace}, c.AlsoNamespaces...)
}

// family gives a task family as metrics spell it.
func (c *Config) family(name string) string {
	if name == "" || len(c.TaskFamilies) == 0 || slices.Contains(c.TaskFamilies, name) {
		return name
	}
	return trainrecord.Other
}
