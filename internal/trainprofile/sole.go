package trainprofile

import (
	"slices"
	"strings"
)

// markSole finds the values of an object that one step of the rule reads and no other, so that they can be moved into the
// record. Spread steps take nothing that was used.
func (r *rule) markSole() {
	readers := r.readers()
	for i := range r.set {
		src := &r.set[i].source
		r.set[i].sole = true
		for s := src; s != nil; s = s.or {
			if len(s.from) == 0 || strings.HasPrefix(s.from[0].key, factMark) || readersOf(readers, s.from[0].key) != 1 {
				r.set[i].sole = false
			}
		}
	}
}

// readers lists all sources of a rule.
func (r *rule) readers() (all []*source) {
	var add func(s *source)
	add = func(s *source) {
		for ; s != nil; s = s.or {
			all = append(all, s)
			for i := range s.concat {
				add(&s.concat[i])
			}
			for i := range s.sum {
				add(&s.sum[i])
			}
		}
	}
	for _, steps := range [][]setStep{r.header, r.set, r.remember} {
		for i := range steps {
			add(&steps[i].source)
		}
	}
	for i := range r.named {
		add(&r.named[i].name)
		add(&r.named[i].value)
	}
	return all
}

func readersOf(all []*source, key string) (n int) {
	for _, s := range all {
		if len(s.from) > 0 && s.from[0].key == key || len(s.ifHas) > 0 && s.ifHas[0].key == key ||
			slices.ContainsFunc(s.lacks, func(r ref) bool { return r[0].key == key }) || s.like != nil && s.like.matches(key) {
			n++
		}
	}
	return n
}
