package trainingsignalsconnector

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer"

	"github.com/pathologize/otelcol-train/connector/trainingsignalsconnector/internal/metadata"
)

// NewFactory returns the factory of training_signals. The signals of one id share a core.
func NewFactory() connector.Factory {
	shared := &cores{byID: map[component.ID]*sharedCore{}}
	return connector.NewFactory(
		metadata.Type,
		createDefaultConfig,
		connector.WithLogsToMetrics(shared.toMetrics, metadata.LogsToMetricsStability),
		connector.WithLogsToTraces(shared.toTraces, metadata.LogsToTracesStability),
	)
}

// cores holds the core of each id.
type cores struct {
	mu   sync.Mutex
	byID map[component.ID]*sharedCore
}

func (s *cores) toMetrics(_ context.Context, set connector.Settings, cfg component.Config, next consumer.Metrics) (connector.Logs, error) {
	return s.port(set, cfg.(*Config), func(c *core) { c.metrics = next })
}

func (s *cores) toTraces(_ context.Context, set connector.Settings, cfg component.Config, next consumer.Traces) (connector.Logs, error) {
	return s.port(set, cfg.(*Config), func(c *core) { c.traces = next })
}
