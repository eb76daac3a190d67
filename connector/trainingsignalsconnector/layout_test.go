package trainingsignalsconnector

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
)

// TestANewPartHasTheLastOfAllKeys keeps the snapshot from being written again with each part, in a storage that writes neighbours.
func TestANewPartHasTheLastOfAllKeys(t *testing.T) {
	t.Parallel()
	keys := []string{indexKey, pieceKey(0), pieceKey(9), pieceKey(10), partKey(0), partKey(9), partKey(10), partKey(1 << 60), partKey(math.MaxUint64)}
	assert.True(t, slices.IsSorted(keys[4:]), "%v", keys)
	assert.Less(t, slices.Max(keys[:4]), keys[4])
}

// TestPartsThatWaitAreOneOperation is the design's coalescing: the cost of a write is not that of its bytes.
func TestPartsThatWaitAreOneOperation(t *testing.T) {
	t.Parallel()
	h := &hangingHost{StorageHost: componentcheck.NewStorageHost(t)}
	b := newBenchAt(t, t0, h, &backend{}, stored(h.StorageHost))
	open, begun := h.shut(), len(h.Calls())
	st := b.core.store
	first := st.append([]byte("a"))
	var last *job
	for range 9 {
		last = st.append(make([]byte, maxAtOnce/4))
	}
	open()
	assert.True(t, st.reach(context.Background(), first))
	assert.True(t, st.reach(context.Background(), last))
	writes := 0
	for _, c := range h.Calls()[begun:] {
		if c.Writes {
			writes++
			assert.LessOrEqual(t, len(c.Keys), 4)
		}
	}
	assert.LessOrEqual(t, writes, 4, "the first, perhaps alone, and nine of which three fit into one")
	assert.NoError(t, b.core.close(context.Background()))
}
