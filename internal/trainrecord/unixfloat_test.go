package trainrecord

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// TestAFloatIsTheTimeOfItsShortestSpelling holds the short way for seconds to the exact one.
func TestAFloatIsTheTimeOfItsShortestSpelling(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64Range(-1, 5e9).Draw(t, "seconds")
		if digits := rapid.IntRange(0, 9).Draw(t, "digits"); digits < 9 {
			f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64)
		}
		want, wantOK := parseUnix(strconv.FormatFloat(f, 'f', -1, 64))
		got, ok := unixFloat(f)
		assert.Equal(t, wantOK, ok, f)
		assert.Equal(t, want, got, f)
	})
}
