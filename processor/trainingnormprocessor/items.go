package trainingnormprocessor

import (
	"context"
	"iter"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/otel/attribute"

	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/processor/trainingnormprocessor/internal/metadata"
)

// itemNormalizer brings the attributes of spans or data points into the vocabulary.
type itemNormalizer struct {
	signal    trainprofile.Signal
	set       *trainprofile.Set
	namer     *namer
	workers   sync.Pool
	telemetry *metadata.Telemetry
}

// itemWorker is what one batch at a time uses.
type itemWorker struct {
	mapper *trainprofile.Mapper
	lifted lifted
}

// resourceItems are a resource and what it describes, in any signal.
type resourceItems struct {
	scoped
	attributes pcommon.Map
	scopes     iter.Seq[scopeItems]
}

type scopeItems struct {
	scoped
	scope pcommon.InstrumentationScope
	items iter.Seq[item]
}

// item is a data point with the name of its metric, or a span.
type item struct {
	name       string
	attributes pcommon.Map
	span       ptrace.Span
}

// newItemNormalizer makes one; of the attributes of resources it moves those of a signal's name in the registry.
func newItemNormalizer(cfg *Config, set processor.Settings, signal trainprofile.Signal, moves string) (*itemNormalizer, error) {
	profiles, err := cfg.profiles()
	if err != nil {
		return nil, err
	}
	telemetry, err := metadata.NewTelemetry(set.TelemetrySettings, set.ID)
	if err != nil {
		return nil, err
	}
	n := &itemNormalizer{signal: signal, set: profiles, namer: newNamer(cfg), telemetry: telemetry}
	n.workers.New = func() any {
		w := &itemWorker{mapper: trainprofile.NewMapper(nil)}
		if moves != "" {
			w.lifted = newLifted(moves)
		}
		return w
	}
	return n, nil
}

// normalize maps a batch; finish, if not nil, sees each item when its attributes are mapped, and whether it was or is a training's.
func (n *itemNormalizer) normalize(ctx context.Context, batch iter.Seq[resourceItems], finish func(ctx context.Context, it item, training bool)) {
	w := n.workers.Get().(*itemWorker)
	defer n.workers.Put(w)
	moved, mapped := int64(0), int64(0)
	for r := range batch {
		resource := r.attributes
		n.namer.read(resource)
		if w.lifted.keys != nil {
			moved += w.lifted.take(resource, w.mapper.Identities(n.set, resource))
		}
		if !w.mapper.Concerns(n.set, resource) {
			resource = nothing
		}
		for s := range r.scopes {
			n.namer.readScope(s.scope)
			in := trainprofile.Item{Resource: resource, Scope: s.scope.Name()}
			for it := range s.items {
				in.Name, in.Attributes = it.name, it.attributes
				n.namer.read(it.attributes)
				training := trainprofile.IsTraining(it.attributes)
				if w.lifted.keys != nil {
					w.lifted.put(it.attributes)
				}
				out := w.mapper.MapAttributes(n.set, n.signal, in)
				mapped += int64(out.Set)
				for _, e := range out.Errors {
					n.telemetry.FieldErrors.Add(ctx, 1, n.telemetry.With(attribute.String("profile", e.Profile), attribute.String("reason", e.Reason)))
				}
				if finish != nil {
					finish(ctx, it, training || out.Training)
				}
			}
		}
		n.name(r)
	}
	if moved > 0 {
		n.telemetry.AttributesMoved.Add(ctx, moved, n.telemetry.With())
	}
	if mapped > 0 {
		n.telemetry.AttributesMapped.Add(ctx, mapped, n.telemetry.With())
	}
}

// name writes the names of what a resource did, when nothing looks at them any more.
func (n *itemNormalizer) name(r resourceItems) {
	if n.namer == nil {
		return
	}
	n.namer.write(r.attributes)
	n.namer.writeSchema(r)
	for s := range r.scopes {
		n.namer.writeScope(s, s.scope)
		for it := range s.items {
			n.namer.write(it.attributes)
		}
	}
}
