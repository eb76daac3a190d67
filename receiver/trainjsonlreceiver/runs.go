package trainjsonlreceiver

import (
	"bytes"
	"slices"
	"sort"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// built is what lines of a file became: a batch for each run, in the order in which the runs come first. A call carries one
// run; writers that share a file would make a call of each line if they were not put together.
type built struct {
	batches []*batch
	first   []int  // number of the first line of each batch
	lines   []line // of all batches, in the order of the file
	rest    []line // those that were not taken
}

// build takes up to maxBatch lines. It notes in each the run it belongs to, so that a later build of some of them says the
// same, and what the file says up to there.
func (b *builder) build(src source, lines []line) built {
	var out built
	now := pcommon.NewTimestampFromTime(time.Now())
	last, ended := src.run, int8(0)
	var numbers map[string]int // of the batches, when there are several
	var to *batch
	var d decoded
	i := 0
	for ; i < min(len(lines), maxBatch); i++ {
		b.decode(&lines[i], &src, last, &d)
		if len(d.pieces) > 0 {
			lines = slices.Replace(lines, i, i+1, d.pieces...)
			i--
			continue
		}
		if to == nil || d.run != to.run {
			to = out.batch(d.run, i, &numbers)
		}
		if d.named != "" {
			last = d.named
		}
		if e := d.ends(); e != 0 {
			ended = e
		}
		l := &lines[i]
		l.run, l.last, l.ended = d.run, last, ended
		if to.take(b, d.line.Resource) && len(out.batches) == 1 {
			to.slice.EnsureCapacity(min(len(lines)-i, maxBatch))
		}
		to.count(l, &d)
		b.scratch.SetObservedTimestamp(now)
		b.scratch.MoveTo(to.slice.AppendEmpty())
	}
	out.lines, out.rest = lines[:i:i], lines[i:]
	if len(out.batches) == 1 {
		to.lines = out.lines
		return out
	}
	for k := range out.lines {
		to := out.batches[numbers[out.lines[k].run]]
		to.lines = append(to.lines, out.lines[k])
	}
	return out
}

// batch gives the batch of a run; a new one begins with the line of that number.
func (o *built) batch(run string, at int, numbers *map[string]int) *batch {
	if n, ok := (*numbers)[run]; ok {
		return o.batches[n]
	}
	if len(o.batches) == 1 {
		*numbers = map[string]int{o.batches[0].run: 0}
	}
	if len(o.batches) > 0 {
		(*numbers)[run] = len(o.batches)
	}
	fresh := &batch{logs: plog.NewLogs(), run: run}
	o.batches, o.first = append(o.batches, fresh), append(o.first, at)
	return fresh
}

// take makes room for a record of a resource, and says whether it is another than that of the record before.
func (to *batch) take(b *builder, resource []byte) bool {
	if to.logs.ResourceLogs().Len() > 0 && bytes.Equal(resource, to.resource) {
		return false
	}
	to.resource = append(to.resource[:0], resource...)
	rl := to.logs.ResourceLogs().AppendEmpty()
	if len(resource) > 0 {
		b.reader.Decoder().PutResource(rl.Resource().Attributes())
	}
	rl.SetSchemaUrl(trainrecord.SchemaURL)
	sl := rl.ScopeLogs().AppendEmpty()
	sl.SetSchemaUrl(trainrecord.SchemaURL)
	sl.Scope().SetName(trainrecord.ScopeName)
	sl.Scope().SetVersion(trainrecord.SchemaVersion)
	to.slice = sl.LogRecords()
	return true
}

// count notes what a line was.
func (to *batch) count(l *line, d *decoded) {
	if d.clock {
		if to.odd.clock == 0 {
			to.clock = flaw{key: trainrecord.KeyTS, offset: l.offset}
		}
		to.odd.clock++
	}
	if d.bad != nil {
		to.bad = append(to.bad, *d.bad)
		return
	}
	to.byFolder = to.byFolder || d.folder
	to.odd.add(d.line)
	if d.line.Flaw != "" && to.flawed.key == "" {
		to.flawed = flaw{key: d.line.Flaw, offset: l.offset}
	}
	if d.line.Kind == trainrecord.LineObject {
		to.objects++
	} else {
		to.records++
	}
}

// ends says whether the line ends a run (1), is work (-1), or neither.
func (d *decoded) ends() int8 {
	switch {
	case d.bad != nil:
		return 0
	case d.line.Kind == trainrecord.LineObject:
		return -1
	}
	switch d.line.Event {
	case trainrecord.EventRunEnd:
		return 1
	case trainrecord.EventRunStart, trainrecord.EventEpochEnd, trainrecord.EventStepEnd, trainrecord.EventPhaseStart, trainrecord.EventHeartbeat:
		return -1
	default: // may come last
		return 0
	}
}

// upTo gives the place to which the file is delivered when the batch of a number and those before it are, if the first line
// of the next one is not.
func (o *built) upTo(number int) int64 {
	if number+1 == len(o.batches) {
		return o.lines[len(o.lines)-1].end
	}
	return o.lines[o.first[number+1]-1].end
}

// apart says whether the lines of a batch are one after the other, and nothing behind them was delivered before.
func (o *built) apart(number int) bool {
	n := 0
	for _, b := range o.batches[:number] {
		n += len(b.lines)
	}
	lines := o.batches[number].lines
	return o.first[number] == n && lines[len(lines)-1].end == o.lines[n+len(lines)-1].end
}

// at is the mark at a place before which all lines are delivered, when that of their beginning is m.
func (o *built) at(m mark, place int64) mark {
	n := sort.Search(len(o.lines), func(i int) bool { return o.lines[i].end > place })
	if n == 0 {
		return m
	}
	m.Run = o.lines[n-1].last
	switch o.lines[n-1].ended {
	case 1:
		m.Ended = true
	case -1:
		m.Ended = false
	}
	return m
}
