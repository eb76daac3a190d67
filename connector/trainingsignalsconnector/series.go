package trainingsignalsconnector

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// Attributes of resources that are not taken from records.
const (
	attrReplica  = "service.instance.id"
	attrOverflow = "otel.metric.overflow"
)

const maxResourceText = 256 // bytes of a value

// base is the attributes that all series of an attempt have.
type base struct {
	framework, family string
	extra             [maxExtraAttributes]string
}

type seriesKey struct {
	base

	instrument uint8
	own        string // value of the instrument's own attribute
}

// series is one series of points.
type series struct {
	seriesKey

	start int64 // of the series, and of the first window
	last  int64 // time of the last point that was taken, 0 before
	value value
	sent  value // what was counted then
	gone  bool  // a gauge that has nothing to show now
}

// group is a resource with its series.
type group struct {
	key    string
	attrs  pcommon.Map
	series map[seriesKey]*series
	order  []*series
	open   int   // attempts, as of the last look
	used   int64 // the last time it had one
	gone   bool  // it is forgotten
}

// table is all series.
type table struct {
	cfg    *Config
	kinds  *[instrumentCount]instrument
	groups map[string]*group
	order  []*group
	since  int64 // where a series that is new now begins: the tick before, or the start
	now    int64

	offList int64 // values of attempts that became other since the last report
}

func newTable(cfg *Config, start int64) *table {
	return &table{cfg: cfg, kinds: instruments(cfg), groups: map[string]*group{}, since: start, now: start}
}

// handle is what an attempt's transitions are counted on.
type handle struct {
	group *group
	base  base
	last  [instrumentCount]*series // that was counted on
}

// handle gives the one of an attempt. Its attributes are frozen by the time that anything is counted.
func (t *table) handle(c *trainrun.Course) *handle {
	if h, ok := c.Reader.(*handle); ok && !h.group.gone {
		return h
	}
	h := &handle{group: t.group(c.Source)}
	h.base.framework, h.base.family = c.Framework, t.cfg.family(c.Family)
	if h.base.framework == "" {
		h.base.framework = trainrecord.Other
	}
	for i := range t.cfg.ExtraAttributes {
		h.base.extra[i] = t.cfg.ExtraAttributes[i].value(c.Extra, i)
		if h.base.extra[i] != "" && h.base.extra[i] != c.Extra[i] {
			t.offList++
		}
	}
	if h.base.family != c.Family {
		t.offList++
	}
	c.Reader = h
	return h
}

// value bounds a parameter; one that is not there has none.
func (e *ExtraAttribute) value(from []string, i int) string {
	if i >= len(from) || from[i] == "" {
		return ""
	}
	if slices.Contains(e.Values, from[i]) {
		return from[i]
	}
	return trainrecord.Other
}

// group finds the resource of metrics of a record's resource; when there are too many, all further ones share one.
func (t *table) group(src *trainrun.Source) *group {
	attrs := pcommon.NewMap()
	var key strings.Builder
	for _, name := range t.cfg.ResourceAttributes {
		if src == nil {
			break
		}
		v, ok := src.Attributes.Get(name)
		if !ok || v.Type() == pcommon.ValueTypeEmpty {
			continue
		}
		text := v.AsString()
		if len(text) > maxResourceText {
			text = trainrecord.CutText([]byte(text), maxResourceText)
		}
		attrs.PutStr(name, text)
		key.WriteString(name + "\x00" + text + "\x00")
	}
	if g, ok := t.groups[key.String()]; ok {
		return g
	}
	if len(t.groups) >= t.cfg.Limits.Resources {
		attrs = pcommon.NewMap()
		attrs.PutBool(attrOverflow, true)
		if g, ok := t.groups[attrOverflow]; ok {
			return g
		}
		key.Reset()
		key.WriteString(attrOverflow)
	}
	if t.cfg.Replica != "" {
		attrs.PutStr(attrReplica, t.cfg.Replica)
	}
	return t.addGroup(key.String(), attrs)
}

func (t *table) addGroup(key string, attrs pcommon.Map) *group {
	g := &group{key: key, attrs: attrs, series: map[seriesKey]*series{}, used: t.now}
	t.groups[key] = g
	t.order = append(t.order, g)
	return g
}

// series finds a series, or begins it.
func (t *table) series(h *handle, instrument uint8, own string) *series {
	if s := h.last[instrument]; s != nil && s.own == own {
		return s
	}
	k := seriesKey{base: h.base, instrument: instrument, own: own}
	s, ok := h.group.series[k]
	if !ok {
		s = &series{seriesKey: k, start: t.since}
		h.group.series[k] = s
		h.group.order = append(h.group.order, s)
	}
	h.last[instrument] = s
	return s
}

// count adds to a series: seconds, or whole things.
func (t *table) count(h *handle, instrument uint8, own string, x float64, n int64) {
	t.series(h, instrument, own).value.add(&t.kinds[instrument], x, n)
}

// attributes writes those of a series, spelled with a namespace.
func (t *table) attributes(s *series, namespace string, to pcommon.Map) {
	to.EnsureCapacity(3 + len(t.cfg.ExtraAttributes))
	to.PutStr(spelled(trainrecord.AttrFramework, namespace), s.framework)
	if s.family != "" {
		to.PutStr(spelled(trainrecord.AttrTaskFamily, namespace), s.family)
	}
	for i := range t.cfg.ExtraAttributes {
		if s.extra[i] != "" {
			to.PutStr(t.cfg.ExtraAttributes[i].Key, s.extra[i])
		}
	}
	if own := t.kinds[s.instrument].own; own != "" {
		to.PutStr(namespace+"."+own, s.own)
	}
}

func (t *table) old(g *group) bool {
	return g.open == 0 && t.now-g.used >= int64(t.cfg.SeriesExpiry)
}

// expired lists the resources that had no attempt for long.
func (t *table) expired() []*group {
	var old []*group
	for _, g := range t.order {
		if t.old(g) {
			old = append(old, g)
		}
	}
	return old
}

func (t *table) forget(old []*group) {
	for _, g := range old {
		g.gone = true
		delete(t.groups, g.key)
	}
	t.order = slices.DeleteFunc(t.order, func(g *group) bool { return slices.Contains(old, g) })
}

// len is the number of series.
func (t *table) len() (n int) {
	for _, g := range t.order {
		n += len(g.order)
	}
	return n
}
