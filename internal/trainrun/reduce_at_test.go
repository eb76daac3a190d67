package trainrun

import (
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
	got, ok := ReduceAt(&rec, uid)
	require.True(t, ok)
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
