package trainingnormprocessor

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Where the remedy is described.
const (
	docsRecords    = "docs/records.md"
	docsFrameworks = "docs/frameworks/README.md"
	docsProfiles   = "internal/trainprofile/README.md"
)

// remedy says what to do about an object that nothing maps; profile is that of its stream, empty when there is none. One that
// was meant to be a record is told from a row of a framework; what it holds is not repeated.
func remedy(set *trainprofile.Set, profile string, lr plog.LogRecord) string {
	body := lr.Body()
	if body.Type() != pcommon.ValueTypeMap {
		return "send a map as body"
	}
	if mistake := mistakeOfRecord(body.Map()); mistake != "" {
		return mistake
	}
	choice := "one of " + strings.Join(set.Names(), ", ") + ", or write a profile for it (" + docsProfiles + ")"
	switch name := frameworkNamed(lr); {
	case profile != "":
		return "profile " + profile + " has no rule for it: see its page (" + docsFrameworks + ") for what it reads; if the stream is another framework's, name " + choice
	case name != "" && !set.Knows(name):
		return "it names a framework that no profile is called: name " + choice
	default:
		return "name its framework, by the key framework of the object or of this component: " + choice
	}
}

// mistakeOfRecord says what an object lacks that was meant to be a record, empty for a framework's row.
func mistakeOfRecord(body pcommon.Map) string {
	event, hasEvent := body.Get(trainrecord.KeyEvent)
	has := func(key string) bool { // null is absent
		v, ok := body.Get(key)
		return ok && v.Type() != pcommon.ValueTypeEmpty
	}
	hasTime := has(trainrecord.KeyTS)
	switch {
	case !hasEvent || event.Type() != pcommon.ValueTypeStr || !hasTime && !has(trainrecord.KeyRunID) && !has(trainrecord.KeyBody):
		return ""
	case !trainrecord.IsEvent(event.Str()):
		return "its event is none of the vocabulary's (" + docsRecords + "): " + trainrecord.EventMistake(event.Str())
	case !hasTime:
		return "it has an event of the vocabulary but no ts: add ts, or schema (" + docsRecords + ")"
	default:
		return "it has an event of the vocabulary but neither run_id nor an object as body: add one (" + docsRecords + ")"
	}
}

// frameworkNamed gives the framework that a log record or its object names.
func frameworkNamed(lr plog.LogRecord) string {
	if name := text(lr.Attributes(), trainrecord.AttrFramework); name != "" {
		return name
	}
	return text(lr.Body().Map(), trainrecord.KeyFramework)
}
