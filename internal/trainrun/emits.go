package trainrun

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Emits says which signals a trainer sends by itself.
type Emits uint8

// Signals that a trainer may send by itself.
const (
	EmitsMetrics Emits = 1 << iota
	EmitsTraces
)

// EmitsOf reads a list of signals; a word off the list means none.
func EmitsOf(words []string) Emits {
	var e Emits
	for _, w := range words {
		switch w {
		case trainrecord.EmitsMetrics:
			e |= EmitsMetrics
		case trainrecord.EmitsTraces:
			e |= EmitsTraces
		default: // no signal that is derived
		}
	}
	return e
}

// emits counts what is no list, and words that are off it.
func (s *sighter) emits() (e Emits) {
	v, ok := s.body.Get(trainrecord.BodyEmits)
	if !ok || v.Type() == pcommon.ValueTypeEmpty {
		return 0
	}
	if v.Type() != pcommon.ValueTypeSlice {
		s.leftOut++
		return 0
	}
	for _, word := range v.Slice().All() {
		signal := EmitsOf([]string{word.AsString()})
		if signal == 0 {
			s.offList++
		}
		e |= signal
	}
	return e
}
