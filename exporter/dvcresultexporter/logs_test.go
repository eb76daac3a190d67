package dvcresultexporter

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// A disk that is full now and then, or a directory that another collector holds: each result works at its second attempt.
func TestErrorsThatComeAndGoAreOneLineInFiveMinutes(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		for i := range 10 {
			failed := false
			r.fs.fail(func(op, _ string) error {
				if op != "create" || failed {
					return nil
				}
				failed = true
				return syscall.ENOSPC
			})
			id := fmt.Sprint("run", i)
			r.feed(wholeRun(id)...)
			pass(59 * time.Second)
			assert.True(t, failed)
			r.says(id, "success", true, false)
		}
		assert.Equal(t, "10", r.metric(`otelcol_dvc_result_write_errors{reason="no_space"}`))
		assert.Equal(t, 2, r.logs.FilterMessageSnippet("Results cannot be written").Len(), "one line in five minutes")
	})
}

// TestValuesThatAreReplacedAreCounted once, whatever is brought again.
func TestValuesThatAreReplacedAreCounted(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		ld := logsOf(t, wholeRun("a")...)
		lr := ld.ResourceLogs().At(1).ScopeLogs().At(0).LogRecords().At(0) // as over OTLP
		lr.Attributes().PutInt(trainrecord.AttrRunRank, -1)
		lr.Attributes().PutStr(trainrecord.AttrRunAttempt, "2")
		lr.Body().Map().PutInt(trainrecord.BodyEpoch, 1795000000)
		for range 2 {
			require.NoError(t, r.exp.consumeLogs(t.Context(), ld))
		}
		assert.Equal(t, "1", r.metric(`otelcol_dvc_result_replaced_values{reason="bad_value"}`))
		assert.Equal(t, "2", r.metric(`otelcol_dvc_result_replaced_values{reason="bad_attribute"}`))
	})
}
