// Package metadata holds what metadata.yaml says, as Go; componentcheck holds the two together.
package metadata

import "go.opentelemetry.io/collector/component"

// Type is the component's type.
var Type = component.MustNewType("training_records")

// ScopeName is the instrumentation scope of the self-metrics.
const ScopeName = "github.com/pathologize/otelcol-train/connector/trainingrecordsconnector"

// MetricsToLogsStability is the stability of the component.
const MetricsToLogsStability = component.StabilityLevelAlpha
