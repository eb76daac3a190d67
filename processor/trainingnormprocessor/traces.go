package trainingnormprocessor

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/otel/attribute"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/processor/trainingnormprocessor/internal/metadata"
)

// boundedAttributes are the attributes of spans whose values belong to a set of the registry.
var boundedAttributes = map[string]string{
	trainrecord.AttrFramework:  "framework",
	trainrecord.AttrPhase:      "phase",
	trainrecord.AttrTaskFamily: "task_family",
	trainrecord.AttrRunOutcome: "outcome",
}

// spanNormalizer keeps the vocabulary on spans.
type spanNormalizer struct {
	lifted    sync.Pool
	telemetry *metadata.Telemetry
}

func newSpanNormalizer(cfg *Config, set processor.Settings) (*spanNormalizer, error) {
	if _, err := cfg.profiles(); err != nil { // the configuration is wrong, whichever pipeline it stands in
		return nil, err
	}
	telemetry, err := metadata.NewTelemetry(set.TelemetrySettings, set.ID)
	if err != nil {
		return nil, err
	}
	n := &spanNormalizer{telemetry: telemetry}
	n.lifted.New = func() any {
		l := newLifted("span")
		return &l
	}
	return n, nil
}

func (n *spanNormalizer) processTraces(ctx context.Context, td ptrace.Traces) (ptrace.Traces, error) {
	l := n.lifted.Get().(*lifted)
	defer n.lifted.Put(l)
	moved := int64(0)
	for _, rs := range td.ResourceSpans().All() {
		moved += l.take(rs.Resource().Attributes())
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				l.put(span.Attributes())
				n.bound(ctx, span.Attributes())
			}
		}
	}
	if moved > 0 {
		n.telemetry.AttributesMoved.Add(ctx, moved, n.telemetry.With())
	}
	return td, nil
}

// bound replaces values that are off their list.
func (n *spanNormalizer) bound(ctx context.Context, attrs pcommon.Map) {
	for key, set := range boundedAttributes {
		v, ok := attrs.Get(key)
		if !ok {
			continue
		}
		value := v.AsString()
		if v.Type() == pcommon.ValueTypeStr && trainrecord.Load().Bounded(set, value) == value {
			continue
		}
		v.SetStr(trainrecord.Other)
		n.telemetry.ValuesBounded.Add(ctx, 1, n.telemetry.With(attribute.String("attribute", set)))
	}
}
