package trainingrecordsconnector

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Config is what an operator writes under training_records.
type Config struct {
	// Profiles are files with further profiles. One with the name of a shipped profile replaces it.
	Profiles []string `mapstructure:"profiles"`

	// RunIDFrom are the attributes, of points or their resource, that name the run; the first that is there counts.
	RunIDFrom []string `mapstructure:"run_id_from"`

	// RowTolerance is how far apart the times of one export's points may be.
	RowTolerance time.Duration `mapstructure:"row_tolerance"`

	// HeartbeatInterval is how long a run that still exports may be without a record.
	HeartbeatInterval time.Duration `mapstructure:"heartbeat_interval"`

	// Storage is the extension that keeps what was seen over a restart. Empty: memory only.
	Storage *component.ID `mapstructure:"storage"`

	// Limits bound what is remembered.
	Limits Limits `mapstructure:"limits"`

	_ struct{} // keyed literals only
}

// Limits bound what is remembered.
type Limits struct {
	// Rows is the number of kinds of rows: of each run, scope and set of row attributes.
	Rows int `mapstructure:"rows"`

	_ struct{} // keyed literals only
}

func createDefaultConfig() component.Config {
	return &Config{
		RunIDFrom:         []string{trainrecord.AttrRunID, "rl.run.id", "mlflow.run_id", "wandb.run.id", "run.id", "run_id"},
		RowTolerance:      500 * time.Millisecond,
		HeartbeatInterval: time.Minute,
		Limits:            Limits{Rows: 50000},
	}
}

// Validate reports every mistake at once, naming keys as the YAML spells them.
func (c *Config) Validate() error {
	errs := trainprofile.CheckFiles(c.Profiles)
	for i, key := range c.RunIDFrom {
		if key == "" {
			errs = append(errs, fmt.Errorf("run_id_from[%d]: want the key of an attribute, got nothing", i))
		}
	}
	if c.RowTolerance <= 0 {
		errs = append(errs, fmt.Errorf("row_tolerance: want a duration above 0, got %s", c.RowTolerance))
	}
	if c.HeartbeatInterval <= 0 {
		errs = append(errs, fmt.Errorf("heartbeat_interval: want a duration above 0, got %s", c.HeartbeatInterval))
	}
	if c.Limits.Rows <= 0 {
		errs = append(errs, fmt.Errorf("limits.rows: want a number above 0, got %d", c.Limits.Rows))
	}
	return errors.Join(errs...)
}

// profiles loads the shipped profiles and the operator's.
func (c *Config) profiles() (*trainprofile.Set, error) {
	return trainprofile.Load("", c.Profiles)
}
