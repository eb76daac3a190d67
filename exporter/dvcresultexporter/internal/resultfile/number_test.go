package resultfile

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestFloatsAreWrittenAsPythonWritesThem(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]float64{
		"0.1": 0.1, "3.0": 3, "1e-05": 1e-5, "0.0001": 1e-4, "1e+16": 1e16, "9007199254740992.0": 1 << 53,
		"1000000000000000.0": 1e15, "1.2345678901234568e+17": 123456789012345678, "0.0": 0, "-2.5": -2.5,
		"-0.0": math.Copysign(0, -1), "5e-324": 5e-324, "1.7976931348623157e+308": math.MaxFloat64,
		"9999999999999998.0": 9999999999999998, "0.00012345": 0.00012345, "9.9999e-05": 9.9999e-5,
		"nan": math.NaN(), "inf": math.Inf(1), "-inf": math.Inf(-1),
	} {
		assert.Equal(t, want, string(appendFloat(nil, f)))
	}
}

func TestYAMLFloatsHaveAPoint(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]float64{
		"1.0e-05": 1e-5, "1.5e-05": 1.5e-5, "1.0e+16": 1e16, "3.0": 3, "0.1": 0.1, ".nan": math.NaN(), ".inf": math.Inf(1),
		"-.inf": math.Inf(-1), "-1.0e+100": -1e100,
	} {
		assert.Equal(t, want, string(appendYAMLFloat(nil, f)))
	}
}

func TestFloatsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		back, err := strconv.ParseFloat(string(appendFloat(nil, f)), 64)
		require.NoError(t, err)
		require.Equal(t, math.Float64bits(f), math.Float64bits(back))
	})
}

func TestBigIntegersAreDigits(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"18446744073709551615": true, "-9223372036854775809": true, "9223372036854775808": true,
		"9223372036854775807": false, "12": false, "": false, "00000000000000000000000": false, "1234567890123456789x": false,
		"123456789012345678901.5": false,
	} {
		assert.Equal(t, want, isBigInteger(s), s)
	}
}
