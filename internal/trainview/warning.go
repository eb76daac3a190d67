package trainview

import (
	"cmp"
	"slices"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// Codes of warnings.
const (
	warnNonFinite    = "non_finite"
	warnSuspect      = "suspect_points"
	warnSpike        = "loss_spike"
	warnDiverging    = "diverging"
	warnPlateau      = "plateau"
	warnOverfitting  = "overfitting"
	warnRateZero     = "lr_zero"
	warnRestarts     = "restarts"
	warnSuperseded   = "superseded_epochs"
	warnDuplicates   = "duplicate_records"
	warnThenProgress = "failure_then_progress"
	warnTorn         = "torn_tail"
	warnBadLines     = "bad_lines"
	warnUnmapped     = "unmapped_records"
	warnBackwards    = "clock_backwards"
	warnFuture       = "clock_future"
	warnMismatch     = "best_mismatch"
	warnMissing      = "checkpoint_missing"
	warnEmpty        = "checkpoint_empty"
	warnEvents       = trainrun.NoteEvent
	warnSteps        = trainrun.NoteSteps
	warnJump         = trainrun.NoteJump
	warnUnplaced     = trainrun.NoteUnplaced
	warnMeaningless  = "values_without_meaning"
	warnTruncated    = "truncated"
	warnConflict     = "conflict"
)

// WarningCodes lists every code of a warning, sorted.
func WarningCodes() []string {
	return []string{
		warnBadLines, warnMismatch, warnEmpty, warnMissing, warnBackwards, warnFuture, warnConflict, warnDiverging, warnDuplicates, warnJump, warnEvents,
		warnThenProgress, warnSpike, warnRateZero, warnNonFinite, warnOverfitting, warnPlateau, warnRestarts, warnSteps, warnSuperseded, warnSuspect,
		warnTorn, warnTruncated, warnUnmapped, warnMeaningless, warnUnplaced,
	}
}

// Warning is something that a supervisor should look at. Which fields it has depends on its code.
type Warning struct {
	Code             string  `json:"code" enum:"warnings"`
	Metric           string  `json:"metric,omitempty" untrusted:"yes"`
	Part             string  `json:"part,omitempty" untrusted:"yes"`
	N                *int64  `json:"n,omitempty"`
	LastAt           *int64  `json:"last_at,omitempty"`
	Recovered        *bool   `json:"recovered,omitempty"`
	SinceBest        *int64  `json:"since_best,omitempty"`
	SinceImprovement *int64  `json:"since_improvement,omitempty"`
	Since            *int64  `json:"since,omitempty"`
	Gap              *Number `json:"gap,omitempty"`
	Bytes            *int64  `json:"bytes,omitempty"`
	Seconds          *int64  `json:"seconds,omitempty"`
	ReportedEpoch    *int64  `json:"reported_epoch,omitempty"`
	What             string  `json:"what,omitempty" enum:"parts,series,values"`
	First            string  `json:"first,omitempty" untrusted:"yes"`
}

func (v *view) warn(w Warning) { v.doc.Warnings = append(v.doc.Warnings, w) }

// count warns of a number that is not 0.
func (v *view) count(code string, n int64) {
	if n > 0 {
		v.warn(Warning{Code: code, N: &n})
	}
}

// warnings looks at everything that may be wrong.
func (v *view) warnings() {
	for i := range v.curves {
		v.warnCurve(&v.curves[i])
	}
	v.overfitting()
	v.facts()
	v.mismatch()
	slices.SortStableFunc(v.doc.Warnings, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Part, b.Part), cmp.Compare(a.What, b.What))
	})
}

func (v *view) facts() {
	t, st := v.trail, v.st
	if t.ratesAreZero.value && t.ratesWerePositive && v.isLive() {
		v.warn(Warning{Code: warnRateZero})
	}
	superseded := int64(0)
	for _, a := range st.Attempts {
		superseded += a.SupersededEpochs
	}
	v.count(warnRestarts, int64(len(st.Attempts)-1))
	v.count(warnSuperseded, superseded)
	v.count(warnDuplicates, t.Duplicates)
	v.count(warnBadLines, t.BadLines)
	v.count(warnUnmapped, t.Unmapped)
	v.count(warnEvents, v.noted(trainrun.NoteEvent))
	v.count(warnSteps, v.noted(trainrun.NoteSteps))
	v.count(warnJump, v.noted(trainrun.NoteJump))
	v.count(warnUnplaced, v.noted(trainrun.NoteUnplaced))
	if t.flaws > 0 {
		v.warn(Warning{Code: warnMeaningless, N: &t.flaws, First: Safe(t.flaw, maxMessage)})
	}
	v.truncated()
	v.count(warnBackwards, t.backwards)
	if v.ahead > 0 {
		v.warn(Warning{Code: warnFuture, Seconds: ptr(v.ahead / 1e9)})
	}
	if st.Conflict != nil {
		v.count(warnConflict, int64(len(st.Conflict.Hosts)))
	}
	torn := int64(0)
	for _, f := range v.ev.Files {
		torn += f.TornBytes
	}
	if torn > 0 && !v.isLive() {
		v.warn(Warning{Code: warnTorn, Bytes: &torn})
	}
}

// truncated warns of what bounds left out of the curves. What they leave out elsewhere, as old checkpoints, no verdict rests on.
func (v *view) truncated() {
	for i := range v.st.Truncated {
		if cut := &v.st.Truncated[i]; slices.Contains([]string{"parts", "series", "values"}, cut.What) {
			v.warn(Warning{Code: warnTruncated, What: cut.What, N: &cut.Count})
		}
	}
}

// noted counts what the fold notes of a kind.
func (v *view) noted(what string) (n int64) {
	for i := range v.st.Notes {
		if v.st.Notes[i].What == what {
			n++
		}
	}
	return n
}

// mismatch compares the last save of kind best with the best that the values prove.
func (v *view) mismatch() {
	saved, b := v.st.Checkpoints.Best, v.doc.Best
	if saved == nil || b == nil || saved.Epoch == nil || b.Epoch == nil || *saved.Epoch == *b.Epoch {
		return
	}
	if c := v.st.Epochs.Completed; c != nil && *saved.Epoch >= *c {
		return // of an epoch that is not complete: its values may still come
	}
	v.warn(Warning{Code: warnMismatch, ReportedEpoch: saved.Epoch})
}

func (v *view) warnCurve(c *curve) {
	name, part := Safe(c.name, maxName), Safe(c.Part, maxName)
	if c.nonFinite > 0 {
		v.warn(Warning{Code: warnNonFinite, Metric: name, Part: part, N: &c.nonFinite, LastAt: &c.lastBad, Recovered: &c.lastOK})
	}
	if c.suspects > 0 {
		v.warn(Warning{Code: warnSuspect, Metric: name, Part: part, N: &c.suspects, LastAt: &c.lastDoubt})
	}
	if c.goal == "" || c.Shared {
		return
	}
	if isLoss(c.Name) {
		if n, at := spikes(c.points); n > 0 {
			v.warn(Warning{Code: warnSpike, Metric: name, Part: part, N: &n, LastAt: &at})
		}
	}
	if since, ok := diverging(c.points, c.goal); ok {
		v.warn(Warning{Code: warnDiverging, Metric: name, Part: part, SinceBest: &since})
	}
	if since, ok := v.plateau(c); ok {
		v.warn(Warning{Code: warnPlateau, Metric: name, Part: part, SinceImprovement: &since})
	}
}
