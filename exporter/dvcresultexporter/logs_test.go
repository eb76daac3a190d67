package dvcresultexporter

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/atomicdir"
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

// TestALockThatComesFreeInSecondsIsNoError: two collectors that write the same results, as gateways do, meet at each other's locks every day. One that
// stays is an error, as any other that keeps a result from being written.
func TestALockThatComesFreeInSecondsIsNoError(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		refused, times := 0, patience
		r.fs.fail(func(op, name string) error {
			if op != "lock" || !strings.Contains(name, "locks/") || refused == times {
				return nil
			}
			refused++
			return atomicdir.ErrLocked
		})
		r.feed(wholeRun("a")...)
		pass(time.Minute)
		assert.Equal(t, times, refused)
		r.says("a", "success", true, false)
		assert.Empty(t, r.metric(`otelcol_dvc_result_write_errors{reason="locked"}`))
		assert.Zero(t, r.logs.FilterMessageSnippet("Results cannot be written").Len())
		assert.Empty(t, r.host.Statuses())

		refused, times = 0, patience+2
		r.feed(wholeRun("b")...)
		pass(time.Minute)
		assert.Equal(t, times, refused)
		r.says("b", "success", true, false)
		assert.Equal(t, "2", r.metric(`otelcol_dvc_result_write_errors{reason="locked"}`))
		assert.Equal(t, 1, r.logs.FilterMessageSnippet("Results cannot be written").Len())
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
