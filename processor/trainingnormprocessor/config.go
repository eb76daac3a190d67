package trainingnormprocessor

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Config is what an operator writes under training_norm.
type Config struct {
	// Profiles are files with further profiles. One with the name of a shipped profile replaces it.
	Profiles []string `mapstructure:"profiles"`

	// Framework is the profile or framework of every object that does not name one itself. Empty: it is recognised.
	Framework string `mapstructure:"framework"`

	// Timezone is that of times without a zone.
	Timezone string `mapstructure:"timezone"`

	// Storage is the extension that keeps what streams were recognised as over a restart. Empty: memory only.
	Storage *component.ID `mapstructure:"storage"`

	// Namespace begins the attribute keys and event names of the vocabulary behind the processor.
	Namespace string `mapstructure:"namespace"`

	// AlsoNamespaces are further ones that are written beside it, while readers move from one to another.
	AlsoNamespaces []string `mapstructure:"also_namespaces"`

	// IDSalt separates the derived ids of traces and spans of worlds in which run ids are used again.
	IDSalt string `mapstructure:"id_salt"`

	_ struct{} // keyed literals only
}

func createDefaultConfig() component.Config {
	return &Config{Timezone: "UTC", Namespace: trainrecord.Namespace}
}

// Validate reports every mistake at once, naming keys as the YAML spells them.
func (c *Config) Validate() error {
	errs := trainprofile.CheckFiles(c.Profiles)
	if _, err := time.LoadLocation(c.Timezone); err != nil {
		errs = append(errs, fmt.Errorf("timezone: want a name such as UTC, Local or Europe/Berlin: %w", err))
	}
	return errors.Join(append(errs, c.validateNamespaces())...)
}

// profiles loads the shipped profiles and the operator's.
func (c *Config) profiles() (*trainprofile.Set, error) {
	return trainprofile.Load(c.Framework, c.Profiles)
}
