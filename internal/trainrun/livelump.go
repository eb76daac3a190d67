package trainrun

import (
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// room is how many seconds may still be given to phases of a part: never more than passed from the attempt's beginning to the mark.
func (c *Course) room(part string) float64 {
	return max(toSeconds(c.mark-c.earliest)-c.spent-c.lumps[part], 0)
}

// noSpan is the anchor of a phase whose span another one has: the times of both are the same.
const noSpan = 0

// lump gives the time of a phase that only a duration tells of, as far as nobody has it yet.
func (l *Live) lump(c *Course, k *phaseKey, from, to int64, seconds float64, anchor int64, counts bool) {
	c.prove(from, true)
	if c.mark != 0 {
		l.advance(c, min(from, to), counts)
	}
	if begin := max(c.mark, from); to > begin {
		for i := range c.open {
			c.open[i].inner += toSeconds(to - begin)
		}
		c.mark = to
	}
	given := seconds
	if room := c.room(k.part); seconds > room+1e-9 {
		given = room
	}
	if counts && given > 0 {
		if c.lumps == nil {
			c.lumps = map[string]float64{}
		}
		if _, ok := c.lumps[k.part]; ok || len(c.lumps) < maxCourseParts {
			c.lumps[k.part] += given
		}
		l.tell(Transition{Kind: PhaseTime, Course: c, Phase: k.phase, Seconds: given})
	}
	t := Transition{Kind: PhaseDone, Course: c, Phase: k.phase, Seconds: seconds, Counts: counts}
	if anchor != noSpan {
		t.Span = &PhaseSpan{Start: from, End: to, Epoch: k.epoch, Part: k.part, Source: trainrecord.TimeFromDurations, Anchor: anchor}
	}
	l.tell(t)
}

// epochs takes the row of an epoch.
func (l *Live) epochs(c *Course, s *Sighting, counts bool) (known bool) {
	phase := s.Phase
	if phase == "" {
		phase = trainrecord.PhaseTrain
	}
	defer func() {
		l.advance(c, s.proof(), counts)
		l.closes(c, s, phase, counts)
	}()
	c.reaches(s)
	if s.Epoch.Set && !c.coarse.add(phaseKey{part: s.Part, epoch: s.Epoch}.hash('c', 0)) {
		return true
	}
	if s.Epoch.Set {
		c.part(s.Part).epochs++
		if !c.LastEpoch.Set || s.Epoch.V > c.LastEpoch.V {
			c.LastEpoch = s.Epoch
		}
	}
	l.waits(c, s, phase, counts)
	l.total(c, s, phase, counts)
	l.layout(c, s, counts)
	return false
}

// layout gives the phases of an epoch their places: training begins with the epoch, validation ends with its row.
func (l *Live) layout(c *Course, s *Sighting, counts bool) {
	length := s.EpochS
	if length < 0 {
		length = max(s.TrainS, 0) + max(s.ValidationS, 0)
	}
	begin := s.Time - fromSeconds(length)
	if s.TrainS >= 0 {
		l.rowPhase(c, s, trainrecord.PhaseTrain, begin, min(begin+fromSeconds(s.TrainS), s.Time), s.TrainS, counts)
	}
	if s.ValidationS >= 0 {
		l.rowPhase(c, s, trainrecord.PhaseValidation, s.Time-fromSeconds(s.ValidationS), s.Time, s.ValidationS, counts)
	}
	if s.TrainS < 0 && s.ValidationS < 0 && s.EpochS >= 0 && !c.coarse.has(phaseKey{part: s.Part, epoch: s.Epoch}.hash('q', 0)) {
		l.rowPhase(c, s, trainrecord.PhaseEpoch, begin, s.Time, s.EpochS, counts)
	}
}

// rowPhase takes a phase that the row of an epoch tells of, unless its own records told it.
func (l *Live) rowPhase(c *Course, s *Sighting, phase string, from, to int64, seconds float64, counts bool) {
	k := phaseKey{part: s.Part, phase: phase, epoch: s.Epoch}
	if k.epoch.Set && c.coarse.has(k.hash('p', 0)) {
		return
	}
	i := c.findOpen(&k, to)
	if i >= 0 && c.open[i].phaseKey != k {
		i = -1
	}
	if k.epoch.Set {
		c.coarse.add(k.hash('r', 0))
	}
	if i < 0 {
		l.lump(c, &k, from, to, seconds, s.Time, counts)
		return
	}
	p := c.open[i]
	l.advance(c, min(p.start+fromSeconds(seconds), s.Time), counts)
	p = c.open[i]
	c.open = append(c.open[:i], c.open[i+1:]...)
	if missing := min(seconds-p.accounted, c.room(p.part)); missing > 0 {
		l.spend(c, &p, missing, counts)
	}
	sp := p.spanWithin(p.start, min(p.start+fromSeconds(seconds), max(s.Time, p.start)))
	sp.Source = trainrecord.TimeFromDurations
	l.tell(Transition{Kind: PhaseDone, Course: c, Phase: phase, Seconds: seconds, Counts: counts, Span: sp})
}

// closes notes that the row of an epoch ends a phase of it that began with a record. One that ends with a record, too, has that end.
func (l *Live) closes(c *Course, s *Sighting, phase string, counts bool) {
	k := phaseKey{part: s.Part, phase: phase, epoch: s.Epoch}
	for i := range c.open {
		if p := &c.open[i]; k.epoch.Set && p.phaseKey == k && p.row == 0 && s.Time >= p.start {
			p.row, p.counts = s.Time, counts
			p.own = l.foreign(c, s.Trace) && s.Trace == p.trace && s.Span == p.span && l.ownSpan(c, s.Span)
		}
	}
}

// endsByRow ends a phase whose epoch a row ended when the next one of its kind begins, nil for none: the attempt is over.
func (l *Live) endsByRow(c *Course, p *openPhase, next *phaseKey) bool {
	if p.row == 0 || next != nil && (p.part != next.part || p.phase != next.phase) {
		return false
	}
	t := Transition{Kind: PhaseDone, Course: c, Phase: p.phase, Seconds: toSeconds(p.row - p.start), Counts: p.counts}
	if !p.own {
		t.Span = p.spanWithin(p.start, p.row)
	}
	c.coarse.add(p.hash('r', 0)) // an end that comes all the same is of a phase that was told
	l.tell(t)
	return true
}
