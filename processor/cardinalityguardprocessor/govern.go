package cardinalityguardprocessor

import (
	"context"

	"go.opentelemetry.io/otel/attribute"

	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/merge"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/metadata"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// government is a policy in force and what was made for it. It is replaced as a whole.
type government struct {
	policy     *policy.Policy
	report     *reporter
	generation uint32 // of the engine's rules
}

// mergeRules is what a policy says about merging.
type mergeRules struct{ *policy.Policy }

// gaugeRules are the rules of gauges as the engine knows them.
var gaugeRules = map[policy.Gauge]merge.GaugeRule{
	policy.Last: merge.Last, policy.Mean: merge.Mean, policy.Min: merge.Min, policy.Max: merge.Max, policy.Total: merge.Total, policy.Drop: merge.Drop,
}

// GaugeRule says how a gauge merges.
func (r mergeRules) GaugeRule(metric string) (rule merge.GaugeRule, decided bool) {
	g, decided := r.Policy.GaugeRule(metric)
	return gaugeRules[g], decided
}

// govern puts a policy in force. Calls do not overlap.
func (g *guard) govern(p *policy.Policy) {
	if before := g.government.Load(); before != nil {
		p.Inherit(before.policy)
		g.engine.SetRules(mergeRules{p})
	}
	g.government.Store(&government{policy: p, report: newReporter(g.merges.telemetry, p), generation: g.engine.Generation()})
}

var modeNames = map[policy.Mode]string{policy.Enforce: "enforce", policy.Audit: "audit", policy.Off: "off"}

func tellPolicy(t *metadata.Telemetry, p *policy.Policy, n int64) {
	t.PolicyInfo.Record(context.Background(), n,
		t.With(attribute.String("version", p.Version()), attribute.String("mode", modeNames[p.Mode()])))
}
