package trainrecord

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"pgregory.net/rapid"
)

// TestNumbersThatNeedNoSearch names what trainers write most: floats of Python, rates and times.
func TestNumbersThatNeedNoSearch(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0.5", "-1", "1795132800.123456", "4.237168684686163", "7.637746189766141e-05", "5E-5", "1e+3", "-0.0", "-0e5", "9007199254740992", "1e22",
	} {
		_, _, ok := shortNumber([]byte(text))
		assert.True(t, ok, text)
	}
	for _, text := range []string{"9007199254740993", "0.00000000000000000000001", "1e23", "1e-23", "1e999999999999", "-Infinity"} {
		_, _, ok := shortNumber([]byte(text))
		assert.False(t, ok, text)
	}
}

// TestANumberIsTheNearestDouble holds the short way to strconv's, bit for bit.
func TestANumberIsTheNearestDouble(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var text string
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			text = rapid.StringMatching(`-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?`).Draw(t, "text")
		case 1:
			text = strconv.FormatFloat(rapid.Float64().Draw(t, "f"), "eg"[rapid.IntRange(0, 1).Draw(t, "form")], rapid.IntRange(-1, 18).Draw(t, "digits"), 64)
		default:
			text = strconv.FormatFloat(rapid.Float64Range(-1e10, 1e10).Draw(t, "f"), 'f', rapid.IntRange(-1, 12).Draw(t, "digits"), 64)
		}
		v := pcommon.NewValueEmpty()
		s := newScanner(KeepNonFinite)
		s.reset([]byte(text))
		require.NoError(t, s.value(&v, 0), text)
		require.Equal(t, len(text), s.pos, text)
		switch v.Type() {
		case pcommon.ValueTypeDouble:
			want, _ := strconv.ParseFloat(text, 64)
			require.Equal(t, math.Float64bits(want), math.Float64bits(v.Double()), text)
		case pcommon.ValueTypeInt:
			want, err := strconv.ParseInt(text, 10, 64)
			require.NoError(t, err, text)
			require.Equal(t, want, v.Int(), text)
		default:
			require.Equal(t, text, v.Str(), text)
		}
	})
}
