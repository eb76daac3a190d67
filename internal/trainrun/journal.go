package trainrun

import "fmt"

// versionEntries is the version of the encoding, its first byte.
const versionEntries = 5

// AppendEntries appends the encoding of a batch, whose entries share their strings and give times and places relative to
// the one before: about 30 bytes for a step with one value.
func AppendEntries(dst []byte, entries []Entry) []byte {
	w := newWriter(append(dst, versionEntries))
	w.uint(uint64(len(entries)))
	prev := &Entry{}
	for i := range entries {
		w.entry(&entries[i], prev)
		prev = &entries[i]
	}
	return w.b
}

// DecodeEntries reads what AppendEntries wrote, all of b.
func DecodeEntries(b []byte) ([]Entry, error) {
	r := reader{b: b}
	if v := r.byte(); r.err == nil && v != versionEntries {
		return nil, fmt.Errorf("entries: version %d: %w, want %d", v, ErrVersion, versionEntries)
	}
	n := r.count(minEntry)
	out := make([]Entry, 0, min(n, r.rest()/minEntry+1))
	prev := &Entry{}
	for range n {
		var e Entry
		r.entry(&e, prev)
		if r.err != nil {
			return nil, fmt.Errorf("entries: %w", r.err)
		}
		out = append(out, e)
		prev = &out[len(out)-1]
	}
	if r.err == nil && r.rest() > 0 {
		r.fail("bytes after the last entry")
	}
	if r.err != nil {
		return nil, fmt.Errorf("entries: %w", r.err)
	}
	return out, nil
}

// minEntry is less than any entry takes.
const minEntry = 8

// Parts of an entry that may be missing; a set bit says that it follows.
const (
	hasSeq uint64 = 1 << iota
	hasOffset
	hasEpoch
	hasStep
	hasProgress
	hasPlannedEpochs
	hasPlannedSteps
	hasValues
	hasDurations
	hasDetail
	hasMasked
	hasCut
	hasTrace
	hasWhere
	isSampled
	isRejected
	isIDSeq
	isIDUID
	hasIndex
	hasUIDRun
	hasText
	hasPath
)

func (e *Entry) flags() uint64 {
	var f uint64
	for _, x := range []struct {
		bit uint64
		on  bool
	}{
		{hasSeq, e.Seq != 0}, {hasOffset, e.Offset >= 0 && e.ID.Kind != IDUID}, {hasEpoch, e.Epoch.Set}, {hasStep, e.Step.Set},
		{hasProgress, e.Progress >= 0}, {hasPlannedEpochs, e.PlannedEpochs.Set}, {hasPlannedSteps, e.PlannedSteps.Set},
		{hasValues, len(e.Values) > 0}, {hasDurations, len(e.Durations) > 0}, {hasDetail, e.Detail != nil},
		{hasMasked, e.Masked != 0}, {hasCut, e.Cut != 0}, {hasTrace, e.TraceID != [16]byte{}}, {hasWhere, e.Where != Where{}},
		{isSampled, e.Sampled}, {isRejected, e.Rejected}, {isIDSeq, e.ID.Kind == IDSeq},
		{isIDUID, e.ID.Kind == IDUID}, {hasIndex, e.ID.Index != 0}, {hasUIDRun, e.ID.RunID != ""},
		{hasText, e.Text != 0}, {hasPath, e.Path != 0},
	} {
		if x.on {
			f |= x.bit
		}
	}
	return f
}

func (w *writer) entry(e, prev *Entry) {
	f := e.flags()
	w.byte(byte(e.Event))
	w.uint(f)
	w.text(e.RunID)
	w.id(e, prev, f)
	w.uint(uint64(e.Attempt))
	w.uint(uint64(e.Rank))
	w.int(e.Time - prev.Time)
	w.text(e.Part)
	w.text(e.Framework)
	if f&hasSeq != 0 {
		w.int(e.Seq - prev.Seq)
	}
	if f&hasOffset != 0 {
		w.uint(uint64(e.Offset))
	}
	if f&hasText != 0 {
		w.uint(uint64(e.Text))
		w.uint(uint64(e.Replaces))
	}
	if f&hasPath != 0 {
		w.int(int64(e.Path) - int64(prev.Path))
	}
	if f&hasEpoch != 0 {
		w.int(e.Epoch.V)
	}
	if f&hasStep != 0 {
		w.int(e.Step.V - prev.Step.V)
	}
	if f&hasProgress != 0 {
		w.float(e.Progress)
	}
	if f&hasPlannedEpochs != 0 {
		w.int(e.PlannedEpochs.V)
	}
	if f&hasPlannedSteps != 0 {
		w.int(e.PlannedSteps.V)
	}
	w.rare(e, f)
}

func (w *writer) rare(e *Entry, f uint64) {
	if f&hasTrace != 0 {
		w.text(string(e.TraceID[:]))
	}
	if f&hasWhere != 0 {
		w.where(&e.Where)
	}
	if f&hasValues != 0 {
		w.values(e.Values)
	}
	if f&hasDurations != 0 {
		w.uint(uint64(len(e.Durations)))
		for _, d := range e.Durations {
			w.text(d.Phase)
			w.int(d.Nanos)
		}
	}
	if f&hasMasked != 0 {
		w.int(e.Masked)
	}
	if f&hasCut != 0 {
		w.int(e.Cut)
	}
	if f&hasDetail != 0 {
		w.detail(e.Detail)
	}
}

func (w *writer) id(e, prev *Entry, f uint64) {
	switch e.ID.Kind {
	case IDUID:
		w.fixed32(e.ID.File)
		w.fixed32(e.ID.CRC)
		w.int(e.ID.Place - prev.ID.Place)
		if f&hasIndex != 0 {
			w.uint(uint64(e.ID.Index))
		}
		if f&hasUIDRun != 0 {
			w.text(e.ID.RunID)
		}
	case IDSeq: // it is in the entry itself
	default:
		w.b = append(w.b, e.ID.Hash[:]...)
	}
}

func (w *writer) where(p *Where) {
	for _, s := range []string{p.Host, p.Service, p.Namespace, p.Job, p.Pod, p.Container} {
		w.text(s)
	}
	w.int(p.PID)
}

func (w *writer) values(values []Value) {
	w.uint(uint64(len(values)))
	for _, v := range values {
		w.text(v.Name)
		w.float(v.V)
	}
}
