package trainrecord

import (
	"math"
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

// TestUnixFloatsAreTheirShortestDecimals compares the fast ways with the spelling, for the doubles of the years 2004 to 2038, for those that are
// spelled with seven decimals, and for those halfway between two such.
func TestUnixFloatsAreTheirShortestDecimals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.OneOf(
			rapid.Custom(func(t *rapid.T) float64 {
				return float64(rapid.Int64Range(1<<30-1, 1<<31+1).Draw(t, "s")) + float64(rapid.Int64Range(0, 1<<22-1).Draw(t, "k"))/(1<<22)
			}),
			rapid.Custom(func(t *rapid.T) float64 {
				return float64(rapid.Int64Range(1<<30-1, 1<<31+1).Draw(t, "s")) + float64(rapid.Int64Range(0, 1<<8-1).Draw(t, "k"))/(1<<8)
			}),
			rapid.Custom(func(t *rapid.T) float64 {
				return math.Float64frombits(math.Float64bits(1<<31) + uint64(rapid.IntRange(0, 4).Draw(t, "above")) - 2)
			}),
		).Draw(t, "f")
		want, wantOK := parseUnix(strconv.FormatFloat(f, 'f', -1, 64))
		got, ok := unixFloat(f)
		assert.Equal(t, wantOK, ok)
		assert.Equal(t, want, got, "%v", strconv.FormatFloat(f, 'f', -1, 64))
	})
}

// BenchmarkUnixFloat reads a time with six and with seven decimals.
func BenchmarkUnixFloat(b *testing.B) {
	for name, f := range map[string]float64{"six": 1794045600.123456, "seven": 1794045600.1234567} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				unixFloat(f)
			}
		})
	}
}
