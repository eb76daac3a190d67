package resultfile

import (
	"math"
	"strconv"
	"strings"
)

// appendFloat writes a float as Python's repr does: the shortest digits that read back, a point in whole numbers, an
// exponent from 1e16 and below 1e-4 ("0.1", "3.0", "1e-05", "1e+16"); "nan", "inf" and "-inf" for the rest.
func appendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "nan"...)
	case math.IsInf(f, 1):
		return append(b, "inf"...)
	case math.IsInf(f, -1):
		return append(b, "-inf"...)
	case f != 0 && (math.Abs(f) < 1e-4 || math.Abs(f) >= 1e16):
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	start := len(b)
	b = strconv.AppendFloat(b, f, 'f', -1, 64)
	for _, c := range b[start:] {
		if c == '.' {
			return b
		}
	}
	return append(b, ".0"...)
}

// appendYAMLFloat writes a float so that YAML 1.1 and 1.2 readers both see one: a mantissa always has a point.
func appendYAMLFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, ".nan"...)
	case math.IsInf(f, 1):
		return append(b, ".inf"...)
	case math.IsInf(f, -1):
		return append(b, "-.inf"...)
	}
	text := string(appendFloat(nil, f))
	if mantissa, exponent, ok := strings.Cut(text, "e"); ok && !strings.Contains(mantissa, ".") {
		text = mantissa + ".0e" + exponent
	}
	return append(b, text...)
}

// isFinite tells numbers that a plot can show from the others.
func isFinite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// isBigInteger tells the digits of an integer beyond int64, which records carry as text.
func isBigInteger(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	if len(digits) < 19 || digits[0] == '0' {
		return false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	_, err := strconv.ParseInt(s, 10, 64)
	return err != nil
}
