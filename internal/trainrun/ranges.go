package trainrun

import (
	"slices"
	"sort"
)

// ranges is a set of positive numbers as sorted, disjoint, not adjacent intervals: a stream's sequence numbers are one.
type ranges struct {
	list  []interval
	count int64
}

type interval struct{ first, last int64 }

// add answers false when the number was there.
func (s *ranges) add(n int64) bool {
	i := len(s.list)
	if i > 0 && n <= s.list[i-1].last+1 {
		i = sort.Search(len(s.list), func(i int) bool { return n <= s.list[i].last })
		if i < len(s.list) && n >= s.list[i].first {
			return false
		}
	}
	s.count++
	left := i > 0 && s.list[i-1].last == n-1
	right := i < len(s.list) && s.list[i].first == n+1
	switch {
	case left && right:
		s.list[i-1].last = s.list[i].last
		s.list = slices.Delete(s.list, i, i+1)
	case left:
		s.list[i-1].last = n
	case right:
		s.list[i].first = n
	default:
		s.list = slices.Insert(s.list, i, interval{n, n})
	}
	return true
}

func (s *ranges) first() int64 { return s.list[0].first }

func (s *ranges) last() int64 { return s.list[len(s.list)-1].last }

// gaps counts the numbers missing between the first and the last.
func (s *ranges) gaps() int64 { return s.last() - s.first() + 1 - s.count }

func (s *ranges) size() int64 { return int64(cap(s.list))*16 + 48 }

func (s *ranges) write(w *writer) {
	w.uint(uint64(len(s.list)))
	prev := int64(0)
	for _, v := range s.list {
		w.uint(uint64(v.first - prev))
		w.uint(uint64(v.last - v.first))
		prev = v.last
	}
}

func (s *ranges) read(r *reader) {
	n := r.count(2)
	prev := int64(-1)
	for i := range n {
		d, length := r.uint(), r.uint()
		first := int64(d)
		if i > 0 {
			first += prev
		}
		last := first + int64(length)
		if d > 1<<62 || length > 1<<62 || first < 1 || last < first || i > 0 && first < prev+2 {
			r.fail("want a later interval")
			return
		}
		s.list = append(s.list, interval{first, last})
		s.count += last - first + 1
		prev = last
	}
	if n == 0 {
		r.fail("want an interval")
	}
}
