// Package metadata holds the component's identity and its instruments, as metadata.yaml states them.
package metadata

import "go.opentelemetry.io/collector/component"

// Type is the name of the component in a configuration.
var Type = component.MustNewType("cardinality_guard")

// ScopeName is the instrumentation scope of the component's telemetry.
const ScopeName = "github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor"

// MetricsStability is the stability of the component for metrics.
const MetricsStability = component.StabilityLevelAlpha
