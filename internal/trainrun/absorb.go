package trainrun

import "slices"

// absorb adds what another fold of the run knows beside its rows and identities. The two have no record in common: the
// result is what one fold would know that had taken the records of both.
func (f *Fold) absorb(o *Fold) {
	for i, n := range o.counts {
		f.counts[i] += n
	}
	f.rejected += o.rejected
	f.noTime += o.noTime
	f.masked += o.masked
	f.cut += o.cut
	f.first, f.last = earlier(f.first, o.first), max(f.last, o.last)
	f.started, f.runLength = earlier(f.started, o.started), max(f.runLength, o.runLength)
	for _, a := range o.attempts {
		if own, _ := f.attempts.get(a.number, f.lim.attempts); own != nil {
			own.first, own.last = earlier(own.first, a.first), max(own.last, a.last)
		}
	}
	f.texts.absorb(&o.texts)
	for k, r := range o.seen.seqs {
		if k.event == EventNone {
			if own := f.seen.sequence(k); own != nil {
				own.union(r)
			}
		}
	}
	f.absorbRegisters(o)
	f.absorbTables(o)
	f.absorbRare(o)
	f.rows.dirty = true
	if f.full {
		f.compact()
	}
}

func (f *Fold) absorbRegisters(o *Fold) {
	f.framework.absorb(&o.framework)
	f.where.absorb(&o.where)
	f.trace.absorb(&o.trace)
}

func (f *Fold) absorbTables(o *Fold) {
	for i := range o.ranks.items {
		c := &o.ranks.items[i]
		if own := f.ranks.get(c.rank, f.lim.ranks); own != nil {
			for k := range c.epoch {
				own.epoch[k] += c.epoch[k]
				own.step[k] += c.step[k]
			}
		}
	}
	for _, name := range o.hosts.names[1:] {
		_, full := f.hosts.get(name, f.lim.hosts*f.lim.slack)
		f.full = f.full || full
	}
	parts := make([]uint32, len(o.parts.items))
	for i, p := range o.parts.items {
		id, full := f.parts.get(p.name, f.lim.parts*f.lim.slack)
		parts[i], f.full = id, f.full || full
		f.parts.items[id].absorb(p)
	}
	for i := range o.series.items {
		s := &o.series.items[i]
		k := s.key
		k.part = parts[k.part]
		id, full := f.series.get(i, k, f.lim.series*f.lim.slack)
		f.full = f.full || full
		f.series.items[id].absorb(s)
	}
	f.ranks.dropped.absorb(&o.ranks.dropped)
	f.hosts.dropped.absorb(&o.hosts.dropped)
	f.parts.dropped.absorb(&o.parts.dropped)
	f.series.dropped.absorb(&o.series.dropped)
}

func (p *part) absorb(o *part) {
	p.owner = min(p.owner, o.owner)
	p.plannedEpochs.absorb(&o.plannedEpochs, newest)
	p.plannedSteps.absorb(&o.plannedSteps, newest)
	p.objective.absorb(&o.objective, newest)
	p.reported.absorb(&o.reported, newest)
	p.habit.absorb(&o.habit, newest)
	for i := range o.totals {
		for source, s := range o.totals[i] {
			if s.nanos > 0 {
				p.totals[i].add(source, s.rank, s.nanos)
			}
		}
	}
}

// absorb gives the values to the lower rank.
func (s *series) absorb(o *series) {
	s.others += o.others
	switch {
	case o.owner < s.owner:
		s.others += s.values
		s.owner, s.values, s.nonFinite, s.sampled = o.owner, o.values, o.nonFinite, o.sampled
	case o.owner == s.owner:
		s.values += o.values
		s.nonFinite += o.nonFinite
		s.sampled = s.sampled || o.sampled
	default:
		s.others += o.values
	}
}

func (f *Fold) absorbRare(o *Fold) {
	f.starts.absorb(&o.starts, f.lim.starts, &byStarts)
	f.launches.absorb(&o.launches, f.lim.launches, &byLaunches)
	f.ends.absorb(&o.ends, f.lim.ends, &byEnds)
	f.failures.absorb(&o.failures, f.lim.failures, &byFailures)
	f.failMarks.absorb(&o.failMarks, f.lim.ends, &byMarks)
	f.bestCheckpoints.absorb(&o.bestCheckpoints, f.lim.checkpoints/4, &bySaved)
	f.checkpoints.absorb(&o.checkpoints, f.lim.checkpoints, &bySaved)
	for i := range o.artifacts.items {
		for _, t := range o.artifacts.items[i].items {
			f.artifacts.add(t.value, &t.at, f.lim.artifacts)
		}
	}
	f.artifacts.dropped.absorb(&o.artifacts.dropped)
	for i := range o.told.items {
		p := &o.told.items[i]
		for _, t := range p.items {
			f.told.add(p.path, t.value, &t.at, f.lim.params)
		}
	}
	f.told.dropped.absorb(&o.told.dropped)
	for _, event := range o.events {
		f.events.add(event)
	}
}

func (s *sketch) absorb(o *sketch) {
	if len(o.hashes) == 0 {
		return
	}
	all := append(slices.Clone(s.hashes), o.hashes...)
	slices.Sort(all)
	all = slices.Compact(all)
	s.hashes = all[:min(len(all), sketchSize)]
}

// union adds another set.
func (s *ranges) union(o *ranges) {
	all := append(slices.Clone(s.list), o.list...)
	slices.SortFunc(all, func(a, b interval) int { return int(min(max(a.first-b.first, -1), 1)) })
	s.list, s.count = all[:0], 0
	for _, v := range all {
		if n := len(s.list); n > 0 && v.first <= s.list[n-1].last+1 {
			s.list[n-1].last = max(s.list[n-1].last, v.last)
		} else {
			s.list = append(s.list, v)
		}
	}
	for _, v := range s.list {
		s.count += v.last - v.first + 1
	}
}
