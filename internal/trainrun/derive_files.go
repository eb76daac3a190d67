package trainrun

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

const maxChanges = 256

// launches takes what the run.start of the lowest rank and the newest attempt said, each thing from the first that says it.
func (d *deriver) launches() {
	st := d.st
	list := d.f.launches.merged(&byLaunches, each)
	for i := range list {
		l := &list[i].detail
		if st.Params == nil {
			st.Params = l.Params
		}
		if st.Git == nil && l.Git != nil {
			g := *l.Git
			st.Git = &g
		}
		if st.Command == "" {
			st.Command = l.Command
		}
		if st.Versions == nil {
			st.Versions = slices.Clone(l.Versions)
		}
		if st.TaskFamily == "" {
			st.TaskFamily = l.TaskFamily
		}
	}
	d.params()
	d.changes(list)
}

// changes compares the parameters of each attempt with those of the one before.
func (d *deriver) changes(list []*launch) {
	var prev map[string]paramLeaf
	var first *launch
	for _, l := range slices.Backward(list) {
		lead := list[0]
		if l.detail.Params == nil || l.at.rank != lead.at.rank || l.part != lead.part {
			continue
		}
		flat := map[string]paramLeaf{}
		flatten(flat, "", paramLeaf{value: l.detail.Params})
		if first != nil {
			d.diff(d.number(&l.at, l.part), prev, flat)
		}
		first, prev = l, flat
	}
}

// paramLeaf is a parameter that is no mapping or list, with its keys joined by points. Several may have one name: "a.b", and b in a.
type paramLeaf struct {
	name  string
	value Tree
}

// flatten lists the parameters by their keys, which no point in a key makes those of another one.
func flatten(out map[string]paramLeaf, keys string, p paramLeaf) {
	switch v := p.value.(type) {
	case map[string]any:
		for k, e := range v {
			flatten(out, keys+"."+strconv.Quote(k), paramLeaf{join(p.name, k), e})
		}
	case []any:
		for i, e := range v {
			k := strconv.Itoa(i)
			flatten(out, keys+"."+k, paramLeaf{join(p.name, k), e})
		}
	default:
		out[keys] = p
	}
}

func join(prefix, key string) string {
	if prefix == "" {
		return key
	}
	return prefix + "." + key
}

func (d *deriver) diff(attempt int64, before, after map[string]paramLeaf) {
	keys := sortedKeys(before)
	for k := range after {
		if _, ok := before[k]; !ok {
			keys = append(keys, k)
		}
	}
	name := func(k string) string {
		if p, ok := after[k]; ok {
			return p.name
		}
		return before[k].name
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(strings.Compare(name(a), name(b)), strings.Compare(a, b)) })
	for _, k := range keys {
		was, had := before[k]
		is, has := after[k]
		if had && has && sameLeaf(was.value, is.value) {
			continue
		}
		c := ParamsChange{Attempt: attempt, Key: name(k), Old: was.value, New: is.value}
		if !had {
			c.Old = Absent{}
		}
		if !has {
			c.New = Absent{}
		}
		if len(d.st.ParamsChanges) == maxChanges {
			d.truncate("params_changes", 1, "")
			continue
		}
		d.st.ParamsChanges = append(d.st.ParamsChanges, c)
	}
}

func sameLeaf(a, b Tree) bool {
	x, isFloat := a.(float64)
	y, alsoFloat := b.(float64)
	if isFloat && alsoFloat {
		return math.Float64bits(x) == math.Float64bits(y)
	}
	return a == b
}

func (d *deriver) files() {
	for i := range d.f.artifacts.items {
		t := d.f.artifacts.items[i].pick(newest)
		if d.f.texts.replaced(t.at.path, t.at.pos) {
			continue
		}
		a := t.value
		a.Size = copyInt(a.Size)
		d.st.Artifacts = append(d.st.Artifacts, a)
	}
	c := &d.st.Checkpoints
	c.Count = d.f.bestCheckpoints.total + d.f.checkpoints.total
	best := d.f.bestCheckpoints.merged(&bySaved, d.stands)
	if len(best) > 0 {
		c.Best = d.checkpoint(best[0])
	}
	if all := d.saves(); len(all) > 0 {
		c.Last = d.checkpoint(lastOf(all))
	}
}

// lastOf gives the newest of all checkpoints. When that is of kind best it is the newest of kind last, if there is one: a trainer whose
// last epoch is its best saves both, and may tell the best one last.
func lastOf(all []*saved) *saved {
	newest := all[0]
	if newest.Kind != kindBest {
		return newest
	}
	if i := slices.IndexFunc(all, func(s *saved) bool { return s.Kind == kindLast && s.part == newest.part }); i >= 0 {
		return all[i]
	}
	return newest
}

// stands says that no newer text took the place of a checkpoint's record.
func (d *deriver) stands(s *saved) bool { return !d.f.texts.replaced(s.at.path, s.at.pos) }

// saves gives the checkpoints that stand, of kind best and others, the newest first.
func (d *deriver) saves() []*saved {
	return bySaved.merged(slices.Concat(d.f.bestCheckpoints.merged(&bySaved, d.stands), d.f.checkpoints.merged(&bySaved, d.stands)))
}

// truncated lists what bounds left out.
func (d *deriver) truncated() {
	f := d.f
	for _, t := range []struct {
		what string
		s    *sketch
	}{
		{"series", &f.series.dropped}, {"parts", &f.parts.dropped}, {"hosts", &f.hosts.dropped}, {"ranks", &f.ranks.dropped},
		{"artifacts", &f.artifacts.dropped}, {"params", &f.told.dropped},
	} {
		d.truncate(t.what, t.s.count(), t.s.digest())
	}
	d.truncate("starts", f.starts.dropped(), "")
	d.truncate("ends", f.ends.dropped(), "")
	d.truncate("failures", f.failures.dropped(), "")
	d.truncate("checkpoints", f.bestCheckpoints.dropped()+f.checkpoints.dropped(), "")
	d.truncate("values", f.cut, "")
	d.truncate("identities", f.seen.hashes.forgotten, "")
	d.truncate("points", f.leftOut(), "")
	slices.SortFunc(d.st.Truncated, func(a, b Truncation) int { return compareText(a.What, b.What) })
}

func (d *deriver) truncate(what string, n int64, digest string) {
	if n == 0 {
		return
	}
	for i := range d.st.Truncated {
		if d.st.Truncated[i].What == what {
			d.st.Truncated[i].Count += n
			return
		}
	}
	d.st.Truncated = append(d.st.Truncated, Truncation{what, n, digest})
}
