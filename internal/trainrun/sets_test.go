package trainrun

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPlaceListIsASet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4000).Draw(t, "n")
		spread := rapid.Int64Range(1, 8000).Draw(t, "spread")
		state := rapid.Uint64().Draw(t, "seed")
		next := func(limit int64) int64 {
			state = state*6364136223846793005 + 1442695040888963407
			return int64(state>>33) % limit
		}
		var l placeList
		model := map[place]bool{}
		for range n {
			p := place{offset: next(spread), crc: uint32(next(2)), index: uint32(next(3) / 2)}
			require.Equal(t, !model[p], l.add(p))
			model[p] = true
		}
		require.Equal(t, len(model), l.n)
		var want, got []place
		for p := range model {
			want = append(want, p)
		}
		slices.SortFunc(want, comparePlaces)
		for i := range l.blocks {
			got = l.blocks[i].decode(got)
		}
		require.Equal(t, want, got)
		w := newWriter(nil)
		l.write(w)
		var back placeList
		r := reader{b: w.b}
		back.read(&r)
		require.NoError(t, r.err)
		again := newWriter(nil)
		back.write(again)
		require.Equal(t, w.b, again.b)
	})
}

func TestPlacesTakeAboutSixBytes(t *testing.T) {
	t.Parallel()
	var l placeList
	for i := range int64(100_000) {
		l.add(place{offset: i * 150, crc: uint32(i)})
	}
	assert.Less(t, l.size(), int64(750_000))
}

func TestRangesAreASet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s ranges
		model := map[int64]bool{}
		for _, n := range rapid.SliceOfN(rapid.Int64Range(1, 60), 1, 100).Draw(t, "numbers") {
			require.Equal(t, !model[n], s.add(n))
			model[n] = true
		}
		low, high := int64(100), int64(0)
		for n := range model {
			low, high = min(low, n), max(high, n)
		}
		require.Equal(t, int64(len(model)), s.count)
		require.Equal(t, low, s.first())
		require.Equal(t, high, s.last())
		require.Equal(t, high-low+1-int64(len(model)), s.gaps())
		w := newWriter(nil)
		s.write(w)
		var back ranges
		r := reader{b: w.b}
		back.read(&r)
		require.NoError(t, r.err)
		require.Equal(t, s.list, back.list)
		require.Equal(t, s.count, back.count)
	})
}

func TestSketchCountsDistinctNames(t *testing.T) {
	t.Parallel()
	var s sketch
	for i := range int64(1000) {
		s.add(rankName(i))
		s.add(rankName(i))
	}
	assert.Equal(t, int64(1000), s.count())
	for i := range int64(100_000) {
		s.add(rankName(i))
	}
	assert.InEpsilon(t, 100_000, s.count(), 0.1)
	assert.Len(t, s.hashes, sketchSize)
	assert.Equal(t, "100", rankName(100))
}
