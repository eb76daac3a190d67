package trainrun

import "slices"

// unreplaced gives the fold of what stands in the files: without the rows, starts, ends and failures that newer texts took the
// place of. What a result says of the training is of it; what was lost is told by the attempts alone. It also says which rows of
// the fold those are. Where nothing was replaced it is the fold itself.
func (f *Fold) unreplaced() (g *Fold, rows []int) {
	if len(f.texts.items) == 0 {
		return f, nil
	}
	out, left := *f, sieve{texts: &f.texts, numbers: map[int64]bool{}}
	out.rows.rows = nil
	for i := range f.rows.rows {
		if r := &f.rows.rows[i]; left.note(!f.texts.replaced(r.path, r.pos), int64(r.attempt)) {
			out.rows.rows, rows = append(out.rows.rows, *r), append(rows, i)
		}
	}
	out.starts = sieved(&left, &f.starts, &byStarts)
	out.ends = sieved(&left, &f.ends, &byEnds)
	out.failMarks = sieved(&left, &f.failMarks, &byMarks)
	if !left.gone {
		return f, nil
	}
	out.attempts = slices.DeleteFunc(slices.Clone(f.attempts), func(a attemptTimes) bool {
		stands, known := left.numbers[a.number]
		return known && !stands
	})
	return &out, rows
}

// sieve lets through what no newer text took the place of.
type sieve struct {
	texts   *textTable
	gone    bool           // something does not
	numbers map[int64]bool // of attempts, whether something of them stands
}

func (s *sieve) note(stands bool, attempt int64) bool {
	s.gone = s.gone || !stands
	s.numbers[attempt] = s.numbers[attempt] || stands
	return stands
}

// sieved leaves out what does not stand.
func sieved[T any](s *sieve, l *latest[T], o *sorting[T]) latest[T] {
	out := latest[T]{total: l.total}
	for _, v := range l.items {
		if at := o.at(v); s.note(!s.texts.replaced(at.path, at.pos), at.attempt) {
			out.items = append(out.items, v)
		} else {
			out.total--
		}
	}
	return out
}
