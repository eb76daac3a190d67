package cardinalityguardprocessor

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processorhelper"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/metadata"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// NewFactory returns the factory of cardinality_guard.
func NewFactory() processor.Factory {
	return processor.NewFactory(
		metadata.Type,
		createDefaultConfig,
		processor.WithMetrics(createMetrics, metadata.MetricsStability),
	)
}

func createMetrics(
	ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Metrics,
) (processor.Metrics, error) {
	g, err := newGuard(cfg.(*Config), policy.Default(), set, next, time.Now)
	if err != nil {
		return nil, err
	}
	return processorhelper.NewMetrics(ctx, set, cfg, next, g.processMetrics,
		processorhelper.WithStart(g.start), processorhelper.WithShutdown(g.shutdown),
		processorhelper.WithCapabilities(consumer.Capabilities{MutatesData: true}))
}
