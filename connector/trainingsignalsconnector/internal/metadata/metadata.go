// Package metadata holds the component's type and stability, and its instruments.
package metadata

import "go.opentelemetry.io/collector/component"

// Type of the component.
var Type = component.MustNewType("training_signals")

// ScopeName of the component's own telemetry.
const ScopeName = "github.com/pathologize/otelcol-train/connector/trainingsignalsconnector"

// Stability of the signals.
const (
	LogsToMetricsStability = component.StabilityLevelAlpha
	LogsToTracesStability  = component.StabilityLevelAlpha
)
