package trainview

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// allZero says whether a body gives learning rates, and whether all are 0.
func allZero(body pcommon.Map) (zero, any bool) {
	v, ok := body.Get(trainrecord.BodyLearningRate)
	if !ok || v.Type() != pcommon.ValueTypeMap {
		return false, false
	}
	zero = true
	for _, rate := range v.Map().All() {
		if x, ok := trainrecord.Number(rate); ok {
			any = true
			zero = zero && x == 0
		}
	}
	return zero && any, any
}

// etaKeys are what frameworks call the time that is left, beside what the vocabulary has.
var etaKeys = []string{"eta_seconds", "remaining_time", "eta"}

// remaining reads the time that is left, as a framework reports it: seconds, or a text such as 1 day, 2:03:04.
func remaining(body pcommon.Map) (float64, bool) {
	v, ok := body.Get(trainrecord.BodyFramework)
	if !ok || v.Type() != pcommon.ValueTypeMap {
		return 0, false
	}
	for _, key := range etaKeys {
		left, ok := v.Map().Get(key)
		if !ok {
			continue
		}
		if x, ok := trainrecord.Number(left); ok && x >= 0 && finite(x) {
			return x, true
		}
		if left.Type() == pcommon.ValueTypeStr {
			return clockSeconds(left.Str())
		}
	}
	return 0, false
}

func clockSeconds(text string) (float64, bool) {
	days := 0.0
	if head, rest, ok := strings.Cut(text, ", "); ok {
		n, unit, _ := strings.Cut(head, " ")
		d, err := strconv.ParseUint(n, 10, 16)
		if err != nil || strings.TrimSuffix(unit, "s") != "day" {
			return 0, false
		}
		days, text = float64(d), rest
	}
	parts := strings.Split(text, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return 0, false
	}
	total := 0.0
	for _, p := range parts {
		x, err := strconv.ParseFloat(p, 64)
		if err != nil || !(x >= 0 && x < 1e6) {
			return 0, false
		}
		total = total*60 + x
	}
	return days*86400 + total, true
}
