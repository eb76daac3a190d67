package dvcresultexporter

import "container/heap"

// schedule orders runs by the time at which they need a look.
type schedule []*run

func (s schedule) Len() int           { return len(s) }
func (s schedule) Less(i, j int) bool { return s[i].due.Before(s[j].due) }

func (s schedule) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].index, s[j].index = i, j
}

// Push is heap.Interface's.
func (s *schedule) Push(x any) {
	r := x.(*run)
	r.index = len(*s)
	*s = append(*s, r)
}

// Pop is heap.Interface's.
func (s *schedule) Pop() any {
	old := *s
	r := old[len(old)-1]
	old[len(old)-1] = nil
	*s = old[:len(old)-1]
	r.index = -1
	return r
}

// fix puts a run where its due time belongs, and takes it out when it has none.
func (s *schedule) fix(r *run) {
	switch {
	case r.due.IsZero() && r.index >= 0:
		heap.Remove(s, r.index)
	case r.due.IsZero():
	case r.index >= 0:
		heap.Fix(s, r.index)
	default:
		heap.Push(s, r)
	}
}
