package trainrecord

import (
	"math"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// NonFinite says what becomes of a number that is not finite: one of Python's tokens, or one too large for a double.
type NonFinite int

// Choices of NonFinite.
const (
	KeepNonFinite   NonFinite = iota // a double
	NullNonFinite                    // null
	StringNonFinite                  // "NaN", "Infinity", "-Infinity"
)

func (s *scanner) putDouble(dst pcommon.Value, f float64) {
	switch {
	case s.nonFinite == KeepNonFinite || !math.IsNaN(f) && !math.IsInf(f, 0):
		dst.SetDouble(f)
	case s.nonFinite == NullNonFinite:
		pcommon.NewValueEmpty().CopyTo(dst)
	case math.IsNaN(f):
		dst.SetStr("NaN")
	case f > 0:
		dst.SetStr("Infinity")
	default:
		dst.SetStr("-Infinity")
	}
}

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
