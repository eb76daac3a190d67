package trainview

import (
	"slices"
	"time"
)

// How an ETA was made.
const (
	etaEpochs   = "epochs"
	etaSteps    = "steps"
	etaReported = "reported"
)

func (v *view) isLive() bool { return v.doc.State == Running || v.doc.State == Starting }

// progress says how far the run is, and how long it will take.
func (v *view) progress() {
	epochs, steps := v.st.Epochs, v.st.Steps
	if v.part != nil {
		epochs, steps = v.part.Epochs, v.part.Steps
	}
	if r := epochs.Reported; r != nil && (epochs.Completed == nil || *r > *epochs.Completed) {
		epochs.Completed = r // the end says so; a loop that validates apart from its steps has no record of its last epoch
	}
	p := &v.doc.Progress
	p.Part = Safe(v.partName, maxName)
	p.EpochsCompleted, p.EpochsPlanned, p.Step, p.StepsPlanned = epochs.Completed, epochs.Planned, steps.Last, steps.Planned
	if p.EpochsCompleted == nil {
		v.why("progress.epochs_completed", v.orNotStarted(whyNoEpoch))
	} else if *p.EpochsCompleted > 0 {
		p.LastEpoch = ptr(*p.EpochsCompleted - 1)
	}
	if p.EpochsPlanned == nil {
		v.why("progress.epochs_planned", v.orNotStarted(whyNoPlanned))
	}
	switch {
	case positive(p.EpochsPlanned) && p.EpochsCompleted != nil:
		p.Fraction = number(float64(*p.EpochsCompleted) / float64(*p.EpochsPlanned))
	case positive(p.StepsPlanned) && p.Step != nil:
		p.Fraction = number(float64(*p.Step) / float64(*p.StepsPlanned))
	}
	length, last := v.epochLength()
	if length > 0 {
		p.EpochS = seconds(length)
	}
	if v.isLive() {
		v.eta(length, last)
	}
}

func positive(n *int64) bool { return n != nil && *n > 0 }

func (v *view) orNotStarted(code string) string {
	if v.doc.State == Starting {
		return whyNotStarted
	}
	return code
}

// epochLength is the median of the last epochs, as reported or else as the newest attempt shows, and when the last one ended, 0 for
// not known.
func (v *view) epochLength() (length, last int64) {
	var marks []epochMark
	var reported, measured []float64
	since := v.newestSince()
	for _, m := range v.trail.epochs.of(8 * epochsForLength) {
		if m.nanos > 0 {
			reported = append(reported, float64(m.nanos))
		}
		if m.attempt >= v.newestNumber() && (m.time == 0 || m.time >= since && m.time <= v.now+futureAfter.Nanoseconds()) {
			marks = append(marks, m)
		}
	}
	for i, m := range marks {
		last = max(last, m.time)
		if i > 0 && m.time > 0 && marks[i-1].time > 0 && m.epoch > marks[i-1].epoch && m.time > marks[i-1].time {
			measured = append(measured, float64(m.time-marks[i-1].time)/float64(m.epoch-marks[i-1].epoch))
		}
	}
	for _, lengths := range [][]float64{reported, measured} {
		if n := len(lengths); n > 0 {
			return int64(medianOf(lengths[max(n-epochsForLength, 0):])), last
		}
	}
	return 0, last
}

// newestNumber is the greatest attempt that an epoch was told of.
func (v *view) newestNumber() int64 {
	newest := int64(0)
	for _, m := range v.trail.epochs.of(8 * epochsForLength) {
		newest = max(newest, m.attempt)
	}
	return newest
}

// eta tells, in this order, by epochs, by steps, or what the framework reports.
func (v *view) eta(length, last int64) {
	p := &v.doc.Progress
	if positive(p.EpochsPlanned) && p.EpochsCompleted != nil && length > 0 && v.part == nil {
		left := max(*p.EpochsPlanned-*p.EpochsCompleted, 0)
		spent := int64(0)
		if last > 0 && left > 0 {
			spent = min(max(v.now-last, 0), length)
		}
		v.setEta(float64(length)*float64(left)-float64(spent), etaEpochs)
		return
	}
	if per := v.stepLength(); per > 0 && positive(p.StepsPlanned) && p.Step != nil {
		v.setEta(per*float64(max(*p.StepsPlanned-*p.Step, 0)), etaSteps)
		return
	}
	if left := v.trail.reported; left.ok {
		v.setEta(left.value*1e9, etaReported)
		return
	}
	switch {
	case p.EpochsPlanned == nil && p.StepsPlanned == nil:
		v.why("progress.eta_s", v.orNotStarted(whyNoPlanned))
	case p.EpochsCompleted == nil:
		v.why("progress.eta_s", v.orNotStarted(whyNoEpoch))
	default:
		v.why("progress.eta_s", v.orNotStarted(whyNoDurations))
	}
}

func (v *view) setEta(nanos float64, method string) {
	nanos = min(max(nanos, 0), float64(1<<62))
	v.doc.Progress.EtaS, v.doc.Progress.EtaMethod = ptr(int64(nanos)/int64(time.Second)), &method
}

// stepLength is the median time of a step among the last records of steps of the newest attempt.
func (v *view) stepLength() float64 {
	var each []float64
	since := v.newestSince()
	var before stepMark
	for _, m := range v.trail.steps.of(stepsForLength + 1) {
		if m.time < since || m.time > v.now+futureAfter.Nanoseconds() {
			continue
		}
		if before.time > 0 && m.step > before.step && m.attempt == before.attempt {
			each = append(each, float64(m.time-before.time)/float64(m.step-before.step))
		}
		before = m
	}
	if len(each) == 0 {
		return 0
	}
	slices.Sort(each)
	return median(each)
}
