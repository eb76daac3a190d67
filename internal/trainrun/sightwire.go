package trainrun

import "go.opentelemetry.io/collector/pdata/pcommon"

// sourceTable writes each resource once.
type sourceTable struct{ index map[*Source]uint64 }

func (t *sourceTable) write(w *writer, s *Source) {
	if s == nil {
		w.uint(0)
		return
	}
	if n, ok := t.index[s]; ok {
		w.uint(n)
		return
	}
	if t.index == nil {
		t.index = map[*Source]uint64{}
	}
	n := uint64(len(t.index) + 1)
	t.index[s] = n
	w.uint(n)
	w.tree(s.Attributes.AsRaw())
}

// sourceList reads them.
type sourceList []*Source

func (t *sourceList) read(r *reader) *Source {
	n := r.uint()
	switch {
	case n == 0 || r.err != nil:
		return nil
	case n <= uint64(len(*t)):
		return (*t)[n-1]
	case n > uint64(len(*t))+1:
		r.fail("unknown resource")
		return nil
	}
	s := &Source{Attributes: pcommon.NewMap()}
	raw, _ := r.tree(0).(map[string]any)
	if err := s.Attributes.FromRaw(raw); err != nil {
		r.fail("want a resource")
	}
	*t = append(*t, s)
	return s
}

// AppendSightings encodes records that arrived together. What one has in common with the one before it is not written again: most are of one stream.
func AppendSightings(dst []byte, list []Sighting) []byte {
	w := newWriter(dst)
	var sources sourceTable
	w.uint(uint64(len(list)))
	before := &Sighting{}
	for i := range list {
		w.sighting(&list[i], before, &sources)
		before = &list[i]
	}
	return w.b
}

// DecodeSightings reads what AppendSightings wrote.
func DecodeSightings(b []byte) ([]Sighting, error) {
	r := &reader{b: b}
	var sources sourceList
	list := make([]Sighting, 0, r.count(8))
	before := &Sighting{}
	for range cap(list) {
		s := r.sighting(before, &sources)
		if r.err != nil {
			return nil, r.err
		}
		list = append(list, s)
		before = &list[len(list)-1]
	}
	return list, r.err
}

// Bits of what a sighting has besides.
const (
	sightStream = 1 << iota // another stream than the one before, or another time of arrival
	sightTrace              // another trace or span
	sightProgress
	sightDetails
)

// alike says that two records came together, of one stream.
func (s *Sighting) alike(o *Sighting) bool {
	return s.RunID == o.RunID && s.ID.Kind == o.ID.Kind && s.ID.RunID == o.ID.RunID && s.ID.File == o.ID.File && s.Attempt == o.Attempt && s.Rank == o.Rank &&
		s.Part == o.Part && s.Framework == o.Framework && s.Arrived == o.Arrived && s.Source == o.Source
}

func (w *writer) sighting(s, before *Sighting, sources *sourceTable) {
	var has byte
	if !s.alike(before) {
		has |= sightStream
	}
	if s.Trace != before.Trace || s.Span != before.Span {
		has |= sightTrace
	}
	if s.Progress != noProgress {
		has |= sightProgress
	}
	if s.Detail != nil {
		has |= sightDetails
	}
	w.byte(has)
	w.byte(byte(s.Event))
	if has&sightStream != 0 {
		w.stream(s, sources)
	}
	if has&sightTrace != 0 {
		w.b = append(append(w.b, s.Trace[:]...), s.Span[:]...)
	}
	w.fixed32(s.ID.CRC)
	w.uint(uint64(s.ID.Index))
	w.int(s.ID.Place - before.ID.Place)
	if s.ID.Kind != IDUID {
		w.b = append(w.b, s.ID.Hash[:]...)
	}
	w.uint(uint64(s.Seq))
	w.text(s.Phase)
	w.int(s.Time - before.Time)
	for _, n := range s.ints() {
		w.optInt(*n)
	}
	if has&sightProgress != 0 {
		w.float(s.Progress)
	}
	w.durations(s)
	if has&sightDetails != 0 {
		w.sightDetail(s.Detail)
	}
}

// stream writes what the records of a call mostly have in common.
func (w *writer) stream(s *Sighting, sources *sourceTable) {
	w.text(s.RunID)
	w.byte(byte(s.ID.Kind))
	w.text(s.ID.RunID)
	w.fixed32(s.ID.File)
	w.uint(uint64(s.Attempt))
	w.uint(uint64(s.Rank))
	w.text(s.Part)
	w.text(s.Framework)
	w.int(s.Arrived.Wall)
	w.int(s.Arrived.Mono - s.Arrived.Wall)
	sources.write(w, s.Source)
}

func (r *reader) stream(s *Sighting, sources *sourceList) {
	s.RunID = r.text()
	s.ID.Kind, s.ID.RunID, s.ID.File = IDKind(r.byte()), r.text(), r.fixed32()
	s.Attempt, s.Rank = int64(r.uint()), int64(r.uint())
	s.Part, s.Framework = r.text(), r.text()
	s.Arrived.Wall = r.int()
	s.Arrived.Mono = s.Arrived.Wall + r.int()
	s.Source = sources.read(r)
}

// durations writes which there are, and those.
func (w *writer) durations(s *Sighting) {
	var set byte
	for i, x := range s.seconds() {
		if *x >= 0 {
			set |= 1 << i
		}
	}
	w.byte(set)
	for i, x := range s.seconds() {
		if set&(1<<i) != 0 {
			w.float(*x)
		}
	}
}

func (r *reader) durations(s *Sighting) {
	s.noDurations()
	set := r.byte()
	for i, x := range s.seconds() {
		if set&(1<<i) != 0 {
			*x = r.float()
		}
	}
}

func (s *Sighting) ints() []*Int {
	return []*Int{&s.Epoch, &s.Step, &s.Samples, &s.Planned, &s.Completed}
}

func (s *Sighting) seconds() []*float64 {
	return []*float64{&s.EpochS, &s.TrainS, &s.ValidationS, &s.PhaseS, &s.BatchS, &s.DataWaitS, &s.RunS}
}

func (w *writer) sightDetail(d *SightDetail) {
	w.text(d.Family)
	w.byte(byte(d.Emits))
	w.texts(d.Extra)
	for _, t := range []string{d.Outcome, d.StopReason, d.ErrorType, d.Message} {
		w.text(t)
	}
}

func (w *writer) texts(list []string) {
	w.uint(uint64(len(list)))
	for _, t := range list {
		w.text(t)
	}
}

func (r *reader) texts() []string {
	var list []string
	for range r.count(1) {
		list = append(list, r.text())
	}
	return list
}

func (r *reader) sighting(before *Sighting, sources *sourceList) (s Sighting) {
	has, event := r.byte(), Event(r.byte())
	s = Sighting{
		RunID: before.RunID, Event: event, ID: ID{Kind: before.ID.Kind, RunID: before.ID.RunID, File: before.ID.File}, Attempt: before.Attempt, Rank: before.Rank,
		Part: before.Part, Framework: before.Framework, Arrived: before.Arrived, Trace: before.Trace, Span: before.Span, Source: before.Source, Progress: noProgress,
	}
	if has&sightStream != 0 {
		r.stream(&s, sources)
	}
	if has&sightTrace != 0 {
		copy(s.Trace[:], r.bytes(16))
		copy(s.Span[:], r.bytes(8))
	}
	s.ID.CRC, s.ID.Index = r.fixed32(), uint32(r.uint())
	s.ID.Place = max(before.ID.Place+r.int(), 0)
	if s.ID.Kind != IDUID {
		s.ID.Hash = r.hash()
	}
	s.Seq, s.Phase = int64(r.uint()), r.text()
	s.Time = before.Time + r.int()
	for _, n := range s.ints() {
		*n = r.optInt()
	}
	if has&sightProgress != 0 {
		s.Progress = r.float()
	}
	r.durations(&s)
	if has&sightDetails != 0 {
		d := &SightDetail{Family: r.text(), Emits: Emits(r.byte()), Extra: r.texts()}
		d.Outcome, d.StopReason, d.ErrorType, d.Message = r.text(), r.text(), r.text(), r.text()
		s.Detail = d
	}
	if s.RunID == "" || s.Event == EventNone || s.Event >= eventCount || s.Event == EventRunEnd && s.Detail == nil {
		r.fail("want a record")
	}
	return s
}
