package dvcresultexporter

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// tells brings what the receiver says of a stream.
func (r *rig) tells(run, file, state string) {
	r.t.Helper()
	ld := plog.NewLogs()
	lr := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	lr.SetEventName(trainrecord.EventName(trainrecord.EventStreamStatus))
	lr.Attributes().PutStr(trainrecord.AttrRunID, run)
	lr.Attributes().PutStr(trainrecord.AttrLogFilePath, file)
	lr.Body().SetEmptyMap().PutStr(trainrecord.BodyState, state)
	require.NoError(r.t, r.exp.consumeLogs(r.t.Context(), ld))
}

// written names the results on disk.
func (r *rig) written() []string {
	r.t.Helper()
	found, err := filepath.Glob(filepath.Join(r.cfg.Directory, "*", "result.json"))
	require.NoError(r.t, err)
	return found
}

// A run whose stream cannot be read or delivered is not silent, as far as anybody knows.
func TestABlockedStreamIsNotSilent(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{"plain": "a", "with a secret": "hf_abcdefghijklmnop"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, r *rig) {
				r.start()
				defer r.stop()
				r.feed(wholeRun(id)[:3]...)
				r.feed(wholeRun("other")[:3]...)
				pass(29 * time.Minute)
				for _, file := range []string{"1.jsonl", "2.jsonl"} {
					r.tells(id, file, "blocked")
				}
				r.tells("nobody", "3.jsonl", "blocked")
				pass(10 * time.Hour)
				r.says("other", "stalled", true, true)
				assert.Len(t, r.written(), 1, "the receiver is at fault, not the run")
				r.tells(id, "1.jsonl", "growing")
				pass(time.Hour)
				assert.Len(t, r.written(), 1, "another of its streams is blocked")
				r.tells(id, "2.jsonl", "silent")
				pass(30*time.Minute - time.Nanosecond)
				assert.Len(t, r.written(), 1)
				pass(time.Nanosecond)
				assert.Len(t, r.written(), 2)
			})
		})
	}
}
