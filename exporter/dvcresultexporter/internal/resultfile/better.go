package resultfile

import (
	"encoding/json"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// IsBetter says whether a result.json on disk rests on a newer attempt than the state, or on more records of the same one.
// Such a result stays: the state is that of a collector which has not seen everything.
func IsBetter(marker []byte, st *trainrun.State) bool {
	var old struct {
		Schema   string `json:"schema"`
		RunID    string `json:"run_id"`
		Attempts []struct {
			Attempt int64 `json:"attempt"`
		} `json:"attempts"`
		Records struct {
			Count int64 `json:"count"`
		} `json:"records"`
	}
	if json.Unmarshal(marker, &old) != nil || old.Schema != Schema || old.RunID != cutText(st.RunID, maxText) {
		return false
	}
	attempt := int64(1)
	for _, a := range old.Attempts {
		attempt = max(attempt, a.Attempt)
	}
	if newest := max(st.Attempt, 1); attempt != newest {
		return attempt > newest
	}
	return old.Records.Count > st.Records.Count
}
