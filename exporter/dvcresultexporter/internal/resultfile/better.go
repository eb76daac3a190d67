package resultfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// marker is what a result.json on disk says about the records that it rests on.
type marker struct {
	Schema   string `json:"schema"`
	RunID    string `json:"run_id"`
	Started  string `json:"started_at"`
	Coverage string `json:"coverage"`
	Conflict bool   `json:"conflict"`
	Attempts []struct {
		Attempt int64 `json:"attempt"`
	} `json:"attempts"`
	Records struct {
		Count int64 `json:"count"`
	} `json:"records"`
}

func readMarker(b []byte) (m marker, ok bool) {
	return m, json.Unmarshal(b, &m) == nil && m.Schema == Schema
}

// IsOther says that a result.json on disk is that of another run.
func IsOther(b []byte, id string) bool {
	m, ok := readMarker(b)
	return ok && m.RunID != cutText(id, maxText)
}

// IsNewer says whether a result.json on disk is that of another run which began later. Runs without a time are the oldest ones.
func IsNewer(b []byte, st *trainrun.State) bool {
	old, ok := readMarker(b)
	id := cutText(st.RunID, maxText)
	return ok && old.RunID != id && cmp.Or(strings.Compare(old.Started, clock(st.StartedAt)), strings.Compare(old.RunID, id)) > 0
}

// IsBetter says whether a result.json on disk rests on a newer attempt than the state, or on more records of the same one.
// Such a result stays: the state is that of a collector which has not seen everything. Up to the attempt own, the results on disk are
// those of this collector: what rows tell of attempts may turn out otherwise when more of them come.
func IsBetter(b []byte, st *trainrun.State, own int64) bool {
	old, ok := readMarker(b)
	if !ok || old.RunID != cutText(st.RunID, maxText) {
		return false
	}
	attempt, newest, count := int64(1), st.Attempt, st.Records.Count
	for _, a := range old.Attempts {
		attempt = max(attempt, a.Attempt)
	}
	switch c := st.Conflict; {
	case old.Conflict && c == nil: // who sees no conflict has seen less, unless it went away with more records
		return old.Records.Count >= count
	case c != nil: // what is there may have had records that are another host's by now: more than all hosts have it had not
		newest, count = c.Attempt, c.Records
	}
	if newest = max(newest, 1); attempt < newest || attempt > max(newest, own) {
		return attempt > newest
	}
	return old.Records.Count > count
}

// ofVerdict are the keys of a result.json that do not depend on the records alone.
var ofVerdict = []string{"final", "provisional", "outcome", "outcome_from", "files", "artifacts", "resources"}

// IsSurer says whether a result.json on disk tells the same of the records as next, and more of the run than next's verdict does. Such a result
// stays: it is that of a collector which had the same records earlier, or watched the run fall silent.
func IsSurer(b, next []byte, v Verdict) bool {
	if v.sureness() == sure {
		return false
	}
	var said struct {
		Final bool
		From  string `json:"outcome_from"`
	}
	if json.Unmarshal(b, &said) != nil || (Verdict{Final: said.Final, From: said.From}).sureness() <= v.sureness() {
		return false
	}
	var here, there map[string]json.RawMessage
	if json.Unmarshal(b, &here) != nil || json.Unmarshal(next, &there) != nil {
		return false
	}
	for _, key := range ofVerdict {
		delete(here, key)
		delete(there, key)
	}
	return maps.EqualFunc(here, there, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

const sure = 2

// sureness orders verdicts on the same records: one that is not final, one on a silence that nobody watched, and all others.
func (v Verdict) sureness() int {
	switch {
	case !v.Final:
		return 0
	case v.From == FromRestart:
		return 1
	default:
		return sure
	}
}
