// Package metadata holds the component's identity and its instruments, as metadata.yaml states them.
package metadata

import "go.opentelemetry.io/collector/component"

// Type is the name of the component in a configuration.
var Type = component.MustNewType("secret_mask")

// ScopeName is the instrumentation scope of the component's telemetry.
const ScopeName = "github.com/pathologize/otelcol-train/processor/secretmaskprocessor"

// Stability of the component by signal.
const (
	LogsStability    = component.StabilityLevelAlpha
	MetricsStability = component.StabilityLevelAlpha
	TracesStability  = component.StabilityLevelAlpha
)
