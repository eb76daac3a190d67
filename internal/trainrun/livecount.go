package trainrun

import (
	"slices"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Epochs whose samples are remembered, and how many of each part at least.
const (
	maxSampleCounts    = 16
	sampleCountsOfPart = 4
)

// sampleCount is what is known of the samples of one epoch: what its steps add up to, and what its row says.
type sampleCount struct {
	phaseKey

	steps, total, accounted int64
}

// steps takes a step of the primary rank.
func (l *Live) steps(c *Course, s *Sighting, counts bool) (known bool) {
	c.reaches(s)
	phase := s.Phase
	if phase == "" {
		phase = trainrecord.PhaseTrain
	}
	if s.Step.Set {
		c.fine.widen(recentSteps)
		if !c.fine.add((phaseKey{part: s.Part, phase: phase, epoch: Int{}}).hash('t', s.Step.V)) {
			return true
		}
	}
	if counts && s.BatchS >= 0 {
		l.tell(Transition{Kind: Batch, Course: c, Seconds: s.BatchS})
	}
	if counts && s.DataWaitS >= 0 {
		l.tell(Transition{Kind: DataWait, Course: c, Seconds: s.DataWaitS})
	}
	if s.Samples.Set {
		n := c.sampleCount(phaseKey{part: s.Part, phase: phase, epoch: s.Epoch})
		n.steps += s.Samples.V
		l.samples(c, n, counts)
	}
	return false
}

// total takes the samples that the row of an epoch reports.
func (l *Live) total(c *Course, s *Sighting, phase string, counts bool) {
	if !s.Samples.Set {
		return
	}
	n := c.sampleCount(phaseKey{part: s.Part, phase: phase, epoch: s.Epoch})
	if n.total = s.Samples.V; n.total < n.steps {
		l.tell(Transition{Kind: Mismatch, Course: c})
	}
	l.samples(c, n, counts)
}

// samples counts by how much the larger of the two grew.
func (l *Live) samples(c *Course, n *sampleCount, counts bool) {
	grown := max(n.steps, n.total) - n.accounted
	n.accounted += grown
	if counts {
		l.tell(Transition{Kind: Samples, Course: c, Phase: n.phase, Count: grown})
	}
}

// sampleCount finds the count of an epoch. Without an epoch nothing is the total of anything: each counts by itself.
func (c *Course) sampleCount(k phaseKey) *sampleCount {
	if !k.epoch.Set {
		return &sampleCount{phaseKey: k}
	}
	for i := range c.samples {
		if c.samples[i].phaseKey == k {
			return &c.samples[i]
		}
	}
	if len(c.samples) >= max(maxSampleCounts, sampleCountsOfPart*len(c.parts)) {
		i := max(slices.IndexFunc(c.samples, func(n sampleCount) bool { return n.total > 0 }), 0)
		c.samples = slices.Delete(c.samples, i, i+1)
	}
	c.samples = append(c.samples, sampleCount{phaseKey: k})
	return &c.samples[len(c.samples)-1]
}

// waits takes the time that an epoch or a phase waited for data; its row and its records may both tell it.
func (l *Live) waits(c *Course, s *Sighting, phase string, counts bool) {
	if s.DataWaitS < 0 {
		return
	}
	if s.Epoch.Set && !c.coarse.add((phaseKey{part: s.Part, phase: phase, epoch: s.Epoch}).hash('w', 0)) {
		return
	}
	if counts {
		l.tell(Transition{Kind: DataWaitTime, Course: c, Seconds: s.DataWaitS})
	}
}

// reaches takes the finished epochs that a record tells of.
func (c *Course) reaches(s *Sighting) {
	if s.Progress < 0 {
		return
	}
	p := c.part(s.Part)
	p.reached = max(p.reached, s.Progress)
	if last := int64(s.Progress) - 1; last >= 0 && (!c.LastEpoch.Set || last > c.LastEpoch.V) {
		c.LastEpoch = Int{V: last, Set: true}
	}
}
