package trainrun

import (
	"cmp"
	"slices"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// What a Note says.
const (
	// NoteObjective: no record measures the metric that decides which epoch is best.
	NoteObjective = "objective_never_measured"
	// NoteOutcome: a run.end gives an outcome that is none.
	NoteOutcome = "outcome_off_list"
	// NoteNoOutcome: a run.end gives none.
	NoteNoOutcome = "outcome_missing"
	// NoteEvent: records have an event that is off the list; they count as log records.
	NoteEvent = "event_off_list"
	// NoteStreams: several streams tell one value and no event time says which of them is the newer one.
	NoteStreams = "streams_without_time"
	// NoteUnplaced: of a metric that was told several times in an epoch, some values tell no step of the run; its curve is without them.
	NoteUnplaced = "values_without_step"
	// NoteSteps: steps begin anew in each epoch; a curve of such rows is in the order of epoch and step, and has no axis.
	NoteSteps = "steps_begin_anew"
	// NoteJump: the last epoch is much farther from the one before than all others span.
	NoteJump = "epochs_jump"
)

// Note is something that whoever wrote the records should mend.
type Note struct{ What, Value string }

const maxNotes = 16

func (d *deriver) note(what, value string) {
	n := Note{what, value}
	if len(d.st.Notes) < maxNotes && !slices.Contains(d.st.Notes, n) {
		d.st.Notes = append(d.st.Notes, n)
	}
}

// notes looks at what was derived.
func (d *deriver) notes() {
	for id, p := range d.f.parts.items {
		o := d.objective(id)
		if o == nil || o.From == ObjectiveInferred || p.name != "" && d.lastAttempt(id) < 0 {
			continue
		}
		if !d.measures(o.Metric) && !d.f.series.leftOut(p.name, o.Metric) {
			d.note(NoteObjective, o.Metric)
		}
	}
	for _, event := range d.f.events {
		d.note(NoteEvent, event)
	}
	slices.SortFunc(d.st.Notes, func(a, b Note) int { return cmp.Or(compareText(a.What, b.What), compareText(a.Value, b.Value)) })
}

func (d *deriver) measures(name string) bool {
	return slices.ContainsFunc(d.st.Series, func(s Series) bool { return s.Name == name }) ||
		slices.ContainsFunc(d.st.Finals, func(f Final) bool { return f.Name == name })
}

// noteEnd looks at the end that decides about a run or a part.
func (d *deriver) noteEnd(ends []*end) {
	switch {
	case len(ends) == 0 || ends[0].outcome != trainrecord.OutcomeUnknown:
	case ends[0].said == "":
		d.note(NoteNoOutcome, "")
	default:
		d.note(NoteOutcome, ends[0].said)
	}
}

// untimed says that two streams tell one axis value, and neither when.
func untimed(heads []candidate) bool {
	for i := 1; i < len(heads); i++ {
		if heads[i].x == heads[i-1].x && heads[i].time == 0 && heads[i-1].time == 0 {
			return true
		}
	}
	return false
}

// streams counts the streams in which the lowest rank wrote rows.
func (f *Fold) streams() int64 {
	lowest := f.lowest()
	type source struct {
		kind posKind
		file uint32
	}
	seen := map[source]bool{}
	last := source{}
	for i := range f.rows.rows {
		r := &f.rows.rows[i]
		if s := (source{r.kind, r.file}); int64(r.rank) == lowest && r.event != EventRunEnd && (s != last || len(seen) == 0) {
			seen[s], last = true, s
		}
	}
	return int64(len(seen))
}

// partial says that the beginning of a stream is missing: its first record is not at its beginning, no run.start comes before the
// rows (several runs may share a file), and the rows begin later than a training does.
func (f *Fold) partial() bool {
	for _, b := range f.seen.begins() {
		if b.run == "" && !trainrecord.AtStart(b.offset) && f.beginsLate(b.file) {
			return true
		}
	}
	return false
}

// headless says that what is known begins somewhere in the middle, as far as places tell. Where several runs share a file that is so of
// each but the first.
func (f *Fold) headless() bool {
	if len(f.starts.items) > 0 {
		return false
	}
	begins := f.seen.begins()
	return len(begins) > 0 && !slices.ContainsFunc(begins, func(b beginning) bool { return trainrecord.AtStart(b.offset) })
}

func (f *Fold) beginsLate(file uint32) bool {
	start, row := int64(never), int64(never)
	epoch, step := int64(never), int64(never)
	for i := range f.starts.items {
		if at := &f.starts.items[i].at; at.kind == posOffset && at.file == file {
			start = min(start, at.pos)
		}
	}
	for i := range f.rows.rows {
		r := &f.rows.rows[i]
		if r.kind != posOffset || r.file != file || !r.trainRow() && r.epoch < 0 {
			continue
		}
		row = min(row, r.pos)
		if r.epoch >= 0 {
			epoch = min(epoch, r.epoch)
		}
		if r.step >= 0 {
			step = min(step, r.step)
		}
	}
	if row == never || start < row {
		return false
	}
	return epoch > 0 && epoch != never || epoch == never && step > 1
}

func (d *deriver) records() {
	f, rec := d.f, &d.st.Records
	for e := EventRunStart; e < eventCount; e++ {
		if n := f.counts[e]; n > 0 {
			rec.Count += n
			rec.ByEvent = append(rec.ByEvent, EventCount{e.String(), n})
		}
	}
	slices.SortFunc(rec.ByEvent, func(a, b EventCount) int { return compareText(a.Event, b.Event) })
	rec.Rejected = f.rejected
	rec.NoTime = f.noTime
	rec.Streams = f.streams()
	for k, r := range f.seen.seqs {
		if k.event != EventNone {
			continue
		}
		rec.FirstSeq = earlier(rec.FirstSeq, r.first())
		rec.LastSeq = max(rec.LastSeq, r.last())
		rec.Gaps += r.gaps()
	}
}
