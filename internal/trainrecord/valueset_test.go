package trainrecord

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAValueOfAListMayHaveAnyLength(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100)
	s := newValueSet([]string{"a", long, "b"})
	for value, want := range map[string]bool{"a": true, "b": true, long: true, "c": false, "": false, long + "x": false, long[:99]: false} {
		assert.Equal(t, want, s.has(value), value)
	}
}
