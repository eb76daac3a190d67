package resultfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// item is one entry of a list or map of the result.
type item struct {
	name  string
	value any
}

// section is a list or map of the result which a limit may shorten from its end.
type section struct {
	key   string
	items []item
	isMap bool
}

type sections []section

// sections makes the long parts of a result, each in its own order.
func (r *result) sections() sections {
	st := r.state
	out := sections{
		{key: "metrics", isMap: true}, {key: "names", isMap: true}, {key: "non_finite", isMap: true},
		{key: "parts", items: partObjects(st), isMap: true},
		{key: "renamed_params", items: renamedObjects(r.params.Renamed), isMap: true},
		{key: "params_changes", items: changeObjects(st)},
		{key: "attempts", items: attemptObjects(st)},
		{key: "failures", items: failureObjects(st)},
		{key: "artifacts", items: artifactObjects(st, r.digests)},
		{key: "conflict_hosts", items: conflictObjects(st, r.dir)},
	}
	for _, m := range r.metrics {
		out[0].items = append(out[0].items, item{m.name, metricObject(m)})
		if m.path != m.name {
			out[1].items = append(out[1].items, item{m.name, m.path})
		}
		if m.series != nil && m.series.NonFinite > 0 {
			o := object{"count": m.series.NonFinite}
			put(o, "first_step", m.series.FirstNonFinite)
			out[2].items = append(out[2].items, item{m.name, o})
		}
	}
	out.limit("failures", maxFailures, r.cut)
	out.limit("artifacts", maxArtifacts, r.cut)
	return out
}

func (s sections) limit(key string, n int, cut *cuts) {
	for i := range s {
		if s[i].key == key && len(s[i].items) > n {
			s[i].cut(n, cut)
		}
	}
}

func (s *section) cut(n int, cut *cuts) {
	for _, it := range s.items[n:] {
		cut.add("result_"+s.key, it.name)
	}
	s.items = s.items[:n]
}

// fill puts the sections into the result; empty ones that have no place in it by themselves are left out.
func (s sections) fill(root object) {
	for _, sec := range s {
		switch {
		case sec.isMap:
			m := object{}
			for _, it := range sec.items {
				m[it.name] = it.value
			}
			if _, always := root[sec.key]; always || len(m) > 0 {
				root[sec.key] = m
			}
		case len(sec.items) > 0:
			list := make([]any, len(sec.items))
			for i, it := range sec.items {
				list[i] = it.value
			}
			root[sec.key] = list
		}
	}
}

// shrink halves the largest section; it answers false when nothing can be left out any more.
func (s sections) shrink(root object, cut *cuts) bool {
	largest, size := -1, 0
	for i, sec := range s {
		if len(sec.items) < 2 {
			continue
		}
		if n := len(appendJSON(nil, root[sec.key], 1)); n > size {
			largest, size = i, n
		}
	}
	if largest < 0 {
		return false
	}
	s[largest].cut(len(s[largest].items)/2, cut)
	s.fill(root)
	return true
}

func metricObject(m *metric) object {
	o := object{}
	put(o, "final", m.final)
	s := m.series
	if s == nil {
		return o
	}
	o["axis"], o["points"] = s.Axis.String(), s.Count
	o["last"], o["last_step"] = s.Last.V, s.Last.X
	if s.Min != nil {
		o["min"], o["min_step"] = s.Min.V, s.Min.X
	}
	if s.Max != nil {
		o["max"], o["max_step"] = s.Max.V, s.Max.X
	}
	put(o, "at_steps", stepsOf(s))
	if s.Sampled {
		o["sampled"] = true
	}
	if s.Thinned {
		o["thinned"] = true
	}
	if s.OtherRanks > 0 {
		o["other_ranks"] = s.OtherRanks
	}
	return o
}

func partObjects(st *trainrun.State) []item {
	out := make([]item, 0, len(st.Parts))
	names := map[string]bool{}
	for i := range st.Parts {
		p := &st.Parts[i]
		o := object{}
		put(o, "outcome", p.Outcome)
		put(o, "stop_reason", p.StopReason)
		put(o, "epochs", epochsObject(p.Epochs))
		put(o, "steps", stepsObject(p.Steps))
		put(o, "objective", objectiveObject(p.Objective))
		put(o, "best", bestObject(p.Best, st.Checkpoints))
		name := strings.ToValidUTF8(p.Name, "\uFFFD")
		if names[name] {
			name += "-" + hash(p.Name, 8)
		}
		names[name] = true
		out = append(out, item{name, o})
	}
	return out
}

func renamedObjects(renamed map[string]string) []item {
	out := make([]item, 0, len(renamed))
	for _, name := range slices.Sorted(maps.Keys(renamed)) {
		out = append(out, item{name, renamed[name]})
	}
	return out
}

func changeObjects(st *trainrun.State) []item {
	out := make([]item, 0, len(st.ParamsChanges))
	for _, c := range st.ParamsChanges {
		o := object{"attempt": c.Attempt, "key": cutText(c.Key, maxText)} // a key may be empty
		putTree(o, "old", c.Old)
		putTree(o, "new", c.New)
		out = append(out, item{fmt.Sprintf("%d %s", c.Attempt, c.Key), o})
	}
	return out
}

// putTree sets a parameter that is there; its texts are as short as those of params.yaml. A null is a known value, but
// results hold none: it is written as text.
func putTree(o object, key string, v trainrun.Tree) {
	switch v := v.(type) {
	case trainrun.Absent:
	case nil:
		o[key] = "null"
	case string:
		o[key] = cutText(v, maxParamText)
	case object, []any:
		o[key] = cutText(string(appendJSON(nil, v, 0)), maxParamText)
	default:
		o[key] = v
	}
}

// conflictObjects names the hosts and where their results are, the owner's first. When they wrote last is in their own results:
// a result that is final does not change while another host goes on.
func conflictObjects(st *trainrun.State, dir string) []item {
	c := st.Conflict
	if c == nil {
		return nil
	}
	out := make([]item, 0, len(c.Hosts))
	for i, h := range c.Hosts {
		o := object{"directory": dir}
		if i > 0 {
			o["directory"] = SideDirectory(dir, h.Host)
		}
		put(o, "host", h.Host)
		put(o, "first", clock(h.First))
		out = append(out, item{h.Host, o})
	}
	return out
}
