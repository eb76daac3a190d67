package trainview

import (
	"cmp"
	"slices"
	"time"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// Why something is not known.
const (
	whyNoEpoch      = "no_epoch_in_records"
	whyNotStarted   = "not_started"
	whyNoPlanned    = "no_planned_in_records"
	whyNoDurations  = "no_epoch_durations"
	whyNoValMetric  = "no_val_metric"
	whyNoGoal       = "no_known_goal"
	whySeveral      = "several_candidates"
	whyAbsent       = "metric_absent"
	whyNoObjective  = "no_objective"
	whyNoFinite     = "no_finite_value"
	whyNoCheckpoint = "no_checkpoint_record"
	whyNoneAtBest   = "none_at_best"
	whyOutside      = "outside_roots"
	whyNoEnd        = "no_end_record"
	whyOutcome      = trainrun.NoteOutcome
	whyNoOutcome    = trainrun.NoteNoOutcome
	whyNoTimes      = "no_timestamps"
	whyUnchecked    = "silent_process_not_checked"
	whyCopied       = "mtime_newer_than_records"
	whySilentLong   = "silent_too_long"
)

// view is a document in the making.
type view struct {
	fold     *trainrun.Fold
	st       *trainrun.State
	trail    *Trail
	ev       *Evidence
	o        *Options
	now      int64
	doc      *Document
	explain  *Explain
	part     *trainrun.Part // whose progress is shown, nil for the run itself
	partName string

	objective *Objective // with the name as it is reported
	curves    []curve
	others    []*curve // that are not shown, as nobody knows which way is better
	cadence   cadence
	last      int64 // the latest event time that is not in the future, 0 = none
	ahead     int64 // how far the latest of all is in the future
	grown     int64 // the last growth, 0 = none
	limit     time.Duration
}

// Summary is a document, with what texts and pages draw beside it.
type Summary struct {
	Document *Document
	State    *trainrun.State
	fold     *trainrun.Fold
	others   []*curve
}

// Others gives metrics of which nobody knows which way is better, at most so many: texts and pages have room for them.
func (s *Summary) Others(most int) []Metric {
	out := make([]Metric, 0, min(len(s.others), max(most, 0)))
	for _, c := range s.others[:cap(out)] {
		out = append(out, c.metric())
	}
	return out
}

// Curve gives the points of a metric of the document.
func (s *Summary) Curve(m *Metric) *trainrun.Series {
	if m.series >= len(s.State.Series) {
		return nil
	}
	return &s.State.Series[m.series]
}

// Superseded gives what newer attempts took over of a curve. It is of the moment in which it is called.
func (s *Summary) Superseded(c *trainrun.Series) []trainrun.Superseded { return s.fold.Superseded(c) }

// Summarize makes the document of a run. It says all there is; Fit brings it to its size.
func Summarize(f *trainrun.Fold, t *Trail, ev Evidence, o Options) *Summary {
	st := f.State()
	v := &view{
		fold: f, st: st, trail: t, ev: &ev, o: &o, now: ev.Now.UnixNano(),
		doc:     &Document{Schema: SchemaDocument, Now: clock(ev.Now), Warnings: []Warning{}, Why: map[string]string{}},
		explain: &Explain{Metrics: []TrendFacts{}},
	}
	v.choosePart()
	v.clock()
	v.run()
	v.liveness()
	v.chooseObjective()
	v.readCurves()
	v.progress()
	v.metrics()
	v.best()
	v.measured()
	v.warnings()
	v.source()
	if o.Explain {
		v.explainGaps()
		v.doc.Explain = v.explain
	}
	return &Summary{Document: v.doc, State: st, fold: f, others: v.others}
}

func (v *view) why(path, code string) { v.doc.Why[path] = code }

// choosePart shows, of a run that consists of parts, the one that moved last.
func (v *view) choosePart() {
	own := v.st.Epochs.Completed != nil || v.st.Steps.Last != nil
	own = own || slices.ContainsFunc(v.st.Series, func(s trainrun.Series) bool { return s.Part == "" })
	last := v.trail.part
	if own || !last.ok {
		return
	}
	for i := range v.st.Parts {
		if v.st.Parts[i].Name == last.value {
			v.part, v.partName = &v.st.Parts[i], last.value
		}
	}
}

// clock reads the times of the records.
func (v *view) clock() {
	future := v.now + futureAfter.Nanoseconds()
	times := v.trail.times.of(gapsKept + 1)
	for _, t := range slices.Backward(times) {
		if t.time <= future {
			v.last = t.time
			break
		}
		v.ahead = max(v.ahead, t.time-v.now)
	}
	v.cadence = newCadence(times, v.newestSince(), future)
	v.grown = max(v.last, 0)
	if !v.ev.ModTime.IsZero() {
		v.grown = max(v.grown, v.ev.ModTime.UnixNano())
	}
	if !v.ev.Grown.IsZero() {
		v.grown = max(v.grown, v.ev.Grown.UnixNano())
	}
}

// newestSince is when the newest attempt began, 0 when it is the only one.
func (v *view) newestSince() int64 {
	if n := len(v.st.Attempts); n > 1 {
		return v.st.Attempts[n-1].StartedAt
	}
	return 0
}

func (v *view) run() {
	id := cmp.Or(v.st.RunID, v.ev.Folder)
	if id != "" {
		v.doc.Run.ID = ptr(Safe(id, maxID))
	}
	if v.st.Framework != "" {
		v.doc.Run.Framework = ptr(Safe(v.st.Framework, maxName))
	}
	v.doc.Run.Attempt = max(v.st.Attempt, 1)
	v.doc.Run.StartedAt = moment(v.trail.first)
}

func (v *view) source() {
	t := v.trail
	s := Source{
		Files: []File{}, Records: t.Records, BadLines: t.BadLines, Duplicates: t.Duplicates, LastRecordAt: moment(v.last),
	}
	for _, f := range v.ev.Files {
		f.Path = Safe(f.Path, maxPath)
		s.Files = append(s.Files, f)
	}
	if n := len(s.Files) - maxFiles; n > 0 {
		s.Files, s.FilesOmitted = s.Files[n:], n // the newest are last
	}
	if v.last == 0 {
		v.why("source.last_record_at", whyNoTimes)
	}
	s.Profile = v.profile()
	for _, cut := range v.st.Truncated {
		if cut.What == "series" {
			s.SeriesCut = cut.Count
		}
	}
	v.doc.Source = s
}

// Native is the profile of records of the vocabulary.
const Native = "native"

// profile names the one that mapped most rows; native when there are records only.
func (v *view) profile() *string {
	best, most := "", int64(0)
	for name, n := range v.trail.profiles {
		if n > most || n == most && name < best {
			best, most = name, n
		}
	}
	if best == "" && v.trail.native > 0 {
		best = Native
	}
	if best == "" {
		return nil
	}
	return &best
}
