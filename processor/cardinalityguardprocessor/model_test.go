package cardinalityguardprocessor

import (
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// The model says in the plainest way what the guard must give for one batch: it works on rows of Go values, keeps
// nothing in place and knows the forbidden keys of the generator by heart.

var modelForbidden = map[string]bool{"run_id": true, "mlflow.runId": true, "epoch": true}

type row struct {
	res, scope, attrs map[string]any
	head, tail        string // of the series: scope name, metric, type
	kind              string // gauge, delta, writer, other
	point             flatPoint
	number            pmetric.NumberDataPoint
}

// strip removes forbidden keys at every depth.
func strip(m map[string]any) (map[string]any, bool) {
	out, found := map[string]any{}, false
	for k, v := range m {
		if modelForbidden[k] {
			found = true
			continue
		}
		stripped, inside := stripValue(v)
		out[k] = stripped
		found = found || inside
	}
	return out, found
}

func stripValue(v any) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return strip(v)
	case []any:
		out, found := make([]any, len(v)), false
		for i := range v {
			var inside bool
			out[i], inside = stripValue(v[i])
			found = found || inside
		}
		return out, found
	}
	return v, false
}

func (r *row) series(res, scope, attrs map[string]any) string {
	return fmt.Sprintf("%#v%s%#v%s%#v", res, r.head, scope, r.tail, attrs)
}

func (r *row) source() string { return r.series(r.res, r.scope, r.attrs) }

func (r *row) output() (string, bool) {
	res, a := strip(r.res)
	scope, b := strip(r.scope)
	attrs, c := strip(r.attrs)
	return r.series(res, scope, attrs), a || b || c
}

func rowsOf(md pmetric.Metrics) []*row {
	var rows []*row
	for _, rm := range md.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				temporality, monotonic := temporality(m)
				for i, p := range flattenPoints(m) {
					r := &row{
						res: rm.Resource().Attributes().AsRaw(), scope: sm.Scope().Attributes().AsRaw(), point: p, kind: "other",
						head: fmt.Sprint("|", sm.Scope().Name(), "|", sm.Scope().Version(), "|"),
						tail: fmt.Sprint("|", m.Name(), "|", m.Unit(), "|", m.Type(), "|", temporality, "|", monotonic, "|"),
					}
					switch m.Type() {
					case pmetric.MetricTypeGauge:
						r.kind = "gauge"
					case pmetric.MetricTypeSum:
						if temporality == pmetric.AggregationTemporalityDelta {
							r.kind = "delta"
						}
					}
					if strings.HasPrefix(m.Name(), "DCGM_FI_") {
						r.kind = "writer"
					}
					r.attrs, r.number = attributesAt(m, i)
					rows = append(rows, r)
				}
			}
		}
	}
	return rows
}

func attributesAt(m pmetric.Metric, i int) (map[string]any, pmetric.NumberDataPoint) {
	if m.Type() == pmetric.MetricTypeHistogram {
		return m.Histogram().DataPoints().At(i).Attributes().AsRaw(), pmetric.NewNumberDataPoint()
	}
	p := numbers(m).At(i)
	return p.Attributes().AsRaw(), p
}

// expect gives the points that must come out.
func expect(md pmetric.Metrics) []flatPoint {
	groups := map[string][]*row{}
	touched := map[string]bool{}
	var order []string
	for _, r := range rowsOf(md) {
		output, is := r.output()
		if groups[output] == nil {
			order = append(order, output)
		}
		groups[output] = append(groups[output], r)
		touched[output] = touched[output] || is
	}
	var out []flatPoint
	for _, output := range order {
		rows := groups[output]
		if touched[output] {
			rows = merged(rows)
		}
		for _, r := range rows {
			r.point.series, r.point.metadata = output, set(pcommon.NewMap())
			out = append(out, r.point)
		}
	}
	slices.SortFunc(out, func(a, b flatPoint) int {
		return slices.Compare([]string{a.series, fmt.Sprint(a)}, []string{b.series, fmt.Sprint(b)})
	})
	return out
}

func live(r *row) bool { return !r.number.Flags().NoRecordedValue() }

func merged(rows []*row) []*row {
	native := slices.DeleteFunc(slices.Clone(rows), func(r *row) bool { _, is := r.output(); return is })
	switch rows[0].kind {
	case "other":
		return native
	case "writer":
		return lastOfEachTime(rows)
	}
	living := slices.DeleteFunc(slices.Clone(rows), func(r *row) bool { return !live(r) })
	if !slices.ContainsFunc(living, func(r *row) bool { _, is := r.output(); return is }) {
		return native
	}
	if rows[0].kind == "gauge" {
		return []*row{lastGauge(living)}
	}
	return []*row{addDeltas(living)}
}

func lastOfEachTime(rows []*row) []*row {
	var out []*row
	for i, r := range rows {
		beaten := false
		for j, other := range rows {
			if other.point.time != r.point.time || i == j {
				continue
			}
			beaten = beaten || (live(other) && !live(r)) || (live(other) == live(r) && j > i)
		}
		if !beaten {
			out = append(out, r)
		}
	}
	return out
}

func value(p pmetric.NumberDataPoint) float64 {
	if p.ValueType() == pmetric.NumberDataPointValueTypeInt {
		return float64(p.IntValue())
	}
	return p.DoubleValue()
}

func lastGauge(rows []*row) *row {
	best := rows[0]
	for _, r := range rows[1:] {
		same := r.point.time == best.point.time
		larger := value(r.number) > value(best.number) ||
			(value(r.number) == value(best.number) && r.number.ValueType() > best.number.ValueType()) // a tie: the double
		if r.point.time > best.point.time || (same && larger) {
			best = r
		}
	}
	out := *best
	out.point.start = 0
	return &out
}

func addDeltas(rows []*row) *row {
	smallest := map[string]*row{}
	var kept []*row
	for _, r := range rows {
		key := fmt.Sprint(r.source(), r.point.start, r.point.time)
		if r.point.start == 0 {
			kept = append(kept, r)
		} else if other := smallest[key]; other == nil || value(r.number) < value(other.number) {
			smallest[key] = r
		}
	}
	for _, r := range smallest {
		kept = append(kept, r)
	}
	out := *kept[0]
	whole, fraction, double := int64(0), 0.0, false
	for _, r := range kept {
		out.point.start = min(out.point.start, r.point.start)
		out.point.time = max(out.point.time, r.point.time)
		if r.number.ValueType() == pmetric.NumberDataPointValueTypeInt {
			whole += r.number.IntValue()
		} else {
			fraction += r.number.DoubleValue()
			double = true
		}
	}
	p := pmetric.NewNumberDataPoint()
	if double {
		p.SetDoubleValue(float64(whole) + fraction)
	} else {
		p.SetIntValue(whole)
	}
	out.point.value = fmt.Sprint(p.ValueType(), p.IntValue(), p.DoubleValue(), p.Flags())
	return &out
}
