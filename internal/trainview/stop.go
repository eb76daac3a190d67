package trainview

import (
	"cmp"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// What a stop rests on.
const (
	evidenceRecord   = "record"
	evidenceDerived  = "derived"
	evidenceInferred = "inferred"
)

// stopByEnd reads the record of the end.
func (v *view) stopByEnd() {
	st := v.st
	s := &Stop{At: moment(st.EndedAt), Evidence: evidenceRecord}
	if !v.trail.nativeEnd {
		s.Evidence = evidenceDerived
	}
	failure := v.newestFailure()
	if st.Outcome == trainrecord.OutcomeSuccess {
		failure = nil
	}
	s.Reason, s.Reported = v.reasonOfEnd(failure)
	v.setError(s, failure)
	for _, f := range st.Finals {
		if f.Part == "" && len(s.Final) < maxFinals {
			s.Final = append(s.Final, FinalValue{Safe(f.Name, maxName), Number(f.Value)})
		}
	}
	v.doc.Stop = s
}

func (v *view) reasonOfEnd(failure *trainrun.Failure) (reason, reported string) {
	said := v.st.StopReason
	if reason := bounded(said); reason != "" {
		return reason, ""
	}
	reported = Safe(said, maxReason)
	reason = classify(said)
	if failure != nil && (reason == "" || isExit(said) && !v.progressAfterFailure()) {
		reason = cmp.Or(classifyFailure(failure), reason)
	}
	if reason != "" {
		return reason, reported
	}
	switch {
	case said == "" && !v.trail.nativeEnd:
		return reasonEndReported, reported
	case v.st.Outcome == trainrecord.OutcomeSuccess && said == "":
		return reasonCompleted, reported
	case v.st.Outcome == trainrecord.OutcomeFailed:
		return reasonError, reported
	default:
		return reasonUnknown, reported
	}
}

// isExit tells whether a reason is an exit status, all that a launcher knows: a failure that the trainer told says more.
func isExit(said string) bool { return strings.HasPrefix(strings.TrimSpace(plainText(said)), "exit") }

// stopByFailure reads the last failure.
func (v *view) stopByFailure() {
	s := &Stop{At: moment(v.st.EndedAt), Evidence: evidenceRecord, Reason: reasonError}
	if f := v.newestFailure(); f != nil {
		s.Reason = cmp.Or(classifyFailure(f), reasonError)
		v.setError(s, f)
	}
	v.doc.Stop = s
}

// newestFailure is the last failure of the newest attempt.
func (v *view) newestFailure() *trainrun.Failure {
	var found *trainrun.Failure
	for i := range v.st.Failures {
		f := &v.st.Failures[i]
		if f.Attempt == v.st.Attempt && (found == nil || f.At >= found.At) {
			found = f
		}
	}
	return found
}

func (v *view) setError(s *Stop, f *trainrun.Failure) {
	if f == nil || f.Type == "" && f.Message == "" {
		return
	}
	s.Error = &StopError{}
	if f.Type != "" {
		s.Error.Type = ptr(Safe(f.Type, maxErrorType))
	}
	if f.Message != "" {
		s.Error.Message = ptr(Safe(f.Message, maxMessage))
	}
}
