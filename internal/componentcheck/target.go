package componentcheck

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/receiver"
)

// target is a factory seen as the list of signals it can serve.
type target struct {
	class   string
	signals []signal
}

// signal is one way to create the component.
type signal struct {
	name      string
	stability component.StabilityLevel
	create    func(ctx context.Context, id component.ID, set component.TelemetrySettings, cfg component.Config) (component.Component, error)
}

// newTarget lists what the factory supports; unsupported signals are left out.
func newTarget(factory component.Factory) (target, error) {
	var tgt target
	switch f := factory.(type) {
	case receiver.Factory:
		tgt = target{class: "receiver", signals: receiverSignals(f)}
	case processor.Factory:
		tgt = target{class: "processor", signals: processorSignals(f)}
	case exporter.Factory:
		tgt = target{class: "exporter", signals: exporterSignals(f)}
	case connector.Factory:
		tgt = target{class: "connector", signals: connectorSignals(f)}
	default:
		return target{}, fmt.Errorf("%T is no receiver, processor, exporter or connector factory", factory)
	}
	var used []signal
	for _, sig := range tgt.signals {
		if sig.stability != component.StabilityLevelUndefined {
			used = append(used, sig)
		}
	}
	tgt.signals = used
	if len(used) == 0 {
		return target{}, fmt.Errorf("factory %s supports no signal", factory.Type())
	}
	return tgt, nil
}

// stabilities is the factory's answer in the form that metadata.yaml uses.
func (t target) stabilities() map[string]string {
	out := make(map[string]string, len(t.signals))
	for _, sig := range t.signals {
		out[sig.name] = strings.ToLower(sig.stability.String())
	}
	return out
}

// as turns a typed create function into one that returns a plain component.
func as[S any, C component.Component](
	settings func(component.ID, component.TelemetrySettings) S,
	create func(context.Context, S, component.Config) (C, error),
) func(context.Context, component.ID, component.TelemetrySettings, component.Config) (component.Component, error) {
	return func(ctx context.Context, id component.ID, set component.TelemetrySettings, cfg component.Config) (component.Component, error) {
		c, err := create(ctx, settings(id, set), cfg)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
}

// to fixes the next consumer of a create function that takes one.
func to[S, N, C any](
	next N, create func(context.Context, S, component.Config, N) (C, error),
) func(context.Context, S, component.Config) (C, error) {
	return func(ctx context.Context, set S, cfg component.Config) (C, error) { return create(ctx, set, cfg, next) }
}

func receiverSignals(f receiver.Factory) []signal {
	nop := consumertest.NewNop()
	settings := func(id component.ID, set component.TelemetrySettings) receiver.Settings {
		return receiver.Settings{ID: id, TelemetrySettings: set, BuildInfo: component.NewDefaultBuildInfo()}
	}
	return []signal{
		{"logs", f.LogsStability(), as(settings, to(nop, wide(f.CreateLogs)))},
		{"metrics", f.MetricsStability(), as(settings, to(nop, wide(f.CreateMetrics)))},
		{"traces", f.TracesStability(), as(settings, to(nop, wide(f.CreateTraces)))},
	}
}

func processorSignals(f processor.Factory) []signal {
	nop := consumertest.NewNop()
	settings := func(id component.ID, set component.TelemetrySettings) processor.Settings {
		return processor.Settings{ID: id, TelemetrySettings: set, BuildInfo: component.NewDefaultBuildInfo()}
	}
	return []signal{
		{"logs", f.LogsStability(), as(settings, to(nop, wide(f.CreateLogs)))},
		{"metrics", f.MetricsStability(), as(settings, to(nop, wide(f.CreateMetrics)))},
		{"traces", f.TracesStability(), as(settings, to(nop, wide(f.CreateTraces)))},
	}
}

func exporterSignals(f exporter.Factory) []signal {
	settings := func(id component.ID, set component.TelemetrySettings) exporter.Settings {
		return exporter.Settings{ID: id, TelemetrySettings: set, BuildInfo: component.NewDefaultBuildInfo()}
	}
	return []signal{
		{"logs", f.LogsStability(), as(settings, f.CreateLogs)},
		{"metrics", f.MetricsStability(), as(settings, f.CreateMetrics)},
		{"traces", f.TracesStability(), as(settings, f.CreateTraces)},
	}
}

func connectorSignals(f connector.Factory) []signal {
	nop := consumertest.NewNop()
	settings := func(id component.ID, set component.TelemetrySettings) connector.Settings {
		return connector.Settings{ID: id, TelemetrySettings: set, BuildInfo: component.NewDefaultBuildInfo()}
	}
	return []signal{
		{"logs_to_logs", f.LogsToLogsStability(), as(settings, to(nop, wide(f.CreateLogsToLogs)))},
		{"logs_to_metrics", f.LogsToMetricsStability(), as(settings, to(nop, wide(f.CreateLogsToMetrics)))},
		{"logs_to_traces", f.LogsToTracesStability(), as(settings, to(nop, wide(f.CreateLogsToTraces)))},
		{"metrics_to_logs", f.MetricsToLogsStability(), as(settings, to(nop, wide(f.CreateMetricsToLogs)))},
		{"metrics_to_metrics", f.MetricsToMetricsStability(), as(settings, to(nop, wide(f.CreateMetricsToMetrics)))},
		{"metrics_to_traces", f.MetricsToTracesStability(), as(settings, to(nop, wide(f.CreateMetricsToTraces)))},
		{"traces_to_logs", f.TracesToLogsStability(), as(settings, to(nop, wide(f.CreateTracesToLogs)))},
		{"traces_to_metrics", f.TracesToMetricsStability(), as(settings, to(nop, wide(f.CreateTracesToMetrics)))},
		{"traces_to_traces", f.TracesToTracesStability(), as(settings, to(nop, wide(f.CreateTracesToTraces)))},
	}
}

// wide lets consumertest.Consumer, which is every kind of consumer, stand for the kind that create asks for.
func wide[S, N, C any](
	create func(context.Context, S, component.Config, N) (C, error),
) func(context.Context, S, component.Config, consumertest.Consumer) (C, error) {
	return func(ctx context.Context, set S, cfg component.Config, next consumertest.Consumer) (C, error) {
		typed, ok := any(next).(N)
		if !ok {
			var none C
			return none, fmt.Errorf("%T is not the consumer that create wants", next)
		}
		return create(ctx, set, cfg, typed)
	}
}
