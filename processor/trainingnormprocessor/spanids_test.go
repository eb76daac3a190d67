package trainingnormprocessor

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// event is a record of the vocabulary as the receiver delivers it.
type event struct {
	name   string
	offset int64
	trace  pcommon.TraceID
	span   pcommon.SpanID
	number int64 // of the attempt
	body   map[string]any
}

func events(t *testing.T, all ...event) plog.Logs {
	t.Helper()
	ld := plog.NewLogs()
	records := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for _, e := range all {
		lr := records.AppendEmpty()
		if e.name != "" {
			lr.SetEventName(trainrecord.EventName(e.name))
		}
		lr.SetTraceID(e.trace)
		lr.SetSpanID(e.span)
		attrs := lr.Attributes()
		attrs.PutStr(trainrecord.AttrRunID, "run-a")
		attrs.PutStr(trainrecord.AttrLogFilePath, "/runs/run-a/train.jsonl")
		attrs.PutInt(trainrecord.AttrLogFileRecordOffset, e.offset)
		if e.number > 0 {
			attrs.PutInt(trainrecord.AttrRunAttempt, e.number)
		}
		require.NoError(t, lr.Body().SetEmptyMap().FromRaw(e.body))
	}
	return ld
}

func recordsOf(ld plog.Logs) plog.LogRecordSlice {
	return ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords()
}

func TestRecordsWithoutATraceGetTheirRuns(t *testing.T) {
	t.Parallel()
	derivedTrace, derivedSpan := trainrecord.DerivedTraceID("", "run-a", 1), trainrecord.DerivedSpanID("", "run-a", 1, trainrecord.RunSpan)
	own, ownSpan, other := pcommon.TraceID{1}, pcommon.SpanID{2}, pcommon.TraceID{3}
	for name, c := range map[string]struct {
		in    []event
		trace []pcommon.TraceID
		span  []pcommon.SpanID
	}{
		"no trace at all": {
			[]event{{name: "run.start"}, {name: "epoch.end", offset: 100}},
			[]pcommon.TraceID{derivedTrace, derivedTrace}, []pcommon.SpanID{derivedSpan, derivedSpan},
		},
		"the trainer's": {
			[]event{{name: "run.start", trace: own, span: ownSpan}, {name: "epoch.end", offset: 100}, {name: "log", offset: 200, trace: other, span: ownSpan}},
			[]pcommon.TraceID{own, own, other}, []pcommon.SpanID{ownSpan, derivedSpan, ownSpan},
		},
		"a trace without a span": {
			[]event{{name: "epoch.end", trace: derivedTrace}, {name: "epoch.end", offset: 100, trace: other}},
			[]pcommon.TraceID{derivedTrace, other}, []pcommon.SpanID{derivedSpan, {}},
		},
		"another attempt": {
			[]event{{name: "epoch.end", number: 2}},
			[]pcommon.TraceID{trainrecord.DerivedTraceID("", "run-a", 2)},
			[]pcommon.SpanID{trainrecord.DerivedSpanID("", "run-a", 2, trainrecord.RunSpan)},
		},
		"what is no record of a run": {
			[]event{{name: "stream.status"}, {body: map[string]any{"who": "knows"}, offset: 100}},
			[]pcommon.TraceID{{}, {}}, []pcommon.SpanID{{}, {}},
		},
		"rows of a framework": {
			[]event{{name: "run.start", trace: own, span: ownSpan}, {body: huggingFaceRow, offset: 100}},
			[]pcommon.TraceID{own, own}, []pcommon.SpanID{ownSpan, derivedSpan},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := componentcheck.NewStorageHost(t)
			for range 2 { // read again after a kill
				p := begin(t, host)
				for i, e := range c.in { // the same in batches of one
					ld := events(t, e)
					require.NoError(t, p.ConsumeLogs(t.Context(), ld))
					assert.Equal(t, c.trace[i], recordsOf(ld).At(0).TraceID(), "record %d", i)
					assert.Equal(t, c.span[i], recordsOf(ld).At(0).SpanID(), "record %d", i)
				}
				p.kill(t)
			}
		})
	}
}

// TestTheTraceOfARunOutlivesAKill has a process that sees the start and another one that sees the rest.
func TestTheTraceOfARunOutlivesAKill(t *testing.T) {
	t.Parallel()
	host, own := componentcheck.NewStorageHost(t), pcommon.TraceID{1}
	p := begin(t, host)
	require.NoError(t, p.ConsumeLogs(t.Context(), events(t, event{name: "run.start", trace: own, span: pcommon.SpanID{2}})))
	p.kill(t)
	p = begin(t, host)
	defer p.end(t)
	ld := events(t, event{name: "epoch.end", offset: 100})
	require.NoError(t, p.ConsumeLogs(t.Context(), ld))
	assert.Equal(t, own, recordsOf(ld).At(0).TraceID())
}

// TestRowsBehindARecordCountAsTheirFirst has a launcher write run.start, and a loop that counts from 1, with a kill between.
func TestRowsBehindARecordCountAsTheirFirst(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	p := begin(t, host)
	require.NoError(t, p.ConsumeLogs(t.Context(), events(t, event{name: "run.start"}, event{name: "log", offset: 60})))
	for i := range 3 {
		p.kill(t)
		p = begin(t, host)
		ld := events(t, event{offset: int64(100 * (i + 1)), body: map[string]any{"epoch": i + 1, "train_loss": 0.5, "val_loss": 0.25}})
		require.NoError(t, p.ConsumeLogs(t.Context(), ld))
		epoch, ok := recordsOf(ld).At(0).Body().Map().Get(trainrecord.BodyEpoch)
		require.True(t, ok)
		assert.Equal(t, int64(i), epoch.Int())
	}
	p.end(t)
}
