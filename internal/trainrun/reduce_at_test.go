package trainrun

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func TestAKnownUIDGivesTheSameEntryAsItsText(t *testing.T) {
	t.Parallel()
	uid := trainrecord.UID{RunID: "r", File: 7, Offset: 300, CRC: 9, Index: 2}
	rec := trainrecord.Record{RunID: "r", Event: trainrecord.EventEpochEnd, Attempt: 1, Offset: 300, Body: pcommon.NewMap(), Resource: pcommon.NewMap()}
	rec.Body.PutInt(trainrecord.BodyEpoch, 4)
	var got Entry
	var r Reducer
	require.True(t, r.At(&got, &rec, uid))
	rec.UID = uid.String()
	want, ok := Reduce(rec)
	require.True(t, ok)
	assert.Equal(t, want, got)
}

func TestCheckpointAtAnyPoint(t *testing.T) {
	t.Parallel()
	f := New("r")
	for i, path := range []string{"a", "b", ""} {
		e := Entry{RunID: "r", Event: EventEpochEnd, Epoch: Int{V: int64(i), Set: true}, Values: []Value{{"val/x", float64(i)}}, Progress: noProgress, Offset: int64(2 * i), ID: ID{Kind: IDUID, Place: int64(2 * i)}}
		require.True(t, f.Apply(e))
		if path != "" {
			e = Entry{RunID: "r", Event: EventCheckpointSave, Epoch: e.Epoch, Progress: noProgress, ID: ID{Kind: IDUID, Place: int64(2*i + 1)}, Detail: &Detail{Checkpoint: &Checkpoint{Path: path}}}
			require.True(t, f.Apply(e))
		}
	}
	s := &f.State().Series[0]
	for i, want := range []string{"a", "b"} {
		c := f.CheckpointAt(s, s.Points[i])
		require.NotNil(t, c)
		assert.Equal(t, want, c.Path)
	}
	assert.Nil(t, f.CheckpointAt(s, s.Points[2]))
	assert.Nil(t, f.CheckpointAt(&Series{Part: "other"}, s.Points[0]))
}

func stepRecord(n int64) trainrecord.Record {
	rec := trainrecord.Record{RunID: "r", Event: trainrecord.EventStepEnd, Attempt: 1, Offset: n, Body: pcommon.NewMap(), Resource: pcommon.NewMap()}
	rec.Body.PutInt(trainrecord.BodyStep, n)
	m := rec.Body.PutEmptyMap(trainrecord.BodyMeasurements)
	m.PutDouble("train/loss", 1/float64(n+1))
	m.PutDouble("train/acc", float64(n))
	rec.Body.PutEmptyMap(trainrecord.BodyDurations).PutDouble("step_s", 0.5)
	return rec
}

func TestAnEntryThatIsUsedAgainCostsNoMemory(t *testing.T) {
	var e Entry
	var r Reducer
	rec := stepRecord(7)
	rec.Body.PutEmptyMap(trainrecord.BodyLearningRate).PutDouble("pg0", 0.1)
	require.True(t, r.At(&e, &rec, trainrecord.UID{RunID: "r"}))
	assert.Zero(t, testing.AllocsPerRun(100, func() { r.At(&e, &rec, trainrecord.UID{RunID: "r"}) }))
}

func TestAnEntryThatIsUsedAgainLeavesTheFoldAlone(t *testing.T) {
	t.Parallel()
	once, again := New("r"), New("r")
	var used Entry
	var r Reducer
	for i := range int64(40) {
		rec := stepRecord(i)
		if i%10 == 4 { // what comes after it overwrites its values
			rec.Event = trainrecord.EventRunEnd
		}
		var e Entry
		uid := trainrecord.UID{RunID: "r", Offset: i}
		require.True(t, new(Reducer).At(&e, &rec, uid))
		require.True(t, r.At(&used, &rec, uid))
		require.True(t, once.Apply(e))
		require.True(t, again.Apply(used))
	}
	assert.Equal(t, once.State(), again.State())
}

// What is remembered changes no entry: neither a secret nor a name that looks like the last one.
func TestARememberedTextIsTheSame(t *testing.T) {
	t.Parallel()
	var r Reducer
	names := []string{"loss", "lass", "s", "", "token=abc", "hf_abcdefghijklmnopqrstuvwxyz0123456789", "a b", "pg0", "pg1", strings.Repeat("a", 64), strings.Repeat("a", 65), strings.Repeat("b", maxName)}
	for range 3 {
		for i, name := range names {
			rec := stepRecord(int64(i))
			rec.RunID, rec.Host, rec.Part = "r"+name, name, name
			m, _ := rec.Body.Get(trainrecord.BodyMeasurements)
			m.Map().PutDouble(name, 1)
			rec.Body.PutEmptyMap(trainrecord.BodyLearningRate).PutDouble(name, 0.1)
			uid := trainrecord.UID{RunID: rec.RunID, Offset: int64(i)}
			rec.UID = uid.String()
			want, ok := Reduce(rec)
			require.True(t, ok)
			var got Entry
			require.True(t, r.At(&got, &rec, uid))
			assert.Equal(t, want, got, name)
		}
	}
}
