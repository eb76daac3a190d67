package trainingsignalsconnector

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

type m = map[string]any

func durations(kv m) m { return m{"durations": kv} }

// value gives the value of the last point of a metric, with the value of its own attribute, if it has one.
func value1(points []map[string]any, name, own string) any {
	var found any
	for _, p := range points {
		if p["name"] != trainrecord.Namespace+"."+name {
			continue
		}
		attrs := p["attributes"].(map[string]any)
		if own != "" && attrs[trainrecord.AttrPhase] != own && attrs[trainrecord.AttrRunOutcome] != own && attrs[trainrecord.AttrRunState] != own {
			continue
		}
		if found = p["value"]; p["type"] == "histogram" {
			found = p["count"]
		}
	}
	return found
}

// last flushes twice, so that what is new shows.
func (b *bench) last(seconds float64) []map[string]any {
	b.tick(seconds)
	b.took()
	b.tick(seconds + 10)
	points, _ := b.took()
	return points
}

func (b *bench) self() string {
	return strings.Join(componentcheck.FormatTelemetry(b.t, b.tel, "otelcol_training_signals_"), "\n")
}

func TestWhatEndsAnAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		feed    func(b *bench)
		until   float64
		outcome string
		active  float64
	}{
		"run.end":                             {func(b *bench) { b.rec(9, 1, "run.end", "r", nil, m{"outcome": "aborted"}) }, 20, "aborted", 0},
		"an end without an outcome":           {func(b *bench) { b.rec(9, 1, "run.end", "r", nil, m{"outcome": "meltdown"}) }, 20, "unknown", 0},
		"a failure, before its grace is over": {func(b *bench) { b.rec(9, 1, "run.failure", "r", nil, m{"message": "x"}) }, 50, "", 1},
		"a failure":                           {func(b *bench) { b.rec(9, 1, "run.failure", "r", nil, m{"message": "x"}) }, 70, "failed", 0},
		"a failure of another rank":           {func(b *bench) { b.rec(9, 1, "run.failure", "r", m{"rank": 3}, m{"message": "x"}) }, 70, "failed", 0},
		"a failure, and an end all the same": {func(b *bench) {
			b.rec(9, 1, "run.failure", "r", nil, nil)
			b.rec(10, 1, "run.end", "r", nil, m{"outcome": "success"})
		}, 90, "success", 0},
		"an end of another rank":              {func(b *bench) { b.rec(9, 1, "run.end", "r", m{"rank": 3}, m{"outcome": "success"}) }, 90, "", 1},
		"a further run.start":                 {func(b *bench) { b.rec(9, 1, "run.start", "r", nil, nil) }, 20, "unknown", 1},
		"a further run.start after a failure": {func(b *bench) { b.rec(8, 1, "run.failure", "r", nil, nil); b.rec(9, 1, "run.start", "r", nil, nil) }, 20, "failed", 1},
		"a higher attempt":                    {func(b *bench) { b.rec(9, 1, "heartbeat", "r", m{"attempt": 2}, nil) }, 20, "unknown", 1},
		"silence":                             {func(*bench) {}, 86500, "unknown", 0},
		"silence, not yet":                    {func(*bench) {}, 86000, "", 0},
		"a copy of the run.start": {func(b *bench) {
			b.rec(9, 7, "run.start", "r", m{"rank": 1}, nil)
			b.rec(9, 7, "run.start", "r", m{"host": "b"}, nil)
		}, 20, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.rec(2, 0, "run.start", "r", nil, nil)
			b.tick(10)
			c.feed(b)
			points := b.last(c.until)
			for _, outcome := range outcomes {
				want := 0.0
				if outcome == c.outcome {
					want = 1
				}
				assert.InDelta(t, want, value1(points, "run.outcomes", outcome), 0, outcome)
			}
			assert.InDelta(t, c.active, value1(points, "run.active", "running"), 0)
		})
	}
}

func TestSilenceIsAStateAndTheNextRecordBringsItBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rec(2, 0, "run.start", "r", nil, nil)
	b.rec(3, 0, "heartbeat", "r", m{"rank": 1}, nil)
	points := b.last(1790)
	assert.InDelta(t, 1, value1(points, "run.active", "running"), 0)
	points = b.last(1810)
	assert.InDelta(t, 0, value1(points, "run.active", "running"), 0)
	assert.InDelta(t, 1, value1(points, "run.active", "stalled"), 0)
	b.rec(1830, 0, "heartbeat", "r", m{"rank": 1}, nil)
	points = b.last(1840)
	assert.InDelta(t, 1, value1(points, "run.active", "running"), 0)
	assert.InDelta(t, 0, value1(points, "run.active", "stalled"), 0)
}

func TestNothingReopensAnAttemptAndLateRecordsCount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rec(2, 0, "run.start", "r", nil, nil)
	b.rec(20, 0, "run.end", "r", nil, m{"outcome": "success"})
	b.rec(21, 3, "step.end", "r", nil, m{"step": 1, "samples": 5, "epoch": 0}) // late, but the state is there
	points := b.last(30)
	assert.InDelta(t, 5, value1(points, "sample.processed", "train"), 0)
	assert.InDelta(t, 0, value1(points, "run.active", "running"), 0)
	b.rec(50, 0, "run.end", "r", nil, m{"outcome": "failed"})
	b.last(60)
	assert.Contains(t, b.self(), `late_ends{connector="training_signals"} 1`)
	b.last(400) // only a tombstone is left
	b.rec(420, 0, "step.end", "r", nil, m{"step": 2, "samples": 5})
	b.rec(420, 418, "run.start", "r", nil, nil) // replayed
	points = b.last(430)
	assert.InDelta(t, 5, value1(points, "sample.processed", "train"), 0)
	assert.InDelta(t, 1, value1(points, "run.outcomes", "success"), 0)
	assert.Contains(t, b.self(), `records{connector="training_signals",result="late"} 3`)
	b.rec(440, 0, "run.end", "r", nil, m{"outcome": "failed"})
	b.last(441)
	assert.Contains(t, b.self(), `late_ends{connector="training_signals"} 2`)
	b.rec(450, 0, "run.start", "r", nil, nil) // a new one
	points = b.last(460)
	assert.InDelta(t, 1, value1(points, "run.active", "running"), 0)
}

func TestRanksPartsAndCopiesCountOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	step := m{"step": 1, "epoch": 0, "samples": 10, "durations": m{"batch_s": 0.5, "data_wait_s": 0.1}}
	b.rec(2, 1, "step.end", "r", m{"rank": 1}, step) // rank 0 comes later
	b.rec(2, 1, "step.end", "r", m{"rank": 0}, step)
	b.rec(3, 2, "step.end", "r", m{"rank": 0, "host": "b"}, step) // in a second file
	b.rec(3, 1, "step.end", "r", m{"part": "fold=1"}, step)
	b.rec(3, 1, "step.end", "r", m{"attempt": 1, "phase": "validation"}, step)
	b.rec(4, 1, "epoch.end", "r", nil, m{"epoch": 0, "samples": 25, "durations": m{"data_wait_s": 2, "epoch_s": 1}})
	b.rec(5, 1, "epoch.end", "r", nil, m{"epoch": 0, "samples": 5, "durations": m{"data_wait_s": 3}})
	b.rec(4, 1, "epoch.end", "r", m{"part": "fold=1"}, m{"epoch": 0, "samples": 5})
	points := b.last(10)
	assert.InDelta(t, 3, value1(points, "batch.duration", ""), 0)
	assert.InDelta(t, 3, value1(points, "data_wait.duration", ""), 0)
	assert.InDelta(t, 2, value1(points, "data_wait.time", ""), 0)
	assert.InDelta(t, 35, value1(points, "sample.processed", "train"), 0)
	assert.InDelta(t, 10, value1(points, "sample.processed", "validation"), 0)
	assert.Contains(t, b.self(), `samples_mismatch{connector="training_signals"} 1`)
	assert.Contains(t, b.self(), `records{connector="training_signals",result="rank"} 1`)
	assert.Contains(t, b.self(), `records{connector="training_signals",result="duplicate"} 2`)
}

// TestManyPartsSideBySideCountOnce has folds of a run take turns at every step, so that what one told is as old as what all others told since.
func TestManyPartsSideBySideCountOnce(t *testing.T) {
	t.Parallel()
	const parts = 40
	b := newBench(t, func(c *Config) { c.Limits.OpenPhases = parts })
	b.rec(1, 0, "run.start", "r", nil, nil)
	second := 1.0
	each := func(event, phase string, body m) {
		for i := range parts {
			second += 0.01
			b.rec(second, 0, event, "r", m{"part": fmt.Sprintf("fold=%d", i), "phase": phase}, body)
		}
	}
	for _, phase := range []string{"train", "validation", "checkpoint"} {
		each("phase.start", phase, m{"epoch": 0})
		for step := range 3 {
			each("step.end", phase, m{"epoch": 0, "step": step, "samples": 10})
		}
		each("phase.end", phase, m{"epoch": 0})
	}
	each("epoch.end", "train", m{"epoch": 0, "samples": 35, "durations": m{"train_s": 1, "validation_s": 1}})
	points := b.last(30)
	for _, phase := range []string{"train", "validation", "checkpoint"} {
		assert.InDelta(t, parts, value1(points, "phase.duration", phase), 0, phase)
	}
	assert.InDelta(t, parts*35, value1(points, "sample.processed", "train"), 0)
	assert.InDelta(t, parts*30, value1(points, "sample.processed", "validation"), 0)
}

func TestTimeOfPhases(t *testing.T) {
	t.Parallel()
	type rec struct {
		ts           float64
		event, phase string
		body         m
	}
	for name, c := range map[string]struct {
		records []rec
		time    m
		count   m
	}{
		"nested": {[]rec{
			{2, "phase.start", "train", m{"epoch": 0}}, {12, "phase.start", "validation", m{"epoch": 0}}, {17, "phase.end", "validation", m{"epoch": 0}},
			{22, "phase.end", "train", m{"epoch": 0}},
		}, m{"train": 15.0, "validation": 5.0}, m{"train": 1.0, "validation": 1.0}},
		"only an end with its duration": {[]rec{
			{2, "phase.start", "train", nil}, {12, "phase.end", "checkpoint", durations(m{"phase_s": 4})}, {22, "phase.end", "train", nil},
		}, m{"train": 16.0, "checkpoint": 4.0}, m{"train": 1.0, "checkpoint": 1.0}},
		"the row of its epoch is the end of a phase": {[]rec{
			{2, "phase.start", "train", m{"epoch": 0}}, {12, "epoch.end", "train", m{"epoch": 0, "durations": m{"epoch_s": 10}}}, {15, "checkpoint.save", "", nil},
			{20, "phase.start", "train", m{"epoch": 1}}, {26, "epoch.end", "train", m{"epoch": 1}}, {29, "run.end", "", m{"outcome": "failed"}},
		}, m{"train": 16.0, "epoch": nil}, m{"train": 2.0, "epoch": nil}},
		"a phase that ends behind the row of its epoch": {[]rec{
			{2, "phase.start", "train", m{"epoch": 0}}, {12, "epoch.end", "train", m{"epoch": 0}}, {15, "heartbeat", "", nil},
			{16, "phase.end", "train", m{"epoch": 0}}, {20, "phase.start", "train", m{"epoch": 1}},
		}, m{"train": 14.0}, m{"train": 1.0}},
		"an end without a start":        {[]rec{{2, "heartbeat", "", nil}, {12, "phase.end", "test", nil}}, m{"test": nil}, m{"test": nil}},
		"no length":                     {[]rec{{12, "phase.start", "test", nil}, {12, "phase.end", "test", nil}}, m{"test": 0.0}, m{"test": 1.0}},
		"an open phase up to a failure": {[]rec{{2, "phase.start", "train", nil}, {9, "run.failure", "", nil}}, m{"train": 7.0}, m{"train": 0.0}},
		"epoch_s beside records of phases": {[]rec{
			{2, "phase.start", "train", m{"epoch": 0}}, {12, "phase.end", "train", m{"epoch": 0}}, {13, "epoch.end", "", m{"epoch": 0, "durations": m{"epoch_s": 11}}},
		}, m{"train": 10.0, "epoch": nil}, m{"train": 1.0, "epoch": nil}},
		"the row before the records": {[]rec{
			{2, "phase.start", "train", m{"epoch": 0}}, {12, "epoch.end", "", m{"epoch": 0, "durations": m{"train_s": 9}}}, {12.5, "phase.end", "train", m{"epoch": 0}},
		}, m{"train": 9.0}, m{"train": 1.0}},
		"off the list": {[]rec{{2, "phase.start", "warm-up", nil}, {4, "phase.end", "warm-up", nil}}, m{"other": 2.0}, m{"other": 1.0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			for _, r := range c.records {
				b.rec(r.ts+0.5, 0.5, r.event, "r", m{"phase": r.phase}, r.body)
			}
			points := b.last(120)
			for phase, want := range c.time {
				equalOrAbsent(t, want, value1(points, "phase.time", phase), phase)
			}
			for phase, want := range c.count {
				equalOrAbsent(t, want, value1(points, "phase.duration", phase), phase)
			}
		})
	}
}

func equalOrAbsent(t *testing.T, want, got any, what string) {
	t.Helper()
	if want == nil {
		assert.Nil(t, got, what)
		return
	}
	require.NotNil(t, got, what)
	assert.InDelta(t, want, got, 1e-9, what)
}

func TestATrainerThatSendsItsOwnSignals(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Emits = map[string][]string{"keras": {"traces"}} })
	b.rec(1, 0, "run.start", "metrics", nil, m{"emits": []string{"metrics"}})
	b.rec(2, 0, "step.end", "metrics", nil, m{"step": 1, "samples": 5})
	b.rec(3, 0, "run.end", "metrics", nil, m{"outcome": "success"})
	b.tick(20)
	points, spans := b.took()
	assert.Empty(t, points)
	assert.Len(t, spans, 2)
	b.rec(21, 0, "run.start", "traces", m{"framework": "keras"}, nil)
	b.rec(22, 0, "run.end", "traces", m{"framework": "keras"}, m{"outcome": "success"})
	b.tick(40)
	points, spans = b.took()
	assert.NotEmpty(t, points)
	assert.Empty(t, spans)
}

func TestProgressShowsOneAttemptOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Progress = true })
	b.rec(1, 0, "epoch.end", "a", nil, m{"epoch": 3})
	b.tick(10)
	points, _ := b.took()
	assert.InDelta(t, 3, value1(points, "epoch.last_completed", ""), 0, "a gauge shows its value at once")
	b.rec(11, 0, "run.start", "b", nil, nil)
	b.tick(20)
	points, _ = b.took()
	assert.Nil(t, value1(points, "epoch.last_completed", ""))
	assert.Contains(t, b.self(), `gauge_ambiguous{connector="training_signals"} 1`)
	b.rec(21, 0, "run.end", "b", nil, m{"outcome": "success"})
	b.rec(21, 0, "step.end", "a", nil, m{"step": 1, "epoch_progress": 5.5})
	b.tick(30)
	points, _ = b.took()
	assert.InDelta(t, 4, value1(points, "epoch.last_completed", ""), 0)
}

func TestARecordFarAheadProvesNoTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rec(2, 0, "phase.start", "r", m{"phase": "train"}, nil)
	b.rec(5, -3600, "step.end", "r", nil, m{"step": 1})
	b.rec(12, 0, "phase.end", "r", m{"phase": "train"}, nil)
	points := b.last(20)
	assert.LessOrEqual(t, value1(points, "phase.time", "train"), 63.0)
	assert.Contains(t, b.self(), `records{connector="training_signals",result="future"} 1`)
}

func TestARecordThatComesTwiceCountsOnceWhateverItTells(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	line := []byte(`{"event":"step.end","run_id":"r","ts":"2026-11-20T10:00:01Z","body":{"samples":4,"durations":{"batch_s":0.5}}}`)
	uid := trainrecord.UID{RunID: "r", File: 7, Offset: 300, CRC: trainrecord.LineCRC(line)}.String()
	b.line(at(2), line, uid)
	b.line(at(3), line, "")
	b.tick(10)
	b.line(at(11), line, uid)
	b.line(at(12), line, "")
	points := b.last(20)
	assert.InDelta(t, 2, value1(points, "batch.duration", ""), 0)
	assert.InDelta(t, 8, value1(points, "sample.processed", "train"), 0)
	assert.Contains(t, b.self(), `records{connector="training_signals",result="counted"} 2`)
	assert.Contains(t, b.self(), `records{connector="training_signals",result="duplicate"} 2`, "or the second port's copies were taken")
}

func TestTooManyOpenPhasesAreCounted(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Limits.OpenPhases = 2 })
	for i := range 3 {
		b.rec(float64(i+1), 0, "phase.start", "r", m{"phase": "train"}, m{"epoch": i})
	}
	b.tick(10)
	assert.Contains(t, b.self(), `spans_dropped{connector="training_signals",reason="open_phases"} 1`)
}

// TestRecordsWithoutATimeCountOnceWhileTheStateIsKept reads a stream again whose records have no time, as after a loss of the receiver's offsets: while the
// run is kept, and when only a tombstone is left of it.
func TestRecordsWithoutATimeCountOnceWhileTheStateIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	read := func(seconds float64) {
		for i, r := range []string{`"event":"epoch.end","body":{"epoch":0,"samples":10}`, `"event":"epoch.end","body":{"epoch":1,"samples":10}`, `"event":"run.end","body":{"outcome":"success"}`} {
			uid := trainrecord.UID{RunID: "r", File: 1, Offset: int64(i) * 100, CRC: uint32(i)}.String()
			b.line(at(seconds), []byte(`{"schema":"pathologize.ml.training/1","run_id":"r","framework":"pytorch",`+r+`}`), uid)
		}
	}
	counted := func(seconds float64) []any {
		points := b.last(seconds)
		return []any{value1(points, "run.outcomes", "success"), value1(points, "sample.processed", "train")}
	}
	read(1)
	want := []any{1.0, 20.0}
	require.Equal(t, want, counted(10))
	read(40)
	assert.Equal(t, want, counted(50))
	b.tick(400)
	require.Zero(t, b.core.live.Len())
	read(401)
	assert.Equal(t, want, counted(410))
}

// TestAStartWhoseClockWasAheadIsThatOfItsRun: of a run that is over within a tick all records are known before any is counted, and its
// start stands before its end in their file, whatever the clock said.
func TestAStartWhoseClockWasAheadIsThatOfItsRun(t *testing.T) {
	t.Parallel()
	feed := func(b *bench, offset int64, seconds float64, event string, body m) {
		line, err := json.Marshal(m{"event": event, "run_id": "r", "framework": "pytorch", "ts": at(seconds), "body": body})
		require.NoError(b.t, err)
		b.line(at(5), line, trainrecord.UID{RunID: "r", File: 1, Offset: offset, CRC: trainrecord.LineCRC(line)}.String())
	}
	b := newBench(t)
	feed(b, 0, 6, "run.start", m{})
	feed(b, 100, 2, "step.end", m{"step": 1})
	feed(b, 200, 3, "run.end", m{"outcome": "success"})
	points := b.last(10)
	assert.InDelta(t, 1, value1(points, "run.outcomes", "success"), 0)
	assert.InDelta(t, 0, value1(points, "run.active", "running"), 0, "one attempt, which is over")
	feed(b, 300, 7, "run.start", m{}) // it stands behind the end
	points = b.last(30)
	assert.InDelta(t, 1, value1(points, "run.active", "running"), 0)
}

// TestValidationsThatAreReadAtOnceCountEach: rows of Hugging Face tell no time, several evaluations an epoch, and their steps.
func TestValidationsThatAreReadAtOnceCountEach(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, step := range []int{10, 20, 30, 30} { // the last one twice
		line := fmt.Sprintf(`{"schema":"pathologize.ml.training/1","event":"phase.end","run_id":"r","framework":"huggingface",`+
			`"phase":"validation","body":{"epoch":0,"step":%d,"durations":{"phase_s":2}}}`, step)
		b.line(at(5), []byte(line), "")
	}
	b.tick(10)
	_, spans := b.took()
	assert.Len(t, named(spans, "validation"), 1, "all would have one id")
	points := b.last(20)
	assert.InDelta(t, 3, value1(points, "phase.duration", "validation"), 0)
	assert.InDelta(t, 2, value1(points, "phase.time", "validation"), 0, "no more than passed")
}
