package trainrecord

import (
	"math"
	"strings"
)

// nonFinite reads the spellings of NaN and the infinities that Python, Go, Rust and C write as text.
func nonFinite(s string) (float64, bool) {
	if len(s) < 3 || len(s) > len("-infinity") {
		return 0, false
	}
	switch strings.ToLower(s) {
	case "nan", "-nan", "+nan":
		return math.NaN(), true
	case "inf", "+inf", "infinity", "+infinity":
		return math.Inf(1), true
	case "-inf", "-infinity":
		return math.Inf(-1), true
	default:
		return 0, false
	}
}
