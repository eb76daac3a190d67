package trainrun

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEqualLinesOfRanksUnderOnePath: what one of them tells again in a new text is not what another one told.
func TestEqualLinesOfRanksUnderOnePath(t *testing.T) {
	t.Parallel()
	at := func(n, rank, text int64, part string, crc uint32) Entry {
		e := stepEntry(n, 1, rank, Value{"train/loss", float64(n)})
		e.ID.File, e.Path, e.Part, e.Text, e.Replaces = 1, 7, part, text, text
		e.ID.CRC ^= crc
		return e
	}
	f := New(testRun)
	writers := []struct {
		rank int64
		part string
	}{{0, ""}, {1, ""}, {1, "a"}}
	for n := range int64(3) {
		for _, w := range writers {
			require.True(t, f.Apply(at(n, w.rank, 0, w.part, 0)))
		}
	}
	require.True(t, f.Apply(at(1, 0, 1, "", 9)), "the new text differs here")
	g, err := Restore(f.Snapshot())
	require.NoError(t, err)
	for _, f := range []*Fold{f, g} {
		for _, w := range writers {
			e := at(2, w.rank, 1, w.part, 0)
			assert.True(t, f.Apply(e), "%v", w)
			assert.False(t, f.Apply(e), "%v again", w)
		}
		assert.Equal(t, int64(10), f.Count(), "a line that is there again counts once")
	}
}
