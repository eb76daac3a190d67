// Package metadata holds what metadata.yaml says, as Go; componentcheck holds the two together.
package metadata

import "go.opentelemetry.io/collector/component"

// Type is the component's type.
var Type = component.MustNewType("dvc_result")

// ScopeName is the instrumentation scope of the self-metrics.
const ScopeName = "github.com/pathologize/otelcol-train/exporter/dvcresultexporter"

// LogsStability is the stability for logs.
const LogsStability = component.StabilityLevelAlpha

// MetricsStability is the stability for metrics.
const MetricsStability = component.StabilityLevelAlpha
