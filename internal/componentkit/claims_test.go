package componentkit

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOneAtATimeHasWhatIsClaimed(t *testing.T) {
	t.Parallel()
	var c Claims
	first, second := new(int), new(int)
	c.Release("a", first)
	assert.True(t, c.Take("a", first))
	assert.False(t, c.Take("a", second))
	assert.False(t, c.Take("a", first))
	assert.True(t, c.Take("b", second))
	c.Release("a", second)
	assert.False(t, c.Take("a", second), "released by who had it not")
	c.Release("a", first)
	assert.True(t, c.Take("a", second))
}
