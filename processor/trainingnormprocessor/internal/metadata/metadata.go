// Package metadata holds the component's identity and its instruments, as metadata.yaml states them.
package metadata

import "go.opentelemetry.io/collector/component"

// Type is the name of the component in a configuration.
var Type = component.MustNewType("training_norm")

// ScopeName is the instrumentation scope of the component's telemetry.
const ScopeName = "github.com/pathologize/otelcol-train/processor/trainingnormprocessor"

// Stability of the component by signal.
const (
	LogsStability    = component.StabilityLevelAlpha
	MetricsStability = component.StabilityLevelAlpha
	TracesStability  = component.StabilityLevelAlpha
)
