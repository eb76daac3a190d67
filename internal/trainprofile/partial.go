package trainprofile

import (
	"slices"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// withoutCompletion gives the step.end that a rule for a completed epoch makes of a row within one, nil for other rules. What
// only the end of an epoch carries stays with the framework's details.
func (r *rule) withoutCompletion() *rule {
	if r.event != trainrecord.EventEpochEnd || r.epoch() == nil {
		return nil
	}
	partial := *r
	partial.event = trainrecord.EventStepEnd
	partial.set = slices.DeleteFunc(slices.Clone(r.set), func(s setStep) bool {
		_, err := bodyTarget(s.target.spelling, partial.event)
		return err != nil
	})
	return &partial
}

// epoch is the step that sets the epoch, nil when the rule sets none.
func (r *rule) epoch() *setStep {
	for i := range r.set {
		if r.set[i].target.kind == kindEpoch && r.set[i].target.inner == "" {
			return &r.set[i]
		}
	}
	return nil
}

// isWithinEpoch tells whether the open object has an epoch and that is no whole number: such a row completes none.
func (m *Mapper) isWithinEpoch(p *Profile, r *rule) bool {
	within := false
	for src := m.sourceOf(r.epoch()); src != nil; src = src.or {
		c, _, ok := m.fetch(src)
		if !ok {
			continue
		}
		if _, whole := c.integer(p.numbers); whole {
			return false
		}
		within = true
	}
	return within
}
