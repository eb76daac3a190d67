package trainrun

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"unsafe"
)

// attemptTimes are the first and last event time of the records with an attempt number.
type attemptTimes struct{ number, first, last int64 }

// attemptTable holds the newest attempts, the newest first.
type attemptTable []attemptTimes

// get answers that the number is new where it is.
func (t *attemptTable) get(number int64, limit int) (a *attemptTimes, added bool) {
	i := sort.Search(len(*t), func(i int) bool { return (*t)[i].number <= number })
	if i < len(*t) && (*t)[i].number == number {
		return &(*t)[i], false
	}
	if i >= limit {
		return nil, false
	}
	*t = slices.Insert(*t, i, attemptTimes{number: number})
	if len(*t) > limit {
		*t = (*t)[:limit]
	}
	return &(*t)[i], true
}

// newest says that a number is among the n greatest.
func (t attemptTable) newest(number int64, n int) bool {
	return len(t) > 0 && number >= t[min(n, len(t))-1].number
}

// rankTable holds, by rank, how many values are of each level: what thinning is computed from. It
// counts every value that the rank reported, so that it does not depend on who owns a series by now.
type rankTable struct {
	items   []rankCounts // by rank
	recent  int
	dropped sketch
}

type rankCounts struct {
	rank        int64
	epoch, step [64]uint32
}

func (t *rankTable) get(rank int64, limit int) *rankCounts {
	if t.recent < len(t.items) && t.items[t.recent].rank == rank {
		return &t.items[t.recent]
	}
	i, found := slices.BinarySearchFunc(t.items, rank, compareRank)
	if !found {
		if i >= limit {
			t.dropped.add(rankName(rank))
			return nil
		}
		t.items = slices.Insert(t.items, i, rankCounts{rank: rank})
		if n := len(t.items); n > limit {
			t.dropped.add(rankName(t.items[n-1].rank))
			t.items = t.items[:n-1]
		}
	}
	t.recent = i
	return &t.items[i]
}

func compareRank(a rankCounts, rank int64) int { return cmp.Compare(a.rank, rank) }

func rankName(rank int64) string {
	var b [20]byte
	n := len(b)
	for {
		n--
		b[n] = byte('0' + rank%10)
		if rank /= 10; rank == 0 {
			return string(b[n:])
		}
	}
}

func (t *rankTable) size() int64 { return int64(cap(t.items)) * int64(unsafe.Sizeof(rankCounts{})) }

// levels says from which level on values are kept. Half of the points belongs to epochs, half to
// steps, and what one side does not need goes to the other. A level never falls when records come.
func (c *rankCounts) levels(limit int) (epoch, step int) {
	epochs, steps := sum(&c.epoch), sum(&c.step)
	return level(&c.epoch, max(limit/2, limit-steps)), level(&c.step, max(limit/2, limit-epochs))
}

func sum(counts *[64]uint32) (n int) {
	for _, c := range counts {
		n += int(c)
	}
	return n
}

// level is the least k for which no more than limit values are of level k or more.
func level(counts *[64]uint32, limit int) int {
	n := 0
	for k := len(counts) - 1; k >= 0; k-- {
		n += int(counts[k])
		if n > limit {
			return k + 1
		}
	}
	return 0
}

// lostHost stands for all hosts beyond the bound.
const lostHost = math.MaxUint16

// hostTable numbers hosts; number 0 is no host.
type hostTable struct {
	names   []string
	ids     map[string]uint32
	dropped sketch
}

func (t *hostTable) reset() {
	t.names, t.ids = []string{""}, map[string]uint32{}
}

// name gives the name of a number, "" for a host beyond the bound.
func (t *hostTable) name(id uint16) string {
	if int(id) >= len(t.names) {
		return ""
	}
	return t.names[id]
}

// get answers the number of a host. full asks the caller to compact.
func (t *hostTable) get(name string, limit int) (id uint32, full bool) {
	if name == "" {
		return 0, false
	}
	if id, ok := t.ids[name]; ok {
		return id, false
	}
	id = uint32(len(t.names))
	t.names = append(t.names, name)
	t.ids[name] = id
	return id, len(t.names) > limit
}

// cut keeps the least names and says which number each old number has now.
func (t *hostTable) cut(limit int) (renumbered []uint32) {
	order := slices.Clone(t.names[1:])
	slices.Sort(order)
	old := t.names
	t.reset()
	for _, name := range order[:min(len(order), limit)] {
		t.ids[name] = uint32(len(t.names))
		t.names = append(t.names, name)
	}
	for _, name := range order[min(len(order), limit):] {
		t.dropped.add(name)
	}
	renumbered = make([]uint32, len(old))
	for i, name := range old {
		id, ok := t.ids[name]
		if !ok && name != "" {
			id = lostHost
		}
		renumbered[i] = id
	}
	return renumbered
}
