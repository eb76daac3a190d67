package trainingnormprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// remedy says what to do about an object that nothing maps. One that was meant to be a record is told from a row of an
// unknown framework; what it holds is not repeated.
func remedy(body pcommon.Value) string {
	if body.Type() != pcommon.ValueTypeMap {
		return "send a map as body"
	}
	event, hasEvent := body.Map().Get(trainrecord.KeyEvent)
	_, hasTime := body.Map().Get(trainrecord.KeyTS)
	_, hasRun := body.Map().Get(trainrecord.KeyRunID)
	_, hasBody := body.Map().Get(trainrecord.KeyBody)
	switch {
	case !hasEvent || event.Type() != pcommon.ValueTypeStr || !hasTime && !hasRun && !hasBody:
		return "name its framework, or write a profile for it"
	case !trainrecord.IsEvent(event.Str()):
		return "its event is none of the vocabulary's: see docs/records.md for the names"
	case !hasTime:
		return "it has an event of the vocabulary but no ts: add ts, or schema"
	default:
		return "it has an event of the vocabulary but neither run_id nor an object as body: add one"
	}
}
