package trainrun

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unsafe"
)

const gone = ^uint32(0) // the new number of something that a bound left out

// part holds what is known of a part beside its rows.
type part struct {
	name          string
	owner         int64 // lowest rank that reported a row
	plannedEpochs register[int64]
	plannedSteps  register[int64]
	objective     register[Objective] // of run.start
	reported      register[Objective] // best of epoch.end
	habit         register[Objective] // of the framework
	totals        [len(phaseNames)]phaseTotals
}

// Sources of a duration: it may be reported by steps, by the phase itself and by the epoch. They are the same time.
const (
	fromStep = iota
	fromPhase
	fromEpoch
	sourceCount
)

type phaseTotals [sourceCount]struct {
	rank  int64 // the lowest that reported it
	nanos int64
}

func (t *phaseTotals) add(source int, rank, nanos int64) {
	s := &t[source]
	switch {
	case s.nanos == 0 || rank < s.rank:
		s.rank, s.nanos = rank, nanos
	case rank == s.rank:
		s.nanos = saturated(s.nanos, nanos)
	default: // another rank's view of the same time
	}
}

// saturated adds two times that are not negative.
func saturated(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// nanos is the greatest of the sources.
func (t *phaseTotals) nanos() int64 {
	return max(t[fromStep].nanos, t[fromPhase].nanos, t[fromEpoch].nanos)
}

type partTable struct {
	items   []*part
	ids     map[string]uint32
	dropped sketch
}

func (t *partTable) get(name string, limit int) (id uint32, full bool) {
	if len(t.items) == 1 && t.items[0].name == name {
		return 0, false
	}
	if id, ok := t.ids[name]; ok {
		return id, false
	}
	if t.ids == nil {
		t.ids = map[string]uint32{}
	}
	id = uint32(len(t.items))
	t.ids[name] = id
	t.items = append(t.items, &part{name: name, owner: maxAttempt + 1})
	return id, len(t.items) > limit
}

// cut keeps the parts with the least names, sorted, and says which number each old number has now.
func (t *partTable) cut(limit int) (renumbered []uint32) {
	order := slices.Clone(t.items)
	slices.SortFunc(order, func(a, b *part) int { return compareText(a.name, b.name) })
	renumbered = make([]uint32, len(t.items))
	old := t.ids
	t.ids = make(map[string]uint32, min(len(order), limit))
	for i, p := range order {
		if i < limit {
			t.ids[p.name] = uint32(i)
			renumbered[old[p.name]] = uint32(i)
		} else {
			t.dropped.add(p.name)
			renumbered[old[p.name]] = gone
		}
	}
	t.items = order[:min(len(order), limit)]
	return renumbered
}

func (t *partTable) size() int64 {
	return int64(len(t.items)) * (int64(unsafe.Sizeof(part{})) + 64)
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// seriesKey names a series.
type seriesKey struct {
	part uint32
	axis Axis
	name string
}

// series holds what is known of a series beside its points.
type series struct {
	key       seriesKey
	owner     int64 // lowest rank that reported it
	values    int64 // of the owner
	nonFinite int64 // of the owner
	others    int64 // values of other ranks
	sampled   bool
}

type seriesTable struct {
	items   []series
	ids     map[seriesKey]uint32
	recent  []uint32 // numbers of the last row's values: the next row mostly has the same names
	dropped sketch
}

func (t *seriesTable) get(i int, k seriesKey, limit int) (id uint32, full bool) {
	if i < len(t.recent) && int(t.recent[i]) < len(t.items) && t.items[t.recent[i]].key == k {
		return t.recent[i], false
	}
	id, ok := t.ids[k]
	if !ok {
		if t.ids == nil {
			t.ids = map[seriesKey]uint32{}
		}
		id = uint32(len(t.items))
		t.ids[k] = id
		t.items = append(t.items, series{key: k, owner: maxAttempt + 1})
		full = len(t.items) > limit
	}
	if i < len(t.recent) {
		t.recent[i] = id
	} else if i == len(t.recent) {
		t.recent = append(t.recent, id)
	}
	return id, full
}

// priority keeps the usual objective when hostile names fill the table.
func priority(name string) int {
	if name == defaultObjective || name == "train/loss" {
		return 0
	}
	return 1
}

// compareSeries orders by part first: a part that a bound leaves out never displaces the series of one that stays.
func compareSeries(a, b *seriesKey, parts []*part) int {
	if d := compareText(parts[a.part].name, parts[b.part].name); d != 0 {
		return d
	}
	if d := priority(a.name) - priority(b.name); d != 0 {
		return d
	}
	if d := compareText(a.name, b.name); d != 0 {
		return d
	}
	return int(a.axis) - int(b.axis)
}

// cut keeps the series that room says, sorted, and says which number each old number has now. Parts are those before they were
// cut, and their new numbers.
func (t *seriesTable) cut(limit int, parts []*part, renumberedParts []uint32) (renumbered []uint32) {
	order := make([]int, len(t.items))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return compareSeries(&t.items[a].key, &t.items[b].key, parts) })
	stays := t.room(order, limit, parts, renumberedParts)
	renumbered = make([]uint32, len(t.items))
	items := make([]series, 0, min(len(order), limit))
	t.ids = make(map[seriesKey]uint32, cap(items))
	t.recent = t.recent[:0]
	for _, i := range order {
		s := t.items[i]
		if !stays[i] {
			t.dropped.add(sketchName(parts[s.key.part].name, s.key.name, s.key.axis))
			renumbered[i] = gone
			continue
		}
		s.key.part = renumberedParts[s.key.part]
		t.ids[s.key] = uint32(len(items))
		renumbered[i] = uint32(len(items))
		items = append(items, s)
	}
	t.items = items
	return renumbered
}

// room says which series stay when they are sorted and more than limit: part by part, first those that an objective may name.
// It looks at names alone: a series that stays in the end was never left out before, whatever the order of the records.
func (t *seriesTable) room(order []int, limit int, parts []*part, renumberedParts []uint32) (stays []bool) {
	first := make([]int, 0, len(order))
	for _, i := range order {
		if renumberedParts[t.items[i].key.part] != gone {
			first = append(first, i)
		}
	}
	if len(first) > limit {
		ranks := make([]int, len(t.items))
		for _, i := range first {
			ranks[i] = worth(t.items[i].key.name)
		}
		slices.SortStableFunc(first, func(a, b int) int {
			d := compareText(parts[t.items[a].key.part].name, parts[t.items[b].key.part].name)
			return cmp.Or(d, ranks[a]-ranks[b])
		})
		first = first[:limit]
	}
	stays = make([]bool, len(t.items))
	for _, i := range first {
		stays[i] = true
	}
	return stays
}

// worth is less the more likely a metric is what a run is judged by: the usual objective, then what has a goal by its name and
// no folders behind its phase (val/acc, reward), last the gradients and weights of a thousand layers.
func worth(name string) int {
	n := 2 * priority(name)
	if n == 0 {
		return n
	}
	if _, ok := Goal(name); !ok {
		n++
	}
	if strings.Contains(withoutPhase(name), "/") {
		n++
	}
	return n
}

// sketchName is what a series that was left out is counted by.
func sketchName(part, name string, axis Axis) string {
	return part + "\x00" + name + "\x00" + axis.String()
}

// leftOut says that a series of the name may have been left out. Of more than a sketch holds, nobody can tell.
func (t *seriesTable) leftOut(part, name string) bool {
	return len(t.dropped.hashes) >= sketchSize || slices.ContainsFunc([]Axis{AxisEpoch, AxisStep, AxisOrder}, func(a Axis) bool {
		return t.dropped.has(sketchName(part, name, a))
	})
}

func (t *seriesTable) size() int64 {
	n := int64(cap(t.items)) * int64(unsafe.Sizeof(series{}))
	for i := range t.items {
		n += 2*int64(len(t.items[i].key.name)) + 64
	}
	return n
}
