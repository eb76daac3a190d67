package trainingnormprocessor

import (
	"context"
	"slices"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/otel/attribute"

	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/processor/trainingnormprocessor/internal/metadata"
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

// spanNormalizer brings spans into the vocabulary.
type spanNormalizer struct {
	set       *trainprofile.Set
	namer     *namer
	workers   sync.Pool
	telemetry *metadata.Telemetry
}

// spanWorker is what one batch at a time uses.
type spanWorker struct {
	mapper *trainprofile.Mapper
	lifted lifted
}

func newSpanNormalizer(cfg *Config, set processor.Settings) (*spanNormalizer, error) {
	profiles, err := cfg.profiles()
	if err != nil {
		return nil, err
	}
	telemetry, err := metadata.NewTelemetry(set.TelemetrySettings, set.ID)
	if err != nil {
		return nil, err
	}
	n := &spanNormalizer{set: profiles, namer: newNamer(cfg), telemetry: telemetry}
	n.workers.New = func() any { return &spanWorker{mapper: trainprofile.NewMapper(nil), lifted: newLifted("span")} }
	return n, nil
}

func (n *spanNormalizer) processTraces(ctx context.Context, td ptrace.Traces) (ptrace.Traces, error) {
	w := n.workers.Get().(*spanWorker)
	defer n.workers.Put(w)
	moved, mapped := int64(0), int64(0)
	for _, rs := range td.ResourceSpans().All() {
		resource := rs.Resource().Attributes()
		n.namer.read(resource)
		moved += w.lifted.take(resource, w.mapper.Identities(n.set, resource))
		if !w.mapper.Concerns(n.set, resource) {
			resource = nothing
		}
		for _, ss := range rs.ScopeSpans().All() {
			n.namer.readScope(ss.Scope())
			it := trainprofile.Item{Resource: resource, Scope: ss.Scope().Name()}
			for _, span := range ss.Spans().All() {
				it.Attributes, it.Name = span.Attributes(), span.Name()
				n.namer.read(it.Attributes)
				mapped += n.span(ctx, w, span, it)
			}
		}
		n.name(rs)
	}
	if moved > 0 {
		n.telemetry.AttributesMoved.Add(ctx, moved, n.telemetry.With())
	}
	if mapped > 0 {
		n.telemetry.AttributesMapped.Add(ctx, mapped, n.telemetry.With())
	}
	return td, nil
}

// name writes the names of what the resource did, when nothing looks at them any more.
func (n *spanNormalizer) name(rs ptrace.ResourceSpans) {
	if n.namer == nil {
		return
	}
	n.namer.write(rs.Resource().Attributes())
	n.namer.writeSchema(rs)
	for _, ss := range rs.ScopeSpans().All() {
		n.namer.writeScope(ss, ss.Scope())
		for _, span := range ss.Spans().All() {
			n.namer.write(span.Attributes())
		}
	}
}

// span brings one span into the vocabulary; it gives the number of attributes that were set.
func (n *spanNormalizer) span(ctx context.Context, w *spanWorker, span ptrace.Span, it trainprofile.Item) int64 {
	training := trainprofile.IsTraining(it.Attributes)
	w.lifted.put(it.Attributes)
	out := w.mapper.MapAttributes(n.set, trainprofile.SignalSpan, it)
	for _, e := range out.Errors {
		n.telemetry.FieldErrors.Add(ctx, 1, n.telemetry.With(attribute.String("profile", e.Profile), attribute.String("reason", e.Reason)))
	}
	n.bound(ctx, it.Attributes)
	if training || out.Training {
		n.boundName(ctx, span)
	}
	return int64(out.Set)
}

// bound replaces values that are off their list; what was written is kept beside.
func (n *spanNormalizer) bound(ctx context.Context, attrs pcommon.Map) {
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
func (n *spanNormalizer) boundName(ctx context.Context, span ptrace.Span) {
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

func (n *spanNormalizer) countBounded(ctx context.Context, what string) {
	n.telemetry.ValuesBounded.Add(ctx, 1, n.telemetry.With(attribute.String("attribute", what)))
}

func putAbsent(attrs pcommon.Map, key, value string) {
	if v, found := attrs.GetOrPutEmpty(key); !found {
		v.SetStr(value)
	}
}
