package trainingsignalsconnector

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// storedState is everything but the records that wait, which the journal keeps. The state of runs and the spans, as OTLP, stand behind it as they are.
type storedState struct {
	Stamp  int64
	Shape  string   // of series, as configured
	Params []string // whose values attempts carry
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
	st := storedState{Stamp: c.stamp, Shape: c.cfg.shape(), Params: c.cfg.params()}
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
	head, _ := json.Marshal(st)                                                         // numbers and texts only
	spans, _ := (&ptrace.ProtoMarshaler{}).MarshalTraces(c.spans.copy(c.spans.waiting)) // of data in memory
	var b []byte
	for _, part := range [][]byte{head, c.live.Snapshot(), spans} {
		b = append(binary.AppendUvarint(slices.Grow(b, len(part)+binary.MaxVarintLen64), uint64(len(part))), part...)
	}
	return b
}

// parts takes a snapshot apart.
func parts(b []byte) (list [3][]byte, err error) {
	for i := range list {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) {
			return list, errDamaged
		}
		list[i], b = b[used:used+int(n)], b[used+int(n):]
	}
	return list, nil
}

// load reads a snapshot. A histogram whose bounds are others now begins anew.
func (c *core) load(b []byte) error {
	list, err := parts(b)
	if err != nil {
		return err
	}
	var st storedState
	if err := json.Unmarshal(list[0], &st); err != nil {
		return errors.Join(errDamaged, err)
	}
	if err := c.live.Restore(list[1]); err != nil {
		return errors.Join(errDamaged, err)
	}
	c.stamp, c.known.shape, c.known.params = st.Stamp, st.Shape, st.Params
	if st.Shape == "" { // of a version that did not say it
		c.known.params = c.cfg.params()
	}
	c.live.Courses(func(k *trainrun.Course) { k.Extra = c.reshape(k.Extra) })
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
	return c.loadSpans(list[2])
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
