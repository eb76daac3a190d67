// Package metadata holds what metadata.yaml says, as Go; componentcheck holds the two together.
package metadata

import "go.opentelemetry.io/collector/component"

// Type is the component's type.
var Type = component.MustNewType("isolate")

// ScopeName is the instrumentation scope of the self-metrics.
const ScopeName = "github.com/pathologize/otelcol-train/connector/isolateconnector"

const (
	// LogsToLogsStability is the stability for logs.
	LogsToLogsStability = component.StabilityLevelAlpha
	// MetricsToMetricsStability is the stability for metrics.
	MetricsToMetricsStability = component.StabilityLevelAlpha
	// TracesToTracesStability is the stability for traces.
	TracesToTracesStability = component.StabilityLevelAlpha
)
