package cardinalityguardprocessor

import (
	"context"
	"flag"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func TestMain(m *testing.M) { componentcheck.VerifyMain(m) }

// soak is how long each property is checked; zero: as many times as rapid is told.
var soak = flag.Duration("soak", 0, "how long each property is checked")

// property checks a property of generated batches.
func property(t *testing.T, check func(*rapid.T)) {
	t.Helper()
	t.Parallel()
	for began := time.Now(); ; {
		rapid.Check(t, check)
		if t.Failed() || time.Since(began) >= *soak {
			return
		}
	}
}

func TestComponent(t *testing.T) {
	componentcheck.Run(t, NewFactory(), componentcheck.WithFeed(telling))
}

// telling hands over points with every forbidden concept and name, on every level, and of every type that is dropped.
func telling(ctx context.Context, c component.Component) error {
	md := gaugeBatch("g", "run_id", "a", "b")
	rm := md.ResourceMetrics().At(0)
	sm := rm.ScopeMetrics().At(0)
	for _, p := range trainrecord.Load().ForbiddenPatterns() {
		rm.Resource().Attributes().PutStr(strings.Join(strings.Fields(p.Tokens), "_"), "a")
	}
	sm.Scope().Attributes().PutStr(trainrecord.AttrRunID, "a")
	m := sm.Metrics().At(0)
	m.Metadata().PutStr("run_id", "a")
	for _, p := range m.Gauge().DataPoints().All() {
		for range 9 {
			p.Exemplars().AppendEmpty().FilteredAttributes().PutStr("run_id", "a")
		}
	}
	cumulativeBatch("a").ResourceMetrics().MoveAndAppendTo(md.ResourceMetrics())
	gaugeBatch("loss_run_id_123", "k", "a").ResourceMetrics().MoveAndAppendTo(md.ResourceMetrics())
	histogram := sm.Metrics().AppendEmpty()
	histogram.SetName("h")
	histogram.SetEmptyHistogram().DataPoints().AppendEmpty()
	return c.(consumer.Metrics).ConsumeMetrics(ctx, md)
}
