package trainingnormprocessor

import (
	"context"
	"iter"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// boundedAttribute is an attribute of spans whose values belong to a set of the registry.
type boundedAttribute struct{ key, original, set string }

var boundedAttributes = [...]boundedAttribute{
	{trainrecord.AttrFramework, trainrecord.AttrFrameworkOriginal, "framework"},
	{trainrecord.AttrPhase, trainrecord.AttrPhaseOriginal, "phase"},
	{trainrecord.AttrTaskFamily, trainrecord.AttrTaskFamilyOriginal, "task_family"},
	{trainrecord.AttrRunOutcome, trainrecord.AttrRunOutcomeOriginal, "outcome"},
}

// spanNames is the set of the names of spans, and how a phase becomes one.
const (
	spanNames = "span_name"
	phaseSpan = "training."
)

// processTraces brings spans into the vocabulary.
func (n *itemNormalizer) processTraces(ctx context.Context, td ptrace.Traces) (ptrace.Traces, error) {
	n.normalize(ctx, spansIn(td), n.finishSpan)
	return td, nil
}

func spansIn(td ptrace.Traces) iter.Seq[resourceItems] {
	return func(yield func(resourceItems) bool) {
		for _, rs := range td.ResourceSpans().All() {
			scopes := func(yield func(scopeItems) bool) {
				for _, ss := range rs.ScopeSpans().All() {
					if !yield(scopeItems{scoped: ss, scope: ss.Scope(), items: spansOf(ss)}) {
						return
					}
				}
			}
			if !yield(resourceItems{scoped: rs, attributes: rs.Resource().Attributes(), scopes: scopes}) {
				return
			}
		}
	}
}

func spansOf(ss ptrace.ScopeSpans) iter.Seq[item] {
	return func(yield func(item) bool) {
		for _, span := range ss.Spans().All() {
			if !yield(item{name: span.Name(), attributes: span.Attributes(), span: span}) {
				return
			}
		}
	}
}

// finishSpan bounds the values of a span, and the name of a training's.
func (n *itemNormalizer) finishSpan(ctx context.Context, it item, training bool) {
	n.bound(ctx, it.attributes)
	if training {
		n.boundName(ctx, it.span)
	}
}

// bound replaces values that are off their list; what was written is kept beside.
func (n *itemNormalizer) bound(ctx context.Context, attrs pcommon.Map) {
	for _, b := range boundedAttributes {
		v, ok := attrs.Get(b.key)
		if !ok {
			continue
		}
		value := v.AsString()
		if v.Type() == pcommon.ValueTypeStr && trainrecord.Load().Bounded(b.set, value) == value {
			continue
		}
		v.SetStr(trainrecord.Other)
		putAbsent(attrs, b.original, value)
		n.countBounded(ctx, b.set)
	}
}

// boundName gives a span of a training a name of the list: that of its phase. Spans of another kind are calls of something
// else that only carry the training's attributes.
func (n *itemNormalizer) boundName(ctx context.Context, span ptrace.Span) {
	names := trainrecord.Load().Values[spanNames]
	if kind := span.Kind(); kind != ptrace.SpanKindInternal && kind != ptrace.SpanKindUnspecified || slices.Contains(names, span.Name()) {
		return
	}
	name := trainrecord.Other
	if phase := phaseSpan + text(span.Attributes(), trainrecord.AttrPhase); slices.Contains(names, phase) {
		name = phase
	}
	putAbsent(span.Attributes(), trainrecord.AttrSpanNameOriginal, span.Name())
	span.SetName(name)
	n.countBounded(ctx, spanNames)
}

func (n *itemNormalizer) countBounded(ctx context.Context, what string) {
	n.telemetry.ValuesBounded.Add(ctx, 1, n.telemetry.With(attribute.String("attribute", what)))
}

func putAbsent(attrs pcommon.Map, key, value string) {
	if v, found := attrs.GetOrPutEmpty(key); !found {
		v.SetStr(value)
	}
}
