package trainrun

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func entryOfUID(offset int64, crc, index uint32) Entry {
	return Entry{
		RunID: testRun, Event: EventHeartbeat, Attempt: 1, Offset: -1, Progress: noProgress,
		ID: ID{Kind: IDUID, File: 1, Place: offset, CRC: crc, Index: index},
	}
}

func TestWhatIsOneRecord(t *testing.T) {
	t.Parallel()
	seqOf := func(event Event, attempt, rank, seq int64) Entry {
		return Entry{RunID: testRun, Event: event, ID: ID{Kind: IDSeq}, Attempt: attempt, Rank: rank, Seq: seq, Offset: -1, Progress: noProgress}
	}
	hashed := func(b byte) Entry {
		return Entry{RunID: testRun, Event: EventLog, ID: ID{Hash: [16]byte{b}}, Offset: -1, Progress: noProgress}
	}
	otherFile := entryOfUID(10, 1, 0)
	otherFile.ID.File = 2
	otherRun := entryOfUID(10, 1, 0)
	otherRun.ID.RunID = "path-run"
	later := entryOfUID(10, 1, 0)
	later.Time, later.Seq = 5, 5
	for name, tc := range map[string]struct {
		first, second Entry
		same          bool
	}{
		"equal uid":                     {entryOfUID(10, 1, 0), entryOfUID(10, 1, 0), true},
		"equal uid, whatever the rest":  {entryOfUID(10, 1, 0), later, true},
		"another crc: a rewritten line": {entryOfUID(10, 1, 0), entryOfUID(10, 2, 0), false},
		"another record of the line":    {entryOfUID(10, 1, 0), entryOfUID(10, 1, 1), false},
		"another place":                 {entryOfUID(10, 1, 0), entryOfUID(9, 1, 0), false},
		"another stream":                {entryOfUID(10, 1, 0), otherFile, false},
		"another run in the uid":        {entryOfUID(10, 1, 0), otherRun, false},
		"equal seq":                     {seqOf(EventStepEnd, 1, 0, 7), seqOf(EventStepEnd, 1, 0, 7), true},
		"equal seq of another event":    {seqOf(EventStepEnd, 1, 0, 7), seqOf(EventEpochEnd, 1, 0, 7), false},
		"equal seq of another rank":     {seqOf(EventStepEnd, 1, 0, 7), seqOf(EventStepEnd, 1, 1, 7), false},
		"equal seq of another attempt":  {seqOf(EventStepEnd, 1, 0, 7), seqOf(EventStepEnd, 2, 0, 7), false},
		"equal hash":                    {hashed(1), hashed(1), true},
		"another hash":                  {hashed(1), hashed(2), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := New(testRun)
			require.True(t, f.Apply(tc.first))
			assert.Equal(t, !tc.same, f.Apply(tc.second))
			want := int64(2)
			if tc.same {
				want = 1
			}
			assert.Equal(t, want, f.State().Records.Count)
			assert.Equal(t, want, f.Count())
		})
	}
}

// record builds a record that came over OTLP.
func record(event string, attributes map[string]any, body map[string]any) trainrecord.Record {
	lr := plog.NewLogRecord()
	lr.SetEventName(trainrecord.EventName(event))
	_ = lr.Attributes().FromRaw(attributes)
	lr.Attributes().PutStr(trainrecord.AttrRunID, testRun)
	_ = lr.Body().SetEmptyMap().FromRaw(body)
	r, _ := trainrecord.FromLog(pcommon.NewResource(), lr)
	return r
}

func TestIdentityOfEntries(t *testing.T) {
	t.Parallel()
	uid := trainrecord.UID{RunID: "other", File: 0xabcdef, Offset: 77, CRC: 5, Index: 2}.String()
	e, ok := Reduce(record("heartbeat", map[string]any{trainrecord.AttrLogRecordUID: uid}, nil))
	require.True(t, ok)
	assert.Equal(t, ID{Kind: IDUID, RunID: "other", File: 0xabcdef, Place: 77, CRC: 5, Index: 2}, e.ID)
	assert.Equal(t, int64(77), e.Offset)

	e, _ = Reduce(record("heartbeat", map[string]any{trainrecord.AttrRecordSeq: int64(9)}, nil))
	assert.Equal(t, ID{Kind: IDSeq}, e.ID)
	assert.Equal(t, int64(9), e.Seq)

	foreign := map[string]any{trainrecord.AttrLogRecordUID: "run-a/m1f-22", trainrecord.AttrRecordSeq: int64(9)}
	a, _ := Reduce(record("heartbeat", foreign, nil))
	assert.Equal(t, IDHash, a.ID.Kind)
	b, _ := Reduce(record("step.end", foreign, nil))
	assert.Equal(t, a.ID, b.ID, "a uid counts alone")

	c, _ := Reduce(record("log", nil, map[string]any{"message": "a"}))
	d, _ := Reduce(record("log", nil, map[string]any{"message": "b"}))
	assert.NotEqual(t, c.ID, d.ID)
}

func TestStreamStatusIsNoRecord(t *testing.T) {
	t.Parallel()
	_, ok := Reduce(record("stream.status", nil, map[string]any{"state": "silent"}))
	assert.False(t, ok)
	r := record("log", nil, nil)
	r.RunID = ""
	_, ok = Reduce(r)
	assert.False(t, ok)
	assert.False(t, New(testRun).Apply(Entry{RunID: testRun, Event: eventCount}))
}

// TestTheBeginningOfALine is no record: the whole line may be one of another run, or none.
func TestTheBeginningOfALine(t *testing.T) {
	t.Parallel()
	_, ok := Reduce(record("log", map[string]any{trainrecord.AttrRecordError: string(trainrecord.ReasonTorn)}, nil))
	assert.False(t, ok)
}

func TestRejectedLinesAreCounted(t *testing.T) {
	t.Parallel()
	e, ok := Reduce(record("log", map[string]any{trainrecord.AttrRecordError: "not_json"}, nil))
	require.True(t, ok)
	f := New(testRun)
	f.Apply(e)
	assert.Equal(t, int64(1), f.State().Records.Rejected)
	assert.Zero(t, f.State().Records.NoTime)
}

func TestForgettingKeepsTheNewestHashes(t *testing.T) {
	t.Parallel()
	var s hashSet
	key := func(i int) [16]byte { return [16]byte{byte(i), byte(i >> 8), byte(i >> 16), byte(i >> 24)} }
	const n = 3*hashLimit + 10
	for i := range n {
		require.True(t, s.add(key(i)))
	}
	for i := n - hashLimit; i < n; i++ {
		require.False(t, s.add(key(i)))
	}
	assert.Equal(t, int64(2*hashLimit), s.forgotten)
	assert.LessOrEqual(t, len(s.young)+len(s.old), 2*hashLimit)
}

func TestGapsOfSequences(t *testing.T) {
	t.Parallel()
	st := stateOf(t,
		line("heartbeat", 0, `"seq": 3`, ""), line("heartbeat", 1, `"seq": 4`, ""), line("heartbeat", 2, `"seq": 9`, ""),
		line("heartbeat", 3, `"seq": 1, "rank": 1`, ""), line("heartbeat", 4, `"seq": 3, "rank": 1`, ""),
		line("heartbeat", 5, `"seq": 20, "attempt": 2`, ""), line("heartbeat", 5, ``, ""))
	assert.Equal(t, int64(1), st.Records.FirstSeq)
	assert.Equal(t, int64(20), st.Records.LastSeq)
	assert.Equal(t, int64(4+1), st.Records.Gaps)
}

// Failures of two ranks that agree in all but the rank have one order.
func TestFailuresOfRanksWithOneNumberHaveAnOrder(t *testing.T) {
	t.Parallel()
	failed := func(rank int64) Entry {
		return Entry{
			RunID: testRun, Event: EventRunFailure, ID: ID{Kind: IDSeq}, Attempt: 1, Rank: rank, Seq: 5, Offset: -1, Progress: noProgress,
			Detail: &Detail{ErrorType: "E"},
		}
	}
	a, b := foldOf([]Entry{failed(0), failed(1)}), foldOf([]Entry{failed(1), failed(0)})
	assert.Equal(t, a.Snapshot(), b.Snapshot())
}

// TestLongPartsStayApart: what is cut from a name is no reason to join two curves, in results or in signals.
func TestLongPartsStayApart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 300)
	parts := map[string]bool{}
	for _, name := range []string{long, long + "a", long + "b", strings.Repeat("a", maxLabel)} {
		rec := record("epoch.end", map[string]any{trainrecord.AttrRunPart: name}, map[string]any{"epoch": 0})
		e, ok := Reduce(rec)
		require.True(t, ok)
		assert.LessOrEqual(t, len(e.Part), maxLabel)
		assert.Equal(t, name[:400], e.Part[:400])
		parts[e.Part] = true
		s, _, ok := Sight(&rec, 1, Moment{}, nil)
		require.True(t, ok)
		assert.Equal(t, e.Part, s.Part)
	}
	assert.Len(t, parts, 4)
	assert.True(t, parts[strings.Repeat("a", maxLabel)], "one that fits is as it is")
}

// TestEqualLinesOfRanksAndPartsAreOfEach: paths may name the rank or the part, and what they write may be equal. A copy of a file counts once.
func TestEqualLinesOfRanksAndPartsAreOfEach(t *testing.T) {
	t.Parallel()
	lines := []string{epoch(1, "", 0, "9"), epoch(2, "", 1, "8"), epoch(3, "", 2, "7")}
	of := func(rank int64, part string) []Entry {
		list := readStream(t, lines...)
		for i := range list {
			list[i].Rank, list[i].Part = rank, part
		}
		return list
	}
	for name, lists := range map[string][][]Entry{"rank 0 first": {of(0, ""), of(1, "")}, "rank 1 first": {of(1, ""), of(0, ""), of(0, "")}} {
		st := foldOf(lists...).State()
		assert.Equal(t, "0:9 1:8 2:7", curve(seriesOf(st, "", "val/loss", AxisEpoch)), name)
		assert.EqualValues(t, 6, st.Records.Count, name)
		assert.False(t, st.Partial, name)
	}
	st := foldOf(of(0, "fold1"), of(0, "fold0")).State()
	for _, part := range []string{"fold0", "fold1"} {
		assert.Equal(t, "0:9 1:8 2:7", curve(seriesOf(st, part, "val/loss", AxisEpoch)), part)
	}
}

// TestEqualLinesHaveAnOrder: what ranks and parts write under one uid, without a path, and what stays of it where only a few fit.
func TestEqualLinesHaveAnOrder(t *testing.T) {
	t.Parallel()
	of := func(event Event, rank int64, part string, where Where) Entry {
		e := entryOfUID(7, 1, 0)
		e.Event, e.Rank, e.Part, e.Where = event, rank, part, where
		e.Detail = &Detail{
			ErrorType: "E", Message: part, Outcome: "failed", StopReason: part, Command: part, Params: map[string]any{"part": part},
			Artifacts: []Artifact{{Role: "model", Path: "p", SHA256: part}},
		}
		return e
	}
	saved := func(kind string) func(Event, int64, string, Where) Entry {
		return func(event Event, rank int64, part string, where Where) Entry {
			e := of(event, rank, part, where)
			e.Detail.Checkpoint = &Checkpoint{Path: "p", Kind: kind, SHA256: part}
			return e
		}
	}
	for name, c := range map[string]struct {
		event Event
		make  func(Event, int64, string, Where) Entry
	}{
		"starts": {EventRunStart, of}, "ends": {EventRunEnd, of}, "failures": {EventRunFailure, of}, "logs": {EventLog, of},
		"artifacts": {EventArtifact, of}, "checkpoints": {EventCheckpointSave, saved("last")}, "best checkpoints": {EventCheckpointSave, saved(kindBest)},
	} {
		var list []Entry
		for _, part := range []string{"", "a", "b"} {
			for rank := range int64(2) {
				list = append(list, c.make(c.event, rank, part, Where{Service: "of " + part}))
			}
		}
		for _, lim := range []limits{defaultLimits(), tightLimits()} {
			a, b := newFold(testRun, lim), newFold(testRun, lim)
			for i := range list {
				require.True(t, a.Apply(list[i]), name)
				require.True(t, b.Apply(list[len(list)-1-i]), name)
			}
			assert.Equal(t, dump(a.State()), dump(b.State()), name)
			assert.Equal(t, a.Snapshot(), b.Snapshot(), name)
		}
	}
}
