package trainprofile

import (
	"cmp"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

var gaugeCRC = crc32.MakeTable(crc32.Castagnoli)

// uid identifies the row, whatever was known before it: <run>/m<time hex>-<crc32c of its points>.
func (r *rowPoints) uid() string {
	points := slices.Clone(r.points)
	slices.SortFunc(points, func(a, b gaugePoint) int { return strings.Compare(a.name, b.name) })
	text := append([]byte(r.key), r.process...)
	for i := range points {
		p := &points[i]
		text = strconv.AppendQuote(text, p.name)
		text = strconv.AppendUint(text, p.bits, 16)
		text = strconv.AppendBool(text, p.isInt)
	}
	return gaugeUID(r.run, r.last, text)
}

func gaugeUID(run string, at pcommon.Timestamp, text []byte) string {
	crc := strconv.FormatUint(uint64(crc32.Checksum(text, gaugeCRC)), 16)
	return run + "/m" + strconv.FormatUint(uint64(at), 16) + "-" + strings.Repeat("0", 8-len(crc)) + crc
}

// send makes the record of a row whose step moved, or that has none.
func (b *GaugeBatch) send(e *gaugeRow, r *rowPoints, values []gaugeValue) {
	_, _, hasStep := r.stepOf()
	if len(values) == 0 && !hasStep {
		return
	}
	phase := ""
	if len(values) == 0 {
		phase = r.points[0].phase
	}
	b.stepEnd(e, r.resource, r.last, r.uid(), values, phase)
}

// sendHeld makes the record of the values that were held.
func (b *GaugeBatch) sendHeld(e *gaugeRow) {
	if held := e.held; held != nil {
		values := e.heldValues()
		e.release()
		b.stepEnd(e, held.resource, held.at, held.uid, values, "")
	}
}

func (b *GaugeBatch) stepEnd(e *gaugeRow, resource pcommon.Map, at pcommon.Timestamp, uid string, values []gaugeValue, phase string) {
	slices.SortFunc(values, func(a, b gaugeValue) int { return strings.Compare(a.name, b.name) })
	for i := range values {
		if i > 0 && values[i].phase != values[0].phase {
			phase = ""
			break
		}
		phase = values[i].phase
	}
	h := trainrecord.NewHeader()
	h.Event, h.Part, h.Rank, h.Phase = trainrecord.EventStepEnd, e.part, e.rank, phase
	if !e.hasStep {
		e.run.seq++
		h.Seq = e.run.seq
	}
	lr := b.record(e, resource, uid)
	body := lr.Body().SetEmptyMap()
	if e.hasStep {
		body.PutInt(trainrecord.BodyStep, e.step)
	}
	for i := range values {
		values[i].put(body)
	}
	b.header(e, lr, h, at)
	b.Values[ValueSent] += len(values)
}

func (v *gaugeValue) put(body pcommon.Map) {
	to, name := trainrecord.BodyMeasurements, prefixOf(v.phase)+v.as
	if v.group {
		to, name = trainrecord.BodyLearningRate, v.as
	}
	m := object(body, to)
	if v.isInt {
		m.PutInt(name, int64(v.bits))
		return
	}
	m.PutDouble(name, math.Float64frombits(v.bits))
}

// heartbeats says of runs that export and had no record for long that they live.
func (b *GaugeBatch) heartbeats() {
	var runs []*gaugeRun
	for run := range b.alive {
		if !b.spoke[run] && b.now.Sub(run.lastRecord) >= b.records.options.Heartbeat {
			runs = append(runs, run)
		}
	}
	slices.SortFunc(runs, func(a, b *gaugeRun) int { return cmp.Compare(a.id, b.id) })
	for _, run := range runs {
		r := b.alive[run]
		e := &gaugeRow{run: run, attempt: run.attemptOf(r.process), profile: r.profile, rank: -1}
		lr := b.record(e, r.resource, gaugeUID(run.id, r.last, []byte(trainrecord.EventHeartbeat+r.process)))
		lr.Body().SetEmptyMap()
		h := trainrecord.NewHeader()
		h.Event = trainrecord.EventHeartbeat
		b.header(e, lr, h, r.last)
	}
}

// record begins a log record beside others of the same resource.
func (b *GaugeBatch) record(e *gaugeRow, resource pcommon.Map, uid string) plog.LogRecord {
	place, ok := b.places[resource]
	if !ok {
		rl := b.Logs.ResourceLogs().AppendEmpty()
		resource.CopyTo(rl.Resource().Attributes())
		rl.Resource().Attributes().RemoveIf(func(key string, _ pcommon.Value) bool {
			return strings.HasPrefix(key, trainrecord.Namespace+".")
		})
		rl.SetSchemaUrl(trainrecord.SchemaURL)
		sl := rl.ScopeLogs().AppendEmpty()
		sl.SetSchemaUrl(trainrecord.SchemaURL)
		sl.Scope().SetName(trainrecord.ScopeName)
		sl.Scope().SetVersion(trainrecord.SchemaVersion)
		place = sl.LogRecords()
		b.places[resource] = place
	}
	lr := place.AppendEmpty()
	lr.SetObservedTimestamp(pcommon.NewTimestampFromTime(b.now))
	lr.Attributes().PutStr(trainrecord.AttrLogRecordUID, uid)
	lr.Attributes().PutBool(trainrecord.AttrRecordSampled, true)
	e.run.lastRecord = b.now
	b.spoke[e.run] = true
	return lr
}

func (b *GaugeBatch) header(e *gaugeRow, lr plog.LogRecord, h trainrecord.Header, at pcommon.Timestamp) {
	h.RunID, h.Framework, h.Time = e.run.id, e.profile.framework, at
	if e.attempt > 1 {
		h.Attempt = e.attempt
	}
	h.Put(lr)
}
