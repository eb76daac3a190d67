package trainview

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestADocumentFits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\\\"\x1b", 300)
	r := newRun(t)
	r.line(start, "run.start", `"objective":{"metric":`+quoteJSON(long)+`,"mode":"min"}`)
	for i := range 8 {
		var m []string
		for k := range 40 {
			m = append(m, fmt.Sprintf("%s:NaN", quoteJSON(fmt.Sprint("val/loss", k, long))))
		}
		r.line(start.Add(time.Duration(i)*time.Minute), "epoch.end", fmt.Sprintf(`"epoch":%d,"measurements":{%s:%d,%s}`, i, quoteJSON(long), 8-i, strings.Join(m, ",")))
		r.line(start.Add(time.Duration(i)*time.Minute), "checkpoint.save", fmt.Sprintf(`"epoch":%d,"path":%s,"kind":"best"`, i, quoteJSON(long)))
	}
	r.line(start.Add(time.Hour), "run.failure", `"error_type":`+quoteJSON(long)+`,"message":`+quoteJSON(long))
	for i := range 20 {
		r.ev.Files = append(r.ev.Files, File{Path: long + fmt.Sprint(i)})
	}
	r.o.Explain = true
	d := r.after(time.Second)
	before := len(d.Warnings)
	d.Fit()
	assert.NotNil(t, d.Explain)
	d.Explain = nil
	assert.LessOrEqual(t, len(encoded(t, d))-1, MaxDocument)
	assert.Equal(t, before, len(d.Warnings)+d.WarningsOmitted)
	assert.Equal(t, 41, len(d.Metrics)+d.MetricsOmitted)
	assert.Equal(t, 20, len(d.Source.Files)+d.Source.FilesOmitted)
	assert.NotEmpty(t, d.Source.Files)
}

func quoteJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestAListTellsFirstWhatNeedsAttention(t *testing.T) {
	t.Parallel()
	var runs []Entry
	for i, state := range []string{Finished, Running, Failed, Starting, Stalled, Unknown, Aborted, Failed} {
		runs = append(runs, Entry{Document: &Document{State: state}, ID: fmt.Sprint("run-", i), Ref: fmt.Sprint("runs/", i, "/t.jsonl")})
	}
	runs[1].ID = "run-0"
	runs[3].ID = "bad\nid"
	l := NewList(start, runs, 5)
	var got []string
	for _, r := range l.Runs {
		got = append(got, r.State)
	}
	assert.Equal(t, []string{Failed, Failed, Stalled, Unknown, Aborted}, got)
	assert.Equal(t, 8, l.Total)
	assert.Equal(t, 3, l.Omitted)
	l = NewList(start, runs, 0)
	refs := map[string]string{}
	for _, r := range l.Runs {
		refs[r.State] = r.Ref
	}
	assert.Equal(t, "runs/0/t.jsonl", refs[Finished], "the id is not unique")
	assert.Equal(t, "runs/3/t.jsonl", refs[Starting], "the id was altered")
	assert.Empty(t, refs[Stalled])
}

func TestARowFits(t *testing.T) {
	t.Parallel()
	n := number(-1.23456e-300)
	d := &Document{State: Unknown, Progress: Progress{EpochsCompleted: ptr(int64(1e15)), EpochsPlanned: ptr(int64(1e15))}, Metrics: []Metric{{
		Name: strings.Repeat("日", 30), Last: n, Trend: TooFewPoints, Best: n, BestAt: ptr(int64(1e15)),
	}}, Warnings: make([]Warning, 99)}
	l := NewList(start, []Entry{{Document: d, ID: strings.Repeat("\\", 80)}}, 0)
	b, err := Encode(l.Runs[0])
	require.NoError(t, err)
	assert.LessOrEqual(t, len(b)-1, MaxRow, "%s", b)
}

func TestNumbersHaveSixDigits(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		0: "0", 1: "1", 0.1 + 0.2: "0.3", 1234567.8: "1234570", 1e21: "1e+21", 1.5e-7: "1.5e-07", -0.0000123456789: "-0.0000123457", 1e14: "100000000000000",
		1.7976931348623157e308: "1.79769e+308",
	} {
		assert.Equal(t, want, Number(v).String())
	}
	b, err := Encode([]Number{Number(inf()), Number(-inf()), Number(inf() - inf())})
	require.NoError(t, err)
	assert.Equal(t, `["Infinity","-Infinity","NaN"]`+"\n", string(b))
}

func inf() float64 { return math.Inf(1) }

// TestMetricsGoBeforeWarnings: a document that is a little too large keeps what it can.
func TestMetricsGoBeforeWarnings(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	for i := range 9 {
		var m []string
		for k := range 6 {
			m = append(m, fmt.Sprintf("%s:%d", quoteJSON(fmt.Sprint("val/", k, strings.Repeat("long", 12), "_loss")), 9-i))
		}
		r.line(start.Add(time.Duration(i)*time.Minute), "epoch.end", fmt.Sprintf(`"epoch":%d,"measurements":{%s,"x":NaN}`, i, strings.Join(m, ",")))
	}
	d := r.after(time.Second)
	require.Len(t, d.Metrics, 6)
	d.Fit()
	assert.LessOrEqual(t, len(encoded(t, d))-1, MaxDocument)
	assert.NotEmpty(t, d.Metrics)
	assert.Less(t, len(d.Metrics), 6)
	assert.Len(t, d.Warnings, 1)
	assert.NotContains(t, d.Metrics[0].Name, "…", "texts are cut last")
}

// TestNamesOfWhatIsMeasuredFit: they are counted, and go before metrics do, but for some.
func TestNamesOfWhatIsMeasuredFit(t *testing.T) {
	t.Parallel()
	var m []string
	for k := range 40 {
		m = append(m, fmt.Sprintf("%s:1", quoteJSON(fmt.Sprint(strings.Repeat("long", 12), k))))
	}
	for k := range 6 {
		m = append(m, fmt.Sprintf("%s:1", quoteJSON(fmt.Sprint("train/", strings.Repeat("long", 12), k, "_loss"))))
	}
	d := newRun(t).line(start, "epoch.end", `"epoch":0,"measurements":{`+strings.Join(m, ",")+`}`).after(time.Second)
	assert.Len(t, d.Measured, maxMeasured)
	d.Fit()
	assert.LessOrEqual(t, len(encoded(t, d))-1, MaxDocument)
	assert.Len(t, d.Measured, leastMeasured)
	assert.Equal(t, 46, len(d.Measured)+d.MeasuredOmitted)
	assert.NotEmpty(t, d.Metrics)
}
