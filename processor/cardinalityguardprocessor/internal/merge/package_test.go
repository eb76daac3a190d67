package merge

import (
	"flag"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
)

func TestMain(m *testing.M) { componentcheck.VerifyMain(m) }

// soak is how long each property is checked; zero: as many times as rapid is told.
var soak = flag.Duration("soak", 0, "how long each property is checked")

// property checks a property of generated histories.
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

// strip is a scrubber that knows one forbidden key.
type strip struct{}

func (strip) ScrubPoint(attrs pcommon.Map) bool { return attrs.Remove("run_id") }

func (strip) ScrubExemplars(exemplars pmetric.ExemplarSlice) {
	for _, e := range exemplars.All() {
		e.FilteredAttributes().Remove("run_id")
	}
}

// plain are rules that decide nothing, but for what a test sets.
type plain struct {
	gauge  GaugeRule
	rule   bool
	bounds []float64
	drop   bool
}

func (p plain) GaugeRule(string) (GaugeRule, bool) { return p.gauge, p.rule }
func (p plain) Bounds(string) []float64            { return p.bounds }
func (p plain) DropSummary(string) bool            { return p.drop }
func (p plain) SeriesLimit(string) int             { return 0 }
func (p plain) Cleaner() Cleaner                   { return forbids{plain: p} }

func testConfig() Config {
	return Config{
		FlushInterval: 15 * time.Second, GaugeStaleness: 5 * time.Minute, SourceExpiry: time.Hour, MaxFutureSkew: time.Minute,
		TrackNative: true, DeltaDedup: true, SeriesPerMetric: 2000, Series: 50_000, Sources: 100_000, Tombstones: 100_000,
	}
}

// sec is a time on the tests' scale.
func sec(n float64) int64 { return 1_800_000_000e9 + int64(n*1e9) }

// rig is an engine with a worker and what it sent.
type rig struct {
	*Engine
	batch  *Batch
	now    int64
	counts Counts
}

func newRig(cfg Config, rules Rules, began int64) *rig {
	r := &rig{Engine: New(cfg, rules, began), now: began}
	r.batch = r.NewBatch(strip{})
	return r
}

// feed gives what passes of a batch.
func (r *rig) feed(md pmetric.Metrics) pmetric.Metrics { return r.feedOf(md, r.Generation()) }

// feedOf is feed for a batch of a generation.
func (r *rig) feedOf(md pmetric.Metrics, generation uint32) pmetric.Metrics {
	heads := map[string][]Group{}
	var names []string
	for _, rm := range md.ResourceMetrics().All() {
		id := r.batch.Hasher.Resource(rm.Resource().Attributes())
		for _, sm := range rm.ScopeMetrics().All() {
			scope := r.batch.Hasher.Scope(sm.Scope())
			for _, m := range sm.Metrics().All() {
				metric := r.batch.Hasher.Metric(id, scope, m)
				if heads[m.Name()] == nil {
					names = append(names, m.Name())
				}
				heads[m.Name()] = append(heads[m.Name()], Group{Metric: m, Resource: rm.Resource(), Scope: sm.Scope(), Source: metric, Output: metric})
			}
		}
	}
	for _, name := range names {
		for _, g := range heads[name] {
			r.batch.Add(g)
		}
		r.batch.Apply(r.now, generation)
	}
	return md
}

// flush gives what a flush sends.
func (r *rig) flush() pmetric.Metrics {
	portions := r.Flush(r.now, &r.counts, false)
	r.Commit("")
	if len(portions) == 0 {
		return pmetric.NewMetrics()
	}
	return portions[0].Metrics
}
