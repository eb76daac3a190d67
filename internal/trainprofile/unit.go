package trainprofile

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// epochTolerance is how far a float may lie above a whole number of finished epochs and still mean it.
const epochTolerance = 1e-9

const maxEpochs = trainrecord.MaxEpochs

// toEpoch gives the 0-based index of an epoch.
func (c scalar) toEpoch(base epochBase, as numbers) (scalar, string, bool) {
	if base != baseProgress {
		n, isInt := c.integer(as)
		if base == baseOne && n > math.MinInt64 {
			n--
		}
		return ranged(n, isInt, 0, maxEpochs)
	}
	n, isNumber := c.number(as)
	if n.typ == pcommon.ValueTypeInt {
		n = floatScalar(float64(n.i))
	}
	switch {
	case !isNumber:
		return scalar{}, ReasonWrongType, false
	case !(n.f >= 0) || n.f > maxEpochs:
		return scalar{}, ReasonOutOfRange, false
	}
	epoch := int64(math.Ceil(n.f-epochTolerance)) - 1
	return intScalar(epoch), "", epoch >= 0
}

// toProgress reads a number of finished epochs.
func (c scalar) toProgress(as numbers) (scalar, string, bool) {
	n, reason, ok := c.toSeconds("", as) // neither is below zero, or infinite
	if ok && (n.typ == pcommon.ValueTypeInt && n.i > maxEpochs || n.f > maxEpochs) {
		return c, ReasonOutOfRange, false
	}
	return n, reason, ok
}

// toDuration reads a duration. Python's text of one (0:01:02, 1 day, 0:01:02.5) is that whatever the unit; of two numbers nothing
// tells whether the first counts minutes or hours.
func (c scalar) toDuration(unit string, as numbers) (scalar, string, bool) {
	if c.typ == pcommon.ValueTypeStr && strings.Count(c.s, ":") == 2 {
		unit = unitClock
	}
	return c.toSeconds(unit, as)
}

// toSeconds reads a duration in the unit that the profile names.
func (c scalar) toSeconds(unit string, as numbers) (scalar, string, bool) {
	if unit == unitClock {
		f, ok := parseClock(c.s)
		return floatScalar(f), wrongTypeIf(!ok), ok
	}
	n, isNumber := c.number(as)
	if !isNumber {
		return c, ReasonWrongType, false
	}
	if scale := unitSeconds[unit]; scale != 1 || n.typ != pcommon.ValueTypeInt {
		f := n.f
		if n.typ == pcommon.ValueTypeInt {
			f = float64(n.i)
		}
		if scale < 1 {
			f /= math.Round(1 / scale) // exact for decimal fractions where multiplying is not
		} else {
			f *= scale
		}
		n = floatScalar(f)
	}
	if n.typ == pcommon.ValueTypeInt && n.i < 0 || n.typ == pcommon.ValueTypeDouble && (!(n.f >= 0) || math.IsInf(n.f, 1)) {
		return c, ReasonOutOfRange, false
	}
	return n, "", true
}

const unitClock = "clock"

var unitSeconds = map[string]float64{"": 1, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60, "h": 3600}

var clock = regexp.MustCompile(`^(?:(\d{1,6}) days?,? )?(?:(\d{1,6}):)?(\d{1,4}):(\d{1,2}(?:\.\d{1,9})?)$`)

// parseClock reads MM:SS, H:MM:SS and "2 days, H:MM:SS" (pandas: without the comma), each with a fraction or without.
func parseClock(s string) (float64, bool) {
	at := clock.FindStringSubmatch(strings.TrimSpace(s))
	if at == nil {
		return 0, false
	}
	total := 0.0
	for i, scale := range []float64{86400, 3600, 60, 1} {
		if at[i+1] == "" {
			continue
		}
		f, err := strconv.ParseFloat(at[i+1], 64)
		if err != nil {
			return 0, false
		}
		total += f * scale
	}
	return total, true
}
