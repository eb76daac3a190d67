package componentkit

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestACallThatHangsHoldsNobody: it is not made twice, and its answer is given when it comes.
func TestACallThatHangsHoldsNobody(t *testing.T) {
	t.Parallel()
	answers := make(chan int)
	calls := 0
	call := func() int { calls++; return <-answers }
	var h Hangs[int]
	for range 2 {
		_, err := h.Do(t.Context(), time.Millisecond, call)
		require.ErrorIs(t, err, ErrHangs)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := h.Do(gone, time.Hour, call)
	require.ErrorIs(t, err, context.Canceled)
	go func() { answers <- 7 }()
	answer, err := h.Do(t.Context(), time.Minute, call)
	require.NoError(t, err)
	assert.Equal(t, 7, answer)
	assert.Equal(t, 1, calls)
	go func() { answers <- 8 }()
	answer, err = h.Do(t.Context(), time.Minute, call)
	require.NoError(t, err)
	assert.Equal(t, []int{8, 2}, []int{answer, calls})
}
