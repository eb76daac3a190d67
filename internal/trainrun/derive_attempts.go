package trainrun

import (
	"slices"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// span is how far one attempt came in one part.
type span struct {
	begin                           // first epoch and step, from rows that stand and resumed_from
	firstEpoch, firstStep     int64 // of rows
	lastEpoch, lastStep, came int64 // -1 = none; came is the last step of the rows that stand
	gone                      int64 // the first of its steps whose epoch a newer attempt took over
	seen                      bool
}

// progress is how far the attempts came, by part and attempt.
type progress struct{ spans [][]span }

// collect finds what each attempt covers, and from that what newer attempts superseded.
func (d *deriver) collect() {
	parts, attempts := len(d.f.parts.items), len(d.seg.list)
	d.spans = make([][]span, parts)
	for p := range d.spans {
		d.spans[p] = make([]span, attempts)
		for a := range d.spans[p] {
			d.spans[p][a] = span{
				begin: begin{epoch: never, step: never, resumed: never}, firstEpoch: never, firstStep: never, lastEpoch: none, lastStep: none, came: none, gone: never,
			}
		}
	}
	for i := range d.f.rows.rows {
		r := &d.f.rows.rows[i]
		s := &d.spans[r.part][d.attempt[i]]
		s.seen = true
		if r.epoch >= 0 {
			s.firstEpoch, s.lastEpoch = min(s.firstEpoch, r.epoch), max(s.lastEpoch, r.epoch)
		}
		step := d.stepOf(r)
		if step >= 0 {
			s.firstStep, s.lastStep = min(s.firstStep, step), max(s.lastStep, step)
		}
		if !d.f.texts.replaced(r.path, r.pos) { // what is not there any more took over nothing
			s.stand(r.epoch, step)
		}
	}
	for i := range d.f.starts.items {
		it := d.f.starts.items[i]
		p, ok := d.f.parts.find(it.part)
		if !ok {
			continue
		}
		at := it.at.spot(it.part)
		s := &d.spans[p][d.seg.attempt(&at)]
		// Rows that begin one epoch later tell that the epoch of the checkpoint was written: it was not trained again.
		if it.epoch.Set && it.epoch.V >= 0 && s.firstEpoch-1 != it.epoch.V {
			s.epoch = min(s.epoch, it.epoch.V)
			if s.seen {
				s.resumed = min(s.resumed, it.epoch.V)
			}
		}
	}
	d.takeOver()
}

// stand notes a row that no newer text took the place of.
func (s *span) stand(epoch, step int64) {
	if epoch >= 0 {
		s.epoch = min(s.epoch, epoch)
	}
	if step >= 0 {
		s.step, s.came = min(s.step, step), max(s.came, step)
	}
}

// spot is where a row stands.
func (d *deriver) spot(r *row) spot {
	return spot{int64(r.attempt), int64(r.rank), d.f.parts.items[r.part].name, r.file, r.kind, r.pos, r.time, r.path, nil}
}

// cutOf says what newer attempts superseded of the attempt of a row: all, when a newer text took the place of the row.
func (d *deriver) cutOf(i int) *cut {
	r := &d.f.rows.rows[i]
	if d.f.texts.replaced(r.path, r.pos) {
		return &replaced
	}
	return &d.cuts[r.part][d.attempt[i]]
}

// takeOver finds what newer attempts superseded.
func (d *deriver) takeOver() {
	d.cuts = make([][]cut, len(d.spans))
	for p, spans := range d.spans {
		begins := make([]begin, len(spans))
		last := none
		for a := range begins {
			begins[a] = spans[a].begin
			begins[a].silent = !spans[a].seen
			begins[a].behind = spans[a].step > last
			if !begins[a].behind { // the first step tells it more exactly than the epoch
				begins[a].resumed = never
			}
			last = max(last, spans[a].came)
		}
		d.cuts[p] = cuts(begins)
	}
	for i := range d.f.rows.rows {
		r := &d.f.rows.rows[i]
		if s := &d.spans[r.part][d.attempt[i]]; d.stepOf(r) >= 0 && d.cutOf(i).coversStep(r) {
			s.gone = min(s.gone, r.step)
		}
	}
}

func (t *partTable) find(name string) (int, bool) {
	return slices.BinarySearchFunc(t.items, name, func(p *part, name string) int { return compareText(p.name, name) })
}

// lastAttempt is the newest attempt that has rows of a part, -1 when none has.
func (d *deriver) lastAttempt(part int) int {
	for a := len(d.spans[part]) - 1; a >= 0; a-- {
		if d.spans[part][a].seen {
			return a
		}
	}
	return -1
}

func (d *deriver) attempts() {
	list := make([]Attempt, len(d.seg.list))
	for a := range list {
		list[a].Number = d.numbers[a]
		d.extent(&list[a], a)
	}
	d.st.Attempt = d.numbers[len(d.numbers)-1]
	d.attemptTimes(list)
	d.attemptHosts(list)
	d.attemptOutcomes(list)
	d.st.Attempts = list
}

// extent takes the epochs and steps of the run itself; of a run that has only parts those of its parts.
func (d *deriver) extent(at *Attempt, a int) {
	only, named := d.f.parts.find("")
	if named {
		named = d.lastAttempt(only) >= 0
	}
	for p := range d.spans {
		s, c := &d.spans[p][a], &d.cuts[p][a]
		if !s.seen || named && p != only {
			continue
		}
		if s.lastEpoch >= 0 {
			at.FirstEpoch, at.LastEpoch = lowest(at.FirstEpoch, s.firstEpoch), greatest(at.LastEpoch, s.lastEpoch)
			if c.epoch <= s.lastEpoch {
				at.SupersededEpochs += s.lastEpoch - max(s.firstEpoch, c.epoch) + 1
			}
		}
		if s.lastStep >= 0 {
			at.FirstStep, at.LastStep = lowest(at.FirstStep, s.firstStep), greatest(at.LastStep, s.lastStep)
			if from := min(max(s.firstStep, c.step), s.gone); from <= s.lastStep {
				at.SupersededSteps += s.lastStep - from + 1
			}
		}
	}
}

func lowest(p *int64, n int64) *int64 {
	if p != nil && *p <= n {
		return p
	}
	return &n
}

func greatest(p *int64, n int64) *int64 {
	if p != nil && *p >= n {
		return p
	}
	return &n
}

func (d *deriver) attemptTimes(list []Attempt) {
	see := func(a int, t int64) {
		list[a].StartedAt = earlier(list[a].StartedAt, t)
		list[a].EndedAt = max(list[a].EndedAt, t)
	}
	for i := range d.f.rows.rows {
		see(int(d.attempt[i]), d.f.rows.rows[i].time)
	}
	d.eachRare(func(at *stamp, part string) {
		sp := at.spot(part)
		see(d.seg.attempt(&sp), at.time)
	})
	for i := range d.f.ends.items {
		see(d.ends[i], d.f.ends.items[i].at.time)
	}
	// Records that are neither rows nor rare, heartbeats for one, count for the ends of what their number covers.
	for _, t := range d.f.attempts {
		first, ok := d.seg.index[segment{number: t.number}]
		if !ok {
			continue
		}
		last := first
		for last+1 < len(list) && d.seg.list[last+1].number == t.number {
			last++
		}
		see(first, t.first)
		if !d.lateEnd(last, t.number) {
			see(last, t.last)
		}
	}
}

// lateEnd says that an end with the number was given to a newer attempt: the last time of the number is not its own then.
func (d *deriver) lateEnd(last int, number int64) bool {
	for i, a := range d.ends {
		if d.f.ends.items[i].at.attempt == number && a > last {
			return true
		}
	}
	return false
}

// eachRare visits starts and failures.
func (d *deriver) eachRare(visit func(at *stamp, part string)) {
	for i := range d.f.starts.items {
		visit(&d.f.starts.items[i].at, d.f.starts.items[i].part)
	}
	for i := range d.f.failMarks.items {
		visit(&d.f.failMarks.items[i].at, d.f.failMarks.items[i].part)
	}
}

func (d *deriver) attemptHosts(list []Attempt) {
	for _, s := range d.f.starts.merged(&byStarts, each) { // by rank: the first one with a host decides
		sp := s.at.spot(s.part)
		if a := &list[d.seg.attempt(&sp)]; a.Host == "" {
			a.Host = s.host
		}
	}
	ranks := make([]int32, len(list))
	fromRow := make([]bool, len(list))
	for i := range d.f.rows.rows {
		r := &d.f.rows.rows[i]
		a := d.attempt[i]
		if r.host == 0 || list[a].Host != "" && (!fromRow[a] || ranks[a] <= r.rank) {
			continue
		}
		list[a].Host, ranks[a], fromRow[a] = d.f.hosts.name(r.host), r.rank, true
	}
}

func (d *deriver) attemptOutcomes(list []Attempt) {
	for i := range d.f.failMarks.items {
		m := d.f.failMarks.items[i]
		sp := m.at.spot(m.part)
		list[d.seg.attempt(&sp)].Outcome = trainrecord.OutcomeFailed
	}
	for a := range list {
		if ends := d.choose("", a); len(ends) > 0 {
			list[a].Outcome = ends[0].outcome
		}
	}
	list[len(list)-1].Outcome = d.st.Outcome
}
