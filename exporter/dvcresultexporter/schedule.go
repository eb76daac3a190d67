package dvcresultexporter

import "container/heap"

// schedule orders sides by the time at which they need a look.
type schedule []*side

func (s schedule) Len() int           { return len(s) }
func (s schedule) Less(i, j int) bool { return s[i].due.Before(s[j].due) }

func (s schedule) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].index, s[j].index = i, j
}

// Push is heap.Interface's.
func (s *schedule) Push(x any) {
	e := x.(*side)
	e.index = len(*s)
	*s = append(*s, e)
}

// Pop is heap.Interface's.
func (s *schedule) Pop() any {
	old := *s
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*s = old[:len(old)-1]
	e.index = -1
	return e
}

// fix puts a side where its due time belongs, and takes it out when it has none.
func (s *schedule) fix(e *side) {
	switch {
	case e.due.IsZero() && e.index >= 0:
		heap.Remove(s, e.index)
	case e.due.IsZero():
	case e.index >= 0:
		heap.Fix(s, e.index)
	default:
		heap.Push(s, e)
	}
}
