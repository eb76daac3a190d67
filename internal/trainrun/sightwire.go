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

// AppendSightings encodes records that arrived together.
func AppendSightings(dst []byte, list []Sighting) []byte {
	w := newWriter(dst)
	var sources sourceTable
	w.uint(uint64(len(list)))
	for i := range list {
		w.sighting(&list[i], &sources)
	}
	return w.b
}

// DecodeSightings reads what AppendSightings wrote.
func DecodeSightings(b []byte) ([]Sighting, error) {
	r := &reader{b: b}
	var sources sourceList
	list := make([]Sighting, 0, r.count(8))
	for range cap(list) {
		s := r.sighting(&sources)
		if r.err != nil {
			return nil, r.err
		}
		list = append(list, s)
	}
	return list, r.err
}

// Bits of what a sighting has besides.
const (
	sightDurations = 1 << iota
	sightTrace
	sightDetails
)

func (w *writer) sighting(s *Sighting, sources *sourceTable) {
	w.text(s.RunID)
	w.byte(byte(s.Event))
	w.byte(byte(s.ID.Kind))
	w.text(s.ID.RunID)
	w.fixed32(s.ID.File)
	w.fixed32(s.ID.CRC)
	w.uint(uint64(s.ID.Index))
	w.int(s.ID.Place)
	if s.ID.Kind != IDUID {
		w.b = append(w.b, s.ID.Hash[:]...)
	}
	w.uint(uint64(s.Attempt))
	w.uint(uint64(s.Rank))
	w.uint(uint64(s.Seq))
	w.text(s.Part)
	w.text(s.Framework)
	w.text(s.Phase)
	w.int(s.Time)
	w.int(s.Arrived.Wall)
	w.int(s.Arrived.Mono - s.Arrived.Wall)
	for _, n := range s.ints() {
		w.optInt(*n)
	}
	w.float(s.Progress)
	var has byte
	for _, x := range s.seconds() {
		if *x >= 0 {
			has |= sightDurations
		}
	}
	if !s.Trace.IsEmpty() || !s.Span.IsEmpty() {
		has |= sightTrace
	}
	if s.Detail != nil {
		has |= sightDetails
	}
	w.byte(has)
	if has&sightDurations != 0 {
		for _, x := range s.seconds() {
			w.float(*x)
		}
	}
	if has&sightTrace != 0 {
		w.b = append(append(w.b, s.Trace[:]...), s.Span[:]...)
	}
	if has&sightDetails != 0 {
		w.sightDetail(s.Detail)
	}
	sources.write(w, s.Source)
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

func (r *reader) sighting(sources *sourceList) (s Sighting) {
	s.RunID, s.Event = r.text(), Event(r.byte())
	s.ID.Kind, s.ID.RunID, s.ID.File, s.ID.CRC = IDKind(r.byte()), r.text(), r.fixed32(), r.fixed32()
	s.ID.Index, s.ID.Place = uint32(r.uint()), max(r.int(), 0)
	if s.ID.Kind != IDUID {
		s.ID.Hash = r.hash()
	}
	s.Attempt, s.Rank, s.Seq = int64(r.uint()), int64(r.uint()), int64(r.uint())
	s.Part, s.Framework, s.Phase = r.text(), r.text(), r.text()
	s.Time = r.int()
	s.Arrived.Wall = r.int()
	s.Arrived.Mono = s.Arrived.Wall + r.int()
	for _, n := range s.ints() {
		*n = r.optInt()
	}
	s.Progress = r.float()
	s.noDurations()
	has := r.byte()
	if has&sightDurations != 0 {
		for _, x := range s.seconds() {
			*x = r.float()
		}
	}
	if has&sightTrace != 0 {
		copy(s.Trace[:], r.bytes(16))
		copy(s.Span[:], r.bytes(8))
	}
	if has&sightDetails != 0 {
		d := &SightDetail{Family: r.text(), Emits: Emits(r.byte()), Extra: r.texts()}
		d.Outcome, d.StopReason, d.ErrorType, d.Message = r.text(), r.text(), r.text(), r.text()
		s.Detail = d
	}
	s.Source = sources.read(r)
	if s.RunID == "" || s.Event == EventNone || s.Event >= eventCount || s.Event == EventRunEnd && s.Detail == nil {
		r.fail("want a record")
	}
	return s
}
