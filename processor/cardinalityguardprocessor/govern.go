package cardinalityguardprocessor

import (
	"context"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
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

// Cleaner brings series under the policy that were written under another one.
func (r mergeRules) Cleaner() merge.Cleaner {
	if r.Mode() != policy.Enforce {
		return nil
	}
	w := &worker{silent: true}
	w.obey(&government{policy: r.Policy})
	return cleaner{w}
}

// cleaner is a worker that counts nothing: what it removes was counted when its points came.
type cleaner struct{ *worker }

// Metric cleans what the series of a metric share.
func (c cleaner) Metric(res pcommon.Resource, scope pcommon.InstrumentationScope, m pmetric.Metric) (stays, changed bool) {
	n := c.of(m.Name())
	c.look, c.metric = n.lens, ""
	if n.Reject != 0 || n.Single || (c.refuses(res.Attributes(), policy.Resource)|c.refuses(scope.Attributes(), policy.Scope)) != 0 {
		return false, false
	}
	c.scrubEntities(res)
	onResource, onScope := c.scrub(res.Attributes(), policy.Resource), c.scrub(scope.Attributes(), policy.Scope)
	c.metric = m.Name()
	c.scrub(m.Metadata(), policy.Metadata)
	return true, onResource || onScope
}

// Rejects says whether the policy drops a point for a value of it.
func (c cleaner) Rejects(attrs pcommon.Map) bool { return c.policy.DropsPoints() && c.rejects(attrs) }

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
