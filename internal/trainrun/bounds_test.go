package trainrun

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// TestIntegersBeyondSixtyFourBits are texts of digits in a record; their value is kept.
func TestIntegersBeyondSixtyFourBits(t *testing.T) {
	t.Parallel()
	st := stateOf(t, line("step.end", 1, "", `"step": 1, "measurements": {"tokens": 18446744073709551616, "low": -9223372036854775809, "huge": 1`+
		strings.Repeat("0", 400)+`, "text": "12345678901234567890x"}`))
	assert.Equal(t, "1:1.8446744073709552e+19", curve(seriesOf(st, "", "tokens", AxisStep)))
	assert.Equal(t, "1:-9.223372036854776e+18", curve(seriesOf(st, "", "low", AxisStep)))
	assert.Equal(t, "1:+Inf", curve(seriesOf(st, "", "huge", AxisStep)))
	assert.Equal(t, []Truncation{{What: "values", Count: 1}}, st.Truncated)
}

func TestDurationsThatAreNoneAreCounted(t *testing.T) {
	t.Parallel()
	st := stateOf(t,
		line("epoch.end", 1, "", `"epoch": 0, "durations": {"epoch_s": -1, "train_s": NaN, "validation_s": 1e300, "data_wait_s": 2, "other_thing_s": -1}`),
		line("epoch.end", 2, "", `"epoch": 1, "durations": {"data_wait_s": "long"}`))
	assert.Equal(t, []PhaseTotal{{"data_wait", 2_000_000_000}}, st.Durations.Phases)
	assert.Equal(t, []Truncation{{What: "values", Count: 4}}, st.Truncated)
}

func TestSumsOfDurationsDoNotOverflow(t *testing.T) {
	t.Parallel()
	f := New(testRun)
	for i := range int64(12) {
		e := entryOfUID(i, 1, 0)
		e.Event, e.Durations = EventPhaseEnd, []Duration{{"train", 1_000_000_000 * nanosPerSec}}
		f.Apply(e)
	}
	assert.Equal(t, []PhaseTotal{{"train", math.MaxInt64}}, f.State().Durations.Phases)
}

// TestSequencesAreBounded whatever attempts and ranks records name: those of the newest attempts and lowest ranks stay.
func TestSequencesAreBounded(t *testing.T) {
	t.Parallel()
	f := New(testRun)
	of := func(attempt, seq int64) Entry {
		return Entry{RunID: testRun, Event: EventHeartbeat, ID: ID{Kind: IDSeq}, Attempt: attempt, Seq: seq, Offset: -1, Progress: noProgress}
	}
	for a := range int64(maxSequences) {
		require.True(t, f.Apply(of(a+1, 1)))
	}
	assert.LessOrEqual(t, len(f.seen.seqs), maxSequences)
	assert.False(t, f.Apply(of(maxSequences, 1)), "a duplicate of the newest attempt")
	require.True(t, f.Apply(of(1, 5)))
	assert.False(t, f.Apply(of(1, 5)), "one of an attempt beyond the bound")
	g, err := Restore(f.Snapshot())
	require.NoError(t, err)
	assert.Equal(t, f.Snapshot(), g.Snapshot())
}

func TestKeysThatAreNoTextAreOneKey(t *testing.T) {
	t.Parallel()
	e, ok := Reduce(record("run.start", nil, map[string]any{"params": map[string]any{"\xff": int64(1), "\uFFFD": int64(2)}}))
	require.True(t, ok)
	assert.Len(t, e.Detail.Params, 1)
}

func TestRowsInOrderStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	f := New(testRun)
	for i := range int64(100) {
		f.Apply(stepEntry(i, 1, 0, Value{"train/loss", 1}))
	}
	before := &f.rows.rows[0]
	f.State()
	assert.Same(t, before, &f.rows.rows[0], "what one stream tells costs no copy")
	for i := range int64(100) {
		f.Apply(stepEntry(1000-i, 1, 0, Value{"train/loss", 1}))
	}
	before = &f.rows.rows[0]
	f.State()
	assert.NotSame(t, before, &f.rows.rows[0], "what is in no order is put in one")
}

// TestBadValuesOfARecordThatPassedNoDecoder cost themselves, as in a line: records may come over OTLP.
func TestBadValuesOfARecordThatPassedNoDecoder(t *testing.T) {
	t.Parallel()
	loss := map[string]any{"val/loss": 0.5}
	for name, tc := range map[string]struct {
		event string
		body  map[string]any
		cut   int64
	}{
		"a Unix time as epoch":         {"epoch.end", map[string]any{"epoch": 1795000000, "measurements": loss}, 1},
		"as progress":                  {"step.end", map[string]any{"step": 3, "epoch_progress": 1795000000.5, "measurements": loss}, 1},
		"as planned epochs":            {"run.start", map[string]any{"planned_epochs": 1795000000}, 1},
		"as planned epochs of a line":  {"log", map[string]any{"planned_epochs": 1795000000}, 1},
		"as the epoch of a checkpoint": {"checkpoint.save", map[string]any{"path": "c.pt", "epoch": 1795000000}, 1},
		"as completed epochs":          {"run.end", map[string]any{"outcome": "success", "epochs_completed": 1795000000}, 1},
		"as the epoch to go on with":   {"run.start", map[string]any{"resumed_from": map[string]any{"epoch": 1795000000}}, 1},
		"a negative one":               {"run.start", map[string]any{"resumed_from": map[string]any{"epoch": -1}}, 1},
		"a negative epoch and step":    {"epoch.end", map[string]any{"epoch": -1, "step": -1, "measurements": loss}, 2},
		"a step beyond":                {"step.end", map[string]any{"step": 1<<53 + 1, "planned_steps": 1<<53 + 1, "measurements": loss}, 2},
		"a text":                       {"step.end", map[string]any{"step": "12", "measurements": loss}, 1},
		"a negative size":              {"checkpoint.save", map[string]any{"path": "c.pt", "size": -1}, 1},
		"a mode":                       {"run.start", map[string]any{"objective": map[string]any{"metric": "val/loss", "mode": "up"}}, 1},
		"the mode of a best":           {"epoch.end", map[string]any{"epoch": 0, "best": map[string]any{"metric": "val/loss", "mode": "up"}}, 1},
		"a number as objective":        {"run.start", map[string]any{"objective": map[string]any{"metric": 7, "mode": "min"}}, 1},
		"an object as path":            {"checkpoint.save", map[string]any{"path": map[string]any{"q": 1}, "step": 1}, 1},
		"a flag as digest":             {"artifact", map[string]any{"path": "c.pt", "sha256": true}, 1},
		"a number as kind":             {"checkpoint.save", map[string]any{"path": "c.pt", "kind": 7}, 1},
		"a text as a best's value":     {"checkpoint.save", map[string]any{"path": "c.pt", "value": "x"}, 1},
		"a number as outcome":          {"run.end", map[string]any{"outcome": 7}, 1},
		"a number as task family":      {"run.start", map[string]any{"task_family": 7}, 1},
		"a text as objective's object": {"run.start", map[string]any{"objective": "val/loss"}, 1},
		"texts as objects":             {"run.start", map[string]any{"params": "x", "git": "x", "versions": "x", "resumed_from": "c.pt"}, 4},
		"a text as flag":               {"run.start", map[string]any{"git": map[string]any{"commit": "abc", "dirty": "no"}}, 1},
		"a path as checkpoint":         {"epoch.end", map[string]any{"epoch": 0, "checkpoint": "c.pt", "best": 0.5, "objective": "val/loss"}, 3},
		"a number as measurements":     {"epoch.end", map[string]any{"epoch": 0, "measurements": 0.5, "learning_rate": 0.1, "durations": 3}, 3},
		"a text as artifacts":          {"run.end", map[string]any{"outcome": "success", "artifacts": "c.pt"}, 1},
		"nothing as objects":           {"epoch.end", map[string]any{"epoch": 0, "checkpoint": nil, "durations": nil}, 0},
		"a number as message":          {"run.failure", map[string]any{"message": 7}, 0},
		"the last good ones": {"step.end", map[string]any{
			"epoch": 1_000_000_000, "epoch_progress": 1e9, "planned_epochs": 1_000_000_000, "step": 1 << 53, "planned_steps": 1 << 53, "measurements": loss,
		}, 0},
		"none": {"step.end", map[string]any{"epoch": nil, "epoch_progress": nil, "step": nil, "measurements": loss}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, ok := Reduce(record(tc.event, nil, tc.body))
			require.True(t, ok)
			assert.Equal(t, tc.cut, e.Cut)
			st := foldOf([]Entry{e}).State()
			if _, object := tc.body["measurements"].(map[string]any); object {
				require.Len(t, st.Series, 1, "the rest counts")
			}
			if tc.cut == 0 {
				assert.Empty(t, st.Truncated)
				return
			}
			assert.Equal(t, []Truncation{{What: "values", Count: tc.cut}}, st.Truncated)
			assert.Nil(t, st.Epochs.Planned)
			assert.Nil(t, st.Epochs.Reported)
			assert.LessOrEqual(t, deref(st.Epochs.Last), int64(0))
			assert.Nil(t, st.Steps.Planned)
		})
	}
}

// TestWhatIsNoTextIsNoneForSignalsEither, so that a span and a result say the same.
func TestWhatIsNoTextIsNoneForSignalsEither(t *testing.T) {
	t.Parallel()
	end := record("run.end", nil, map[string]any{"outcome": 7, "stop_reason": 7})
	failure := record("run.failure", nil, map[string]any{"error_type": 7, "message": 7})
	start := record("run.start", nil, map[string]any{"task_family": 7})
	s, told, ok := Sight(&end, 1, Moment{}, nil)
	require.True(t, ok)
	assert.Equal(t, SightDetail{Outcome: "unknown"}, *s.Detail)
	assert.Equal(t, Replaced{LeftOut: 2}, told)
	s, told, ok = Sight(&failure, 1, Moment{}, nil)
	require.True(t, ok)
	assert.Equal(t, SightDetail{Message: "7"}, *s.Detail)
	assert.Equal(t, Replaced{LeftOut: 1}, told)
	s, told, ok = Sight(&start, 1, Moment{}, nil)
	require.True(t, ok)
	assert.Empty(t, s.Detail.Family)
	assert.Equal(t, Replaced{LeftOut: 1}, told)
	step := record("step.end", nil, map[string]any{
		"epoch": 1795000000, "epoch_progress": 1795000000.5, "step": "12", "samples": nil, "durations": map[string]any{"batch_s": -1},
	})
	_, told, ok = Sight(&step, 1, Moment{}, nil)
	require.True(t, ok)
	assert.Equal(t, Replaced{LeftOut: 4}, told)
	for _, tc := range []struct {
		emits any
		want  Emits
		told  Replaced
	}{
		{[]any{"metrics", "traces"}, EmitsMetrics | EmitsTraces, Replaced{}}, {nil, 0, Replaced{}},
		{"metrics", 0, Replaced{LeftOut: 1}}, {[]any{"metrics", "spans", 7}, EmitsMetrics, Replaced{OffList: 2}},
	} {
		start = record("run.start", nil, map[string]any{"emits": tc.emits})
		s, told, ok = Sight(&start, 1, Moment{}, nil)
		require.True(t, ok)
		assert.Equal(t, tc.want, s.Detail.Emits)
		assert.Equal(t, tc.told, told)
	}
	end = record("run.end", nil, map[string]any{"outcome": "success", "durations": 3})
	_, told, ok = Sight(&end, 1, Moment{}, nil)
	require.True(t, ok)
	assert.Equal(t, Replaced{LeftOut: 1}, told)
}

func deref(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// TestBadAttributesAreCounted: the identity of a record that passed no decoder is brought into its range, for results and signals alike.
func TestBadAttributesAreCounted(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxLabel+1)
	sum := sha256.Sum256([]byte(long))
	partHash := hex.EncodeToString(sum[:6])
	for name, tc := range map[string]struct {
		attributes         map[string]any
		attempt, rank, seq int64
		part               string
		misfits            int64
	}{
		"good ones":         {map[string]any{trainrecord.AttrRunAttempt: 2, trainrecord.AttrRunRank: 3, trainrecord.AttrRecordSeq: 4, trainrecord.AttrRunPart: "a"}, 2, 3, 4, "a", 0},
		"the last good":     {map[string]any{trainrecord.AttrRunAttempt: maxAttempt, trainrecord.AttrRunRank: maxAttempt, trainrecord.AttrRecordSeq: maxSeq}, maxAttempt, maxAttempt, maxSeq, "", 0},
		"none":              {map[string]any{trainrecord.AttrRunAttempt: nil, trainrecord.AttrRunPart: nil}, 1, 0, 0, "", 0},
		"below":             {map[string]any{trainrecord.AttrRunAttempt: 0, trainrecord.AttrRunRank: -1, trainrecord.AttrRecordSeq: -1, trainrecord.AttrLogFileRecordOffset: -2}, 1, 0, 0, "", 4},
		"above":             {map[string]any{trainrecord.AttrRunAttempt: maxAttempt + 1, trainrecord.AttrRunRank: math.MaxInt64, trainrecord.AttrRecordSeq: maxSeq + 1}, maxAttempt, maxAttempt, maxSeq, "", 3},
		"texts":             {map[string]any{trainrecord.AttrRunAttempt: "2", trainrecord.AttrRunRank: "3", trainrecord.AttrRecordSeq: "4", trainrecord.AttrRecordSampled: "true"}, 1, 0, 0, "", 4},
		"numbers and flags": {map[string]any{trainrecord.AttrRunPart: 7, trainrecord.AttrFramework: 7.5, trainrecord.AttrPhase: true, trainrecord.AttrLogRecordUID: []any{}}, 1, 0, 0, "", 4},
		"long":              {map[string]any{trainrecord.AttrRunPart: long, trainrecord.AttrFramework: long[:maxLabel]}, 1, 0, 0, long[:maxLabel-13] + "-" + partHash, 1},
		"others":            {map[string]any{"x": 7, "y": []any{}, "z": true, "w": 0.5}, 1, 0, 0, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := record("heartbeat", tc.attributes, nil)
			e, ok := Reduce(rec)
			require.True(t, ok)
			assert.Equal(t, []int64{tc.attempt, tc.rank, tc.seq, tc.misfits}, []int64{e.Attempt, e.Rank, e.Seq, e.Misfit})
			assert.Equal(t, tc.part, e.Part)
			s, told, ok := Sight(&rec, 1, Moment{}, nil)
			require.True(t, ok)
			assert.Equal(t, []int64{tc.attempt, tc.rank, tc.seq, tc.misfits}, []int64{s.Attempt, s.Rank, s.Seq, told.Misfits})
		})
	}
}

// TestTextsThatAreCutAreCounted: attributes as such, those of the body as values; messages, stacks and paths are cut by contract.
func TestTextsThatAreCutAreCounted(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5000)
	rec := record("run.start", map[string]any{trainrecord.AttrFramework: long}, map[string]any{
		"versions": map[string]any{"a": long, long: "1", "b": "2"}, "git": map[string]any{"commit": long, "branch": "main"},
	})
	rec.Host = long
	rec.Resource.PutStr("k8s.pod.name", long)
	rec.Resource.PutStr("service.name", long[:maxLabel])
	e, ok := Reduce(rec)
	require.True(t, ok)
	assert.Len(t, e.Where.Host, maxLabel)
	assert.Equal(t, []int64{3, 3}, []int64{e.Misfit, e.Cut})
	f := New(testRun)
	f.Apply(e)
	assert.Equal(t, []Truncation{{What: "values", Count: 3}}, f.State().Truncated)

	e, ok = Reduce(record("run.end", nil, map[string]any{"outcome": long, "stop_reason": long}))
	require.True(t, ok)
	assert.Equal(t, []int64{0, 2}, []int64{e.Misfit, e.Cut})

	e, ok = Reduce(record("run.failure", nil, map[string]any{"message": long, "stack": long}))
	require.True(t, ok)
	assert.Equal(t, []int64{0, 0}, []int64{e.Misfit, e.Cut})

	rec = record("run.start", nil, map[string]any{"params": map[string]any{"name": long}})
	_, told, ok := Sight(&rec, 1, Moment{}, [][]string{{"params", "name"}})
	require.True(t, ok)
	assert.Equal(t, Replaced{LeftOut: 1}, told)
}
