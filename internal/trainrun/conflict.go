package trainrun

import (
	"cmp"
	"slices"
)

// conflict finds hosts from which rank 0 wrote at the same time.
func (f *Fold) conflict() *Conflict {
	if len(f.cells.items) < 2 { // all records are of one host
		return nil
	}
	d := &deriver{f: f, seg: newSegmenter(f)}
	d.place()
	type key struct {
		attempt int
		host    string
	}
	spans := map[key]*HostSpan{}
	see := func(attempt int, host string, file uint32, t int64) {
		if host == "" {
			host = f.cells.only(file)
		}
		if host == "" || t == 0 {
			return
		}
		s := spans[key{attempt, host}]
		if s == nil {
			s = &HostSpan{Host: host}
			spans[key{attempt, host}] = s
		}
		s.First, s.Last = earlier(s.First, t), max(s.Last, t)
	}
	for i := range f.rows.rows {
		if r := &f.rows.rows[i]; r.rank == 0 && r.host != lostHost {
			see(int(d.attempt[i]), f.hosts.name(r.host), r.file, r.time)
		}
	}
	for i := range f.starts.items {
		if s := f.starts.items[i]; s.at.rank == 0 {
			at := s.at.spot(s.part)
			see(d.seg.attempt(&at), s.host, s.at.file, s.at.time)
		}
	}
	list := make([]HostSpan, 0, len(spans))
	for _, s := range spans {
		list = append(list, *s)
	}
	return overlapping(list)
}

// overlapping merges the spans of hosts that worked at the same time as another.
func overlapping(spans []HostSpan) *Conflict {
	slices.SortFunc(spans, func(a, b HostSpan) int {
		return cmp.Or(cmp.Compare(a.First, b.First), compareText(a.Host, b.Host), cmp.Compare(a.Last, b.Last))
	})
	hit := map[string]*HostSpan{}
	take := func(s HostSpan) {
		h := hit[s.Host]
		if h == nil {
			h = &HostSpan{s.Host, s.First, s.Last}
			hit[s.Host] = h
		}
		h.First, h.Last = min(h.First, s.First), max(h.Last, s.Last)
	}
	var before topTwo // the latest ends so far, of two hosts
	for _, s := range spans {
		if other, ok := before.other(s.Host); ok && s.First < other && s.First < s.Last {
			take(s)
		}
		before.put(s.Host, s.Last)
	}
	var after topTwo // the earliest beginnings from here on, of two hosts
	for _, s := range slices.Backward(spans) {
		if other, ok := after.other(s.Host); ok && -other < s.Last {
			take(s)
		}
		if s.First < s.Last {
			after.put(s.Host, -s.First)
		}
	}
	if len(hit) == 0 {
		return nil
	}
	var c Conflict
	for _, h := range hit {
		c.Hosts = append(c.Hosts, *h)
	}
	slices.SortFunc(c.Hosts, func(a, b HostSpan) int {
		return cmp.Or(cmp.Compare(a.First, b.First), compareText(a.Host, b.Host))
	})
	return &c
}

// topTwo keeps the greatest values of two different hosts.
type topTwo struct {
	hosts  [2]string
	values [2]int64
	n      int
}

func (t *topTwo) put(host string, v int64) {
	for i := range t.n {
		if t.hosts[i] == host {
			t.values[i] = max(t.values[i], v)
			if i == 1 && t.values[1] > t.values[0] {
				t.swap()
			}
			return
		}
	}
	if t.n < 2 {
		t.n++
	} else if v <= t.values[1] {
		return
	}
	t.hosts[t.n-1], t.values[t.n-1] = host, v
	if t.n == 2 && t.values[1] > t.values[0] {
		t.swap()
	}
}

func (t *topTwo) swap() {
	t.hosts[0], t.hosts[1] = t.hosts[1], t.hosts[0]
	t.values[0], t.values[1] = t.values[1], t.values[0]
}

// other gives the greatest value of another host.
func (t *topTwo) other(host string) (int64, bool) {
	for i := range t.n {
		if t.hosts[i] != host {
			return t.values[i], true
		}
	}
	return 0, false
}
