package isolateconnector

import (
	"fmt"

	"go.opentelemetry.io/collector/component"

	"github.com/pathologize/otelcol-train/internal/componentkit"
)

// defaultMaxBytes is the queue's bound unless the operator writes another: 16 MiB.
const defaultMaxBytes = 16 << 20

// Config is what an operator writes under isolate.
type Config struct {
	// MaxBytes bounds the queue of each signal, the batch in delivery included; a batch counts with its OTLP size.
	MaxBytes componentkit.ByteSize `mapstructure:"max_bytes"`

	_ struct{}
}

// Validate reports every mistake at once, naming keys as the YAML spells them.
func (c *Config) Validate() error {
	if c.MaxBytes <= 0 {
		return fmt.Errorf("max_bytes: want a size above 0, got %d bytes", c.MaxBytes)
	}
	return nil
}

func createDefaultConfig() component.Config {
	return &Config{MaxBytes: defaultMaxBytes}
}
