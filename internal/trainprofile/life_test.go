package trainprofile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

func TestARunIsInTheTraceOfItsLatestStart(t *testing.T) {
	t.Parallel()
	a, b, none := pcommon.TraceID{1}, pcommon.TraceID{2}, pcommon.TraceID{}
	s := &Stream{}
	s.NoteStart(Start{RunID: "r", Offset: 10})
	assert.Nil(t, s.Life(), "a run outside a trace needs no memory")
	for range 2 { // the second reading changes nothing
		s.NoteStart(Start{RunID: "r", Offset: 100, TraceID: a})
		s.NoteStart(Start{RunID: "r", Offset: 200, TraceID: b})
		s.NoteStart(Start{RunID: "r", Offset: 300})
		s.NoteStart(Start{RunID: "other", Offset: 150})
		assert.Len(t, s.Life().Starts, 4)
		for offset, want := range map[int64]pcommon.TraceID{50: none, 100: a, 199: a, 200: b, 299: b, 300: none, 400: none} {
			assert.Equal(t, want, s.TraceAt("r", offset), "offset %d", offset)
		}
		assert.Equal(t, none, s.TraceAt("other", 500))
		assert.Equal(t, none, s.TraceAt("third", 500))
		life := s.Life()
		s = &Stream{} // a restart
		s.RestoreLife(life)
	}
	for i := range 2 * maxStarts {
		s.NoteStart(Start{RunID: "r", Offset: int64(1000 + i), TraceID: a})
	}
	assert.Len(t, s.Life().Starts, maxStarts)
	s.Begin()
	assert.True(t, s.Begun())
	assert.Equal(t, a, s.TraceAt("r", 2000))
	s.Forget()
	assert.Nil(t, s.Life())
	assert.Equal(t, none, s.TraceAt("r", 2000))
}

// TestWhatIsReadAgainTellsNothingNew has a row of a revised decision's time read again: it does not tell how the stream counts
// since.
func TestWhatIsReadAgainTellsNothingNew(t *testing.T) {
	t.Parallel()
	set, s := embeddedSet(t), &Stream{}
	loop, mlperf := set.Profile("pytorch"), set.Profile("mlperf")
	s.Begin()
	s.Restore(Decision{
		Profile: mlperf, Offset: 150, Sure: true, Base: &EpochBase{First: 0, Offset: 150},
		Before: &Decision{Profile: loop, Likely: true, Base: &EpochBase{First: 0, Offset: 0}},
	})
	s.remember(loop, 1, 50, true)
	first, told := s.epochBase(200)
	assert.True(t, told)
	assert.Zero(t, first)
}
