package trainingsignalsconnector

import (
	"encoding/json"
	"errors"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// storedState is everything but the records that wait, which the journal keeps.
type storedState struct {
	Stamp  int64
	Live   []byte
	Spans  []byte // OTLP, one resource a span
	Groups []storedGroup
}

type storedGroup struct {
	Key    string
	Attrs  map[string]any
	Used   int64
	Series []storedSeries
}

type storedSeries struct {
	Metric            string
	Framework, Family string
	Extra             [maxExtraAttributes]string
	Own               string
	Start, Last       int64
	Bounds            []float64
	Value, Sent       storedValue
}

type storedValue struct {
	N       int64
	X       float64
	Buckets []uint64
}

func (c *core) snapshot() []byte {
	st := storedState{Stamp: c.stamp, Live: c.live.Snapshot()}
	td := ptrace.NewTraces()
	for _, q := range c.spans.waiting {
		rs := td.ResourceSpans().AppendEmpty()
		if q.source != nil {
			q.source.Attributes.CopyTo(rs.Resource().Attributes())
		}
		q.span.CopyTo(rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty())
	}
	st.Spans, _ = (&ptrace.ProtoMarshaler{}).MarshalTraces(td) // of data in memory
	for _, g := range c.table.order {
		sg := storedGroup{Key: g.key, Attrs: g.attrs.AsRaw(), Used: g.used}
		for _, s := range g.order {
			in := &c.table.kinds[s.instrument]
			sg.Series = append(sg.Series, storedSeries{
				Metric: in.name, Framework: s.framework, Family: s.family, Extra: s.extra, Own: s.own, Start: s.start, Last: s.last, Bounds: in.bounds,
				Value: storedValue{s.value.n, s.value.x, s.value.buckets}, Sent: storedValue{s.sent.n, s.sent.x, s.sent.buckets},
			})
		}
		st.Groups = append(st.Groups, sg)
	}
	b, _ := json.Marshal(st) // numbers and texts only
	return b
}

// load reads a snapshot. A histogram whose bounds are others now begins anew.
func (c *core) load(b []byte) error {
	var st storedState
	if err := json.Unmarshal(b, &st); err != nil {
		return errors.Join(errDamaged, err)
	}
	if err := c.live.Restore(st.Live); err != nil {
		return errors.Join(errDamaged, err)
	}
	c.stamp = st.Stamp
	for _, sg := range st.Groups {
		attrs := pcommon.NewMap()
		if err := attrs.FromRaw(sg.Attrs); err != nil {
			return errors.Join(errDamaged, err)
		}
		g := c.table.addGroup(sg.Key, attrs)
		g.used = sg.Used
		for i := range sg.Series {
			c.table.restore(g, &sg.Series[i])
		}
	}
	return c.loadSpans(st.Spans)
}

func (t *table) restore(g *group, st *storedSeries) {
	for i := range t.kinds {
		in := &t.kinds[i]
		if in.name != st.Metric || !equalBounds(in.bounds, st.Bounds) {
			continue
		}
		k := seriesKey{base: base{st.Framework, st.Family, st.Extra}, instrument: uint8(i), own: st.Own}
		s := &series{
			seriesKey: k, start: st.Start, last: st.Last,
			value: value{st.Value.N, st.Value.X, st.Value.Buckets}, sent: value{st.Sent.N, st.Sent.X, st.Sent.Buckets},
		}
		g.series[k] = s
		g.order = append(g.order, s)
	}
}

func equalBounds(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (c *core) loadSpans(b []byte) error {
	td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(b)
	if err != nil {
		return errors.Join(errDamaged, err)
	}
	for _, rs := range td.ResourceSpans().All() {
		src := &trainrun.Source{Attributes: rs.Resource().Attributes()}
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				c.spans.waiting = append(c.spans.waiting, queued{src, span})
			}
		}
	}
	return nil
}
