package trainingsignalsconnector

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumererror"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

func named(spans []map[string]any, name string) (found []map[string]any) {
	for _, s := range spans {
		if s["name"] == "training."+name {
			found = append(found, s)
		}
	}
	return found
}

const (
	ownTrace = "0af7651916cd43dd8448eb211c80319c"
	ownSpan  = "b7ad6b7169203331"
)

func TestTheTrainersOwnTraceIsJoined(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	own := m{"trace_id": ownTrace, "span_id": ownSpan}
	phase := func(span string, name string) m { return m{"trace_id": ownTrace, "span_id": span, "phase": name} }
	b.rec(1, 0, "run.start", "r", own, nil)
	b.rec(2, 0, "phase.start", "r", phase("00f067aa0ba902b7", "train"), m{"epoch": 0})
	b.rec(3, 0, "phase.end", "r", phase("00f067aa0ba902b7", "train"), m{"epoch": 0})
	b.rec(4, 0, "phase.start", "r", phase(ownSpan, "validation"), m{"epoch": 0}) // only the span around all
	b.rec(5, 0, "phase.end", "r", phase(ownSpan, "validation"), m{"epoch": 0})
	b.rec(6, 0, "step.end", "r", m{"trace_id": "11111111111111111111111111111111", "span_id": "1111111111111111"}, m{"step": 1})
	b.rec(7, 0, "run.end", "r", own, m{"outcome": "success"})
	b.tick(10)
	b.tick(20)
	points, spans := b.took()
	assert.Empty(t, named(spans, "train"), "the trainer has a span of its own for it")
	require.Len(t, named(spans, "validation"), 1)
	run := named(spans, "run")
	require.Len(t, run, 1)
	assert.Equal(t, ownSpan, run[0]["parent_span_id"])
	for _, s := range spans {
		assert.Equal(t, ownTrace, s["trace_id"])
	}
	assert.Equal(t, trainrecord.DerivedSpanID("", "r", 1, trainrecord.RunSpan).String(), run[0]["span_id"])
	assert.InDelta(t, 1, value1(points, "phase.duration", "train"), 0, "it counts all the same")
}

// TestASpanThatRecordsWereGivenIsNotThePhases: training_norm gives records without ids the trace of the trainer and the span of the run,
// by the number that they carry. A second attempt has none in its records.
func TestASpanThatRecordsWereGivenIsNotThePhases(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	given := m{"trace_id": ownTrace, "span_id": trainrecord.DerivedSpanID("", "r", 1, trainrecord.RunSpan).String(), "phase": "train"}
	for _, second := range []float64{1, 11} {
		b.rec(second, 0, "run.start", "r", m{"trace_id": ownTrace, "span_id": ownSpan}, nil)
		b.rec(second+1, 0, "phase.start", "r", given, m{"epoch": 0})
		b.rec(second+2, 0, "phase.end", "r", given, m{"epoch": 0})
		b.tick(second + 9)
	}
	_, spans := b.took()
	assert.Len(t, named(spans, "train"), 2)
}

func TestATraceStaysTheOneThatSpansAreIn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	of := func(trace string, more m) m {
		more["trace_id"], more["span_id"] = strings.Repeat(trace, 32), strings.Repeat(trace, 16)
		return more
	}
	b.rec(1, 0, "phase.start", "r", of("1", m{"rank": 1, "phase": "train"}), m{"epoch": 0})
	b.rec(2, 0, "phase.end", "r", m{"rank": 1, "phase": "train"}, m{"epoch": 0})
	b.tick(10)
	b.rec(12, 11.5, "run.start", "r", of("2", m{}), nil)
	b.rec(13, 0, "run.end", "r", nil, m{"outcome": "success"})
	b.tick(20)
	b.tick(30)
	_, spans := b.took()
	require.Len(t, spans, 3)
	for _, s := range spans {
		assert.Equal(t, strings.Repeat("1", 32), s["trace_id"], s["name"])
	}
}

func TestAStartThatComesBehindTheRunsSpanIsWithinIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rec(5, 0, "step.end", "r", nil, m{"step": 1})
	b.rec(6, 0, "run.end", "r", nil, m{"outcome": "success"})
	b.tick(10)
	b.tick(20)
	b.rec(35, 33, "run.start", "r", nil, nil)
	b.rec(35, 32, "phase.end", "r", m{"phase": "validation"}, durations(m{"phase_s": 2}))
	b.tick(40)
	_, spans := b.took()
	require.Len(t, spans, 3)
	for _, s := range spans {
		assert.GreaterOrEqual(t, s["start"], at(5), s["name"])
		assert.LessOrEqual(t, s["end"], at(6), s["name"])
	}
}

func TestAStartFarAheadIsWithinTheRunsSpan(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rec(1, -7200, "run.start", "r", nil, nil) // its clock is put right behind it
	b.tick(10)
	b.rec(11, 0, "phase.end", "r", m{"phase": "train"}, durations(m{"phase_s": 5}))
	b.rec(12, 0, "run.end", "r", nil, m{"outcome": "success"})
	b.tick(20)
	b.tick(30)
	_, spans := b.took()
	run, start := named(spans, "run")[0], named(spans, "start")[0]
	assert.LessOrEqual(t, run["start"], start["start"])
	assert.GreaterOrEqual(t, run["end"], start["end"])
	assert.LessOrEqual(t, run["end"], at(61), "no later than a minute behind the arrival of what claims it")
}

func TestDerivedIdsOnRecordsAreNoTraceOfTheTrainers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	filled := m{"trace_id": trainrecord.DerivedTraceID("", "r", 1).String(), "span_id": trainrecord.DerivedSpanID("", "r", 1, trainrecord.RunSpan).String(), "phase": "train"}
	b.rec(1, 0, "run.start", "r", filled, nil)
	b.rec(2, 0, "phase.start", "r", filled, m{"epoch": 0})
	b.rec(3, 0, "phase.end", "r", filled, m{"epoch": 0})
	b.rec(4, 0, "run.end", "r", filled, m{"outcome": "success"})
	b.tick(10)
	b.tick(20)
	_, spans := b.took()
	require.Len(t, named(spans, "train"), 1)
	assert.Empty(t, named(spans, "run")[0]["parent_span_id"])
}

func TestAttemptsAreLinked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rec(1, 0, "run.start", "r", nil, nil)
	b.rec(2, 0, "run.start", "r", nil, nil) // without numbers: the same trace
	b.rec(3, 0, "run.end", "r", nil, m{"outcome": "success"})
	b.rec(4, 0, "run.start", "n", m{"attempt": 7}, nil) // nobody saw attempt 6
	b.tick(10)
	b.tick(20)
	_, spans := b.took()
	require.Len(t, named(spans, "run"), 2)
	for _, s := range append(named(spans, "start"), named(spans, "run")...) {
		attrs := s["attributes"].(map[string]any)
		n := int64(attrs[trainrecord.AttrRunAttempt].(float64))
		run := attrs[trainrecord.AttrRunID].(string)
		if n == 1 {
			assert.Empty(t, s["links"])
			continue
		}
		trace := trainrecord.DerivedTraceID("", run, map[string]int64{"r": 1, "n": 6}[run]).String()
		assert.Equal(t, []any{map[string]any{"trace_id": trace, "span_id": trainrecord.DerivedSpanID("", run, n-1, trainrecord.RunSpan).String()}}, s["links"])
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Spans.ExceptionEvent = true })
	b.rec(1, 0, "run.start", "r", nil, nil)
	b.rec(2, 0, "phase.start", "r", m{"phase": "train"}, m{"epoch": 0})
	b.rec(3, 0, "phase.start", "r", m{"phase": "checkpoint"}, m{"epoch": 0})
	b.rec(5, 0, "run.failure", "r", nil, m{"error_type": "RuntimeError", "message": "CUDA out of memory " + strings.Repeat("x", 5000)})
	b.tick(60)
	b.tick(70)
	points, spans := b.took()
	for _, phase := range []string{"train", "checkpoint"} {
		s := named(spans, phase)
		require.Len(t, s, 1)
		assert.Equal(t, "error", s[0]["status"])
		assert.Equal(t, at(5), s[0]["end"])
		assert.Equal(t, "RuntimeError", s[0]["attributes"].(map[string]any)["error.type"])
		assert.NotContains(t, s[0], "status_message")
		assert.NotContains(t, s[0], "events")
		assert.InDelta(t, 0, value1(points, "phase.duration", phase), 0)
	}
	run := named(spans, "run")[0]
	assert.Equal(t, []any{"error", at(5), 1}, []any{run["status"], run["end"], run["events"]})
	assert.LessOrEqual(t, len(run["status_message"].(string)), maxStatus)
}

func TestSpansAreThinnedTheSameWayEachTime(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Spans.Epochs, c.Spans.MaxPerAttempt = 4, 12 })
	b.rec(1, 0, "run.start", "r", nil, nil)
	for e := range 40 {
		b.rec(2+float64(e)/10, 0, "epoch.end", "r", nil, m{"epoch": e, "durations": m{"train_s": 0.1}})
	}
	b.rec(8, 0, "run.end", "r", nil, m{"outcome": "success"})
	b.tick(10)
	b.tick(20)
	_, spans := b.took()
	var kept []float64
	for _, s := range named(spans, "train") {
		kept = append(kept, s["attributes"].(map[string]any)[trainrecord.AttrEpochCurrent].(float64))
	}
	assert.Equal(t, []float64{0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32}, kept)
	assert.InDelta(t, 29, named(spans, "run")[0]["attributes"].(map[string]any)[trainrecord.AttrSpansDropped], 0)
	assert.Contains(t, b.self(), `spans_dropped{connector="training_signals",reason="thinned"} 29`)

	b.rec(21, 0, "run.start", "many", nil, nil)
	for i := range 20 {
		b.rec(22+float64(i)/10, 0, "phase.end", "many", m{"phase": "test"}, m{"durations": m{"phase_s": 0.01}})
	}
	b.rec(25, 0, "run.end", "many", nil, m{"outcome": "success"})
	b.tick(30)
	b.tick(40)
	_, spans = b.took()
	assert.Len(t, named(spans, "test"), 11)
	assert.InDelta(t, 9, named(spans, "run")[0]["attributes"].(map[string]any)[trainrecord.AttrSpansDropped], 0)
}

func TestAMillionEpochsGiveFewSpans(t *testing.T) {
	t.Parallel()
	maker := spanMaker{cfg: createDefaultConfig().(*Config)}
	n := 0
	for e := range 1_000_000 {
		if maker.keeps(trainrun.Int{V: int64(e), Set: true}) {
			n++
		}
	}
	assert.Less(t, n, 1000)
	assert.Greater(t, n, 900)
}

func TestOldSpansAreNotSentAndRefusedOnesWait(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Limits.PendingSpans = 3 })
	b.rec(1, 25*3600, "run.start", "old", nil, nil)
	b.tick(10)
	_, spans := b.took()
	assert.Empty(t, spans)
	assert.Contains(t, b.self(), `spans_dropped{connector="training_signals",reason="age"} 1`)
	b.refusesTraces.Store(true)
	for i := range 5 {
		b.rec(11, 0, "run.start", fmt.Sprint("r", i), nil, nil)
	}
	b.tick(20)
	b.refusesTraces.Store(false)
	b.tick(30)
	_, spans = b.took()
	assert.Len(t, spans, 3)
	assert.Contains(t, b.self(), `spans_dropped{connector="training_signals",reason="queue"} 2`)
	assert.Contains(t, b.self(), `flush_failures{connector="training_signals",signal="traces"} 1`)
	assert.Contains(t, b.self(), `spans_sent{connector="training_signals"} 3`)
}

// TestSpansThatGrewOldWhileTheyWaitedAreNotSent: a backend that is back after a day would refuse those that it gets with them, too.
func TestSpansThatGrewOldWhileTheyWaitedAreNotSent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.refusesTraces.Store(true)
	b.rec(1, 0, "run.start", "old", nil, nil)
	b.tick(10)
	const day = 24 * 3600
	b.rec(day-5, 0, "run.start", "young", nil, nil)
	b.tick(day)
	b.refusesTraces.Store(false)
	b.tick(day + 10)
	_, spans := b.took()
	require.Len(t, named(spans, "start"), 1)
	assert.Equal(t, "young", named(spans, "start")[0]["attributes"].(map[string]any)[trainrecord.AttrRunID])
	assert.Contains(t, b.self(), `spans_dropped{connector="training_signals",reason="age"} 1`)
	assert.Empty(t, b.core.spans.waiting)
}

func TestSpansRefusedForGoodMakeRoom(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rec(1, 0, "run.start", "r", nil, nil)
	b.core.mu.Lock()
	b.core.advance(b.core.moment(), at(10), false)
	p := b.core.spans.next(at(10))
	b.core.mu.Unlock()
	require.Equal(t, 1, p.n)
	assert.True(t, b.core.sent(&p, consumererror.NewPermanent(errRefused)))
	assert.Empty(t, b.core.spans.waiting)
	assert.Contains(t, b.self(), `spans_dropped{connector="training_signals",reason="refused"} 1`)
}
