package trainprofile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func TestTheLinesOwnRunGoesBeforeThatOfItsPath(t *testing.T) {
	t.Parallel()
	const (
		ray     = `{"training_iteration": 1, "trial_id": "3fa21_00002", "time_total_s": 1.5, "loss": 0.5, "iterations_since_restore": 1}`
		maxtext = `{"learning/loss": 0.5, "step": 3.0, "run_name": "llm-7"}`
		rust    = `{"timestamp": "2026-11-07T10:00:00Z", "level": "INFO", "target": "t", "fields": {"message": "epoch.end", "run_id": "own", "body": {"epoch": 0}}}`
	)
	for name, tt := range map[string]struct{ line, run, uid, want string }{
		"a trial":                 {ray, "folder", "folder/0000002a/10-0000002a", "3fa21_00002"},
		"a run's name":            {maxtext, "folder", "folder/0000002a/10-0000002a", "llm-7"},
		"a record in an envelope": {rust, "folder", "folder/0000002a/10-0000002a", "own"},
		"the line's key":          {`{"run_id": "key", ` + maxtext[1:], "key", "key/0000002a/10-0000002a", "key"},
		"not from the receiver":   {maxtext, "sdk", "", "sdk"},
		"another's uid":           {maxtext, "sdk", "folder/0000002a/10-0000002a", "sdk"},
		"an empty name":           {`{"learning/loss": 0.5, "step": 3.0, "run_name": ""}`, "folder", "folder/0000002a/10-0000002a", "folder"},
		"none in the log record":  {maxtext, "", "", "llm-7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lr := decode(t, tt.line)
			lr.Attributes().Remove(trainrecord.AttrRunID)
			if tt.run != "" {
				lr.Attributes().PutStr(trainrecord.AttrRunID, tt.run)
			}
			if tt.uid != "" {
				lr.Attributes().PutStr(trainrecord.AttrLogRecordUID, tt.uid)
			}
			out, all := process(NewMapper(nil), embeddedSet(t), &Stream{}, lr)
			require.Equal(t, Mapped, out.Kind)
			for _, got := range all {
				run, _ := got.Attributes().Get(trainrecord.AttrRunID)
				assert.Equal(t, tt.want, run.Str())
				uid, _ := got.Attributes().Get(trainrecord.AttrLogRecordUID)
				if tt.uid != "" {
					assert.Contains(t, uid.Str(), tt.uid) // identity stays the receiver's
				}
			}
		})
	}
}
