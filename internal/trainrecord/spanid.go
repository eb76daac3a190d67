package trainrecord

import (
	"crypto/sha256"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Words that derived ids begin with; another rule of derivation gets another word.
const (
	traceIDVersion = "train-trace-v1"
	spanIDVersion  = "train-span-v1"
)

// What a span that belongs to no phase stands for.
const (
	SpanOfRun   = "run"
	SpanOfStart = "start"
)

// NoAnchor stands for the epoch or the anchor of a span that has none.
const NoAnchor = "-"

// SpanKey is what the id of a derived span is computed from. There are no counters in it: order, restart and replay do not
// change an id.
type SpanKey struct {
	What   string // SpanOfRun, SpanOfStart or a phase
	Epoch  string // decimal, or NoAnchor
	Anchor string // what tells spans of one phase and epoch apart, or NoAnchor
}

// RunSpan is the key of the span of a run.
var RunSpan = SpanKey{What: SpanOfRun, Epoch: NoAnchor, Anchor: NoAnchor}

// DerivedTraceID gives the id of the trace of an attempt of a run whose trainer has no trace. A salt, if any, separates
// worlds in which run ids were used again.
func DerivedTraceID(salt, runID string, attempt int64) pcommon.TraceID {
	var id pcommon.TraceID
	derive(id[:], traceIDVersion, salt, runID, strconv.FormatInt(attempt, 10))
	return id
}

// DerivedSpanID gives the id of a span of an attempt of a run.
func DerivedSpanID(salt, runID string, attempt int64, k SpanKey) pcommon.SpanID {
	var id pcommon.SpanID
	derive(id[:], spanIDVersion, salt, runID, strconv.FormatInt(attempt, 10), k.What, k.Epoch, k.Anchor)
	return id
}

// derive fills an id from the SHA-256 of the parts joined by NUL. An id of zeros alone is none, so it ends in 1.
func derive(id []byte, version, salt string, parts ...string) {
	text := append(make([]byte, 0, 128), version...)
	if salt != "" {
		text = append(append(text, ':'), salt...)
	}
	for _, part := range parts {
		text = append(append(text, 0), part...)
	}
	sum := sha256.Sum256(text)
	copy(id, sum[:])
	for _, b := range id {
		if b != 0 {
			return
		}
	}
	id[len(id)-1] = 1
}
