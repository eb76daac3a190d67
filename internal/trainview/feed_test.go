package trainview

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// start is when the runs of the tests begin.
var start = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// run is a run in the making.
type run struct {
	t      require.TestingT
	fold   *trainrun.Fold
	trail  *Trail
	offset int64
	ev     Evidence
	o      Options
	end    time.Time // of the last record
	last   last
}

func newRun(t require.TestingT) *run {
	return &run{t: t, fold: trainrun.New("r"), trail: NewTrail()}
}

// line gives the run a record: its time, event and body.
func (r *run) line(at time.Time, event, body string, keys ...string) *run {
	text := fmt.Sprintf(`{"ts":%q,"event":%q,"run_id":"r",%s"body":{%s}}`, at.Format(time.RFC3339Nano), event, strings.Join(append(keys, ""), ","), body)
	return r.raw(text, Origin{})
}

func (r *run) raw(text string, from Origin) *run {
	lr := plog.NewLogRecord()
	decoder := trainrecord.NewDecoder(trainrecord.DecoderOptions{})
	got := decoder.Decode([]byte(text), lr)
	require.Equal(r.t, trainrecord.LineRecord, got.Kind, "%s %v", text, got.Err)
	res := pcommon.NewResource()
	if len(got.Resource) > 0 {
		decoder.PutResource(res.Attributes())
	}
	rec, ok := trainrecord.FromLog(res, lr)
	require.True(r.t, ok)
	var e trainrun.Entry
	ok = new(trainrun.Reducer).At(&e, &rec, trainrecord.UID{RunID: "r", File: uint32(from.Stream), Offset: r.offset, CRC: trainrecord.LineCRC([]byte(text))})
	require.True(r.t, ok)
	r.offset += int64(len(text)) + 1
	if r.fold.Apply(e) {
		r.trail.Add(&rec, &e, from)
	}
	r.last = last{rec, e}
	if e.Time > 0 {
		r.end = time.Unix(0, e.Time)
	}
	return r
}

// epochs gives the run epochs, 60 s each, with one metric.
func (r *run) epochs(metric string, values ...float64) *run {
	for i, v := range values {
		r.line(start.Add(time.Duration(i+1)*time.Minute), "epoch.end", fmt.Sprintf(`"epoch":%d,"measurements":{%q:%s}`, i, metric, spell(v)))
	}
	return r
}

func spell(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	return fmt.Sprint(v)
}

// after makes the document so long after the last record.
func (r *run) after(d time.Duration) *Document {
	r.ev.Now = r.end.Add(d)
	if r.end.IsZero() {
		r.ev.Now = start.Add(d)
	}
	if r.ev.ModTime.IsZero() {
		r.ev.ModTime = r.end
		defer func() { r.ev.ModTime = time.Time{} }()
	}
	return Summarize(r.fold, r.trail, r.ev, r.o).Document
}

func codesOf(d *Document) (out []string) {
	for _, w := range d.Warnings {
		out = append(out, w.Code)
	}
	return out
}

func encoded(t testing.TB, d *Document) string {
	t.Helper()
	b, err := Encode(d)
	require.NoError(t, err)
	return string(b)
}
