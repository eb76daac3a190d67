// Package metadata names the receiver and its self-metrics as metadata.yaml does.
package metadata

import "go.opentelemetry.io/collector/component"

// ScopeName is the scope of the receiver's self-metrics.
const ScopeName = "github.com/pathologize/otelcol-train/receiver/trainjsonlreceiver"

// LogsStability is that of the receiver's only signal.
const LogsStability = component.StabilityLevelAlpha

// Type is the receiver's.
func Type() component.Type { return component.MustNewType("train_jsonl") }
