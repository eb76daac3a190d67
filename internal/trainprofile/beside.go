package trainprofile

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// eventKeys are where a line beside the rows of a framework says what it is.
var eventKeys = []string{trainrecord.KeyEvent, "type"}

// besideOf gives the rules of a profile that read lines beside the rows of other profiles, nil when it has none.
func besideOf(p *Profile) *Profile {
	guest := *p
	guest.guest, guest.sparse = true, false
	guest.rules = slices.DeleteFunc(slices.Clone(p.rules), func(r *rule) bool { return !r.beside })
	if len(guest.rules) == 0 {
		return nil
	}
	return &guest
}

// readsEvents tells whether a rule asks what an object says it is; a profile that does so knows its framework's events.
func readsEvents(rules []*rule) bool {
	return slices.ContainsFunc(rules, func(r *rule) bool { return r.when.asksForEvent() })
}

func (c *condition) asksForEvent() bool {
	if c == nil || len(c.In) > 0 {
		return false
	}
	isEvent := func(r ref) bool { return len(r) == 1 && slices.Contains(eventKeys, r[0].key) }
	for _, list := range [][]ref{c.Has, c.HasAny} {
		if slices.ContainsFunc(list, isEvent) {
			return true
		}
	}
	for _, key := range eventKeys {
		_, typed := c.Type[key]
		_, matched := c.Match[key]
		if _, equal := c.Equals[key]; typed || matched || equal {
			return true
		}
	}
	for _, list := range [][]condition{c.Any, c.All} {
		for i := range list {
			if list[i].asksForEvent() {
				return true
			}
		}
	}
	return c.Not.asksForEvent()
}

// applyBeside maps a line about the training beside the rows of its framework, whose own rules know of no events and would
// take it for a row.
func (m *Mapper) applyBeside(set *Set, own *Profile, lr plog.LogRecord, more func() plog.LogRecord) bool {
	if own.readsEvents {
		return false
	}
	for _, guest := range set.beside {
		if m.applyWithin(own, guest, lr, more) {
			return true
		}
	}
	return false
}

// counting gives the step that fills a target, and its profile. The epoch of a line beside the rows of a framework is counted as
// its rows count theirs, or by nobody.
func (m *Mapper) counting(p *Profile, step *setStep) (*Profile, *setStep) {
	switch {
	case p.guest && step.target.kind == kindEpoch && step.target.inner == "":
		return m.within, m.within.epochs.index
	case p.guest && step.target.kind == kindProgress:
		return m.within, m.within.epochs.progress
	default:
		return p, step
	}
}

// epochCount is how the rows of a profile say their epoch under the name epoch; nil where they do not.
type epochCount struct{ index, progress *setStep }

// epochCountOf asks the rules for rows of training first: what others call the epoch may be a number of finished ones.
func epochCountOf(rules []*rule) (c epochCount) {
	for _, ofTraining := range []bool{true, false} {
		for _, r := range rules {
			if row := r.event == trainrecord.EventEpochEnd || r.event == trainrecord.EventStepEnd; row != ofTraining {
				continue
			}
			for i := range r.set {
				s := &r.set[i]
				if len(s.source.from) != 1 || s.source.from[0].key != trainrecord.BodyEpoch {
					continue
				}
				switch {
				case c.index == nil && s.target.spelling == trainrecord.BodyEpoch:
					c.index = s
				case c.progress == nil && ofTraining && s.target.spelling == trainrecord.BodyEpochProgress:
					c.progress = s
				}
			}
		}
	}
	return c
}
