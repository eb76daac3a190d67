package trainrun

import (
	"cmp"
	"slices"
	"sort"
)

// sorting says how a list of things that records told is ordered: by what they are first, then, within a stream, by place.
type sorting[T any] struct {
	at    func(*T) *stamp
	lead  func(a, b *T) int
	first bool // within a stream the earliest come first, else the latest
}

// compare puts things of equal lead stream by stream.
func (o *sorting[T]) compare(a, b *T) int {
	x, y := o.at(a), o.at(b)
	return cmp.Or(o.lead(a, b), x.compareStream(y), o.within(x, y))
}

func (o *sorting[T]) within(x, y *stamp) int {
	if o.first {
		return x.compareWithin(y)
	}
	return y.compareWithin(x)
}

// across orders things of different streams by time, of which 0 is before all others.
func (o *sorting[T]) across(x, y *stamp) int {
	if o.first {
		return x.compareAcross(y)
	}
	return y.compareAcross(x)
}

// merged gives the things in the order in which they count: of each stream the next one by place, and of those of all streams
// the next one by time. A pairwise comparison by both would go round in circles.
func (o *sorting[T]) merged(list []*T) []*T {
	slices.SortFunc(list, o.compare)
	out := make([]*T, 0, len(list))
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && o.lead(list[from], list[to]) == 0 {
			to++
		}
		out = o.merge(out, list[from:to])
		from = to
	}
	return out
}

func (o *sorting[T]) merge(out []*T, list []*T) []*T {
	var streams [][]*T
	for from, i := 0, 1; i <= len(list); i++ {
		if i == len(list) || o.at(list[from]).compareStream(o.at(list[i])) != 0 {
			streams = append(streams, list[from:i])
			from = i
		}
	}
	for len(streams) > 1 {
		next := 0
		for i := range streams {
			if o.across(o.at(streams[i][0]), o.at(streams[next][0])) < 0 {
				next = i
			}
		}
		out = append(out, streams[next][0])
		if streams[next] = streams[next][1:]; len(streams[next]) == 0 {
			streams = slices.Delete(streams, next, next+1)
		}
	}
	if len(streams) == 1 {
		out = append(out, streams[0]...)
	}
	return out
}

// latest keeps a bounded number of things: those with the least lead, and of the last lead that has room as many of each
// stream, from its beginning on, as of the others. Which ones does not depend on the order they came in: more of them
// only move a thing that was left out further back.
type latest[T any] struct {
	items []*T  // sorted
	total int64 // things added
}

func (l *latest[T]) add(v T, limit int, o *sorting[T]) {
	l.total++
	i, _ := slices.BinarySearchFunc(l.items, v, func(a *T, b T) int { return o.compare(a, &b) })
	l.items = slices.Insert(l.items, i, &v)
	if len(l.items) > limit {
		i = l.surplus(o)
		l.items = slices.Delete(l.items, i, i+1)
	}
}

// surplus is the last thing of the longest stream of the last lead.
func (l *latest[T]) surplus(o *sorting[T]) int {
	end := len(l.items) - 1
	tail := l.items[end]
	from := sort.Search(end, func(i int) bool { return o.lead(l.items[i], tail) == 0 })
	found, longest := end, 0
	for i := from; i <= end; {
		head := o.at(l.items[i])
		if head.compareStream(o.at(tail)) == 0 { // the rest is one stream
			if end+1-i >= longest {
				found = end
			}
			break
		}
		n := i
		for n <= end && head.compareStream(o.at(l.items[n])) == 0 {
			n++
		}
		if n-i >= longest {
			found, longest = n-1, n-i
		}
		i = n
	}
	return found
}

func (l *latest[T]) dropped() int64 { return l.total - int64(len(l.items)) }

// merged lists the things that fit, in the order in which they count.
func (l *latest[T]) merged(o *sorting[T], fits func(*T) bool) []*T {
	var list []*T
	for _, v := range l.items {
		if fits(v) {
			list = append(list, v)
		}
	}
	return o.merged(list)
}

func (l *latest[T]) absorb(o *latest[T], limit int, s *sorting[T]) {
	total := l.total + o.total
	for _, v := range o.items {
		l.add(*v, limit, s)
	}
	l.total = total
}

func each[T any](*T) bool { return true }
