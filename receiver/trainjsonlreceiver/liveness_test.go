package trainjsonlreceiver

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const runEnd = `{"ts":1790000000,"event":"run.end","body":{"outcome":"success"}}` + "\n"

func streams(state, n string) string {
	return `otelcol_train_jsonl_streams{receiver="train_jsonl",state="` + state + `"} ` + n
}

func TestWhatStreamsDoIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cfg.SilentAfter = 5 * time.Minute
	synctest.Test(t, func(t *testing.T) {
		r.start()
		time.Sleep(time.Second)
		for _, line := range r.lines() {
			assert.NotContains(t, line, "_silence", "there is no stream yet")
		}
		r.telemetry(streams("growing", "0"), streams("silent", "0"), streams("ended", "0"), streams("blocked", "0"))
		r.sink.set(func(_ context.Context, _ int, ld plog.Logs) error {
			if records(ld)[0].run == "refused" {
				return errBusy
			}
			return nil
		})
		r.write("ended/train.jsonl", rows(0, 1)+runEnd)
		r.write("silent/train.jsonl", rows(0, 1))
		r.write("refused/train.jsonl", rows(0, 1))
		time.Sleep(10 * time.Minute)
		r.write("growing/train.jsonl", rows(0, 1))
		time.Sleep(10 * time.Second)
		r.telemetry(streams("growing", "1"), streams("silent", "1"), streams("ended", "1"), streams("blocked", "1"))
		var lag, silence bool
		for _, line := range r.lines() {
			lag = lag || strings.HasPrefix(line, `otelcol_train_jsonl_lag{receiver="train_jsonl"} 60`) || strings.HasPrefix(line, `otelcol_train_jsonl_lag{receiver="train_jsonl"} 61`)
			silence = silence || strings.HasPrefix(line, `otelcol_train_jsonl_silence{receiver="train_jsonl"}`)
		}
		assert.True(t, lag, r.lines())
		assert.True(t, silence)
		r.sink.set(nil)
		r.append("silent/train.jsonl", rows(1, 1))
		time.Sleep(10 * time.Second)
		r.telemetry(streams("growing", "2"), streams("silent", "1"), streams("ended", "1"), streams("blocked", "0"),
			`otelcol_train_jsonl_lag{receiver="train_jsonl"} 0`)
		r.stop()
	})
}

// statuses gives "run state" of the events that tell what streams do.
func (k *sink) statuses(t *testing.T) []string {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []string
	for _, ld := range k.logs {
		lr := ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
		if lr.EventName() != trainrecord.EventName(trainrecord.EventStreamStatus) {
			continue
		}
		_, uid := lr.Attributes().Get(trainrecord.AttrLogRecordUID)
		assert.False(t, uid, "no record of the run")
		assert.Zero(t, lr.Timestamp())
		run, _ := lr.Attributes().Get(trainrecord.AttrRunID)
		state, _ := lr.Body().Map().Get(trainrecord.BodyState)
		behind, ok := lr.Body().Map().Get(trainrecord.BodyBytesBehind)
		assert.True(t, ok && (behind.Int() > 0) == (state.Str() == "blocked"))
		if last, known := lr.Body().Map().Get(trainrecord.BodyLastGrowth); known {
			at, err := time.Parse(time.RFC3339Nano, last.Str())
			require.NoError(t, err)
			assert.NotZero(t, at.Year()-1)
		}
		out = append(out, run.Str()+" "+state.Str())
	}
	return out
}

func TestChangesOfAStreamAreEventsIfThatIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{true, false} {
		r := newRig(t)
		r.cfg.SilentAfter = 5 * time.Minute
		if on {
			r.cfg.StreamStatus.Interval = time.Minute
		}
		synctest.Test(t, func(t *testing.T) {
			r.write("a/train.jsonl", rows(0, 1))
			r.start()
			time.Sleep(2*time.Minute + time.Second)
			time.Sleep(10 * time.Minute)
			r.append("a/train.jsonl", rows(1, 1))
			time.Sleep(2 * time.Minute)
			r.append("a/train.jsonl", runEnd)
			time.Sleep(20 * time.Minute)
			r.stop()
		})
		if on {
			assert.Equal(t, []string{"a growing", "a silent", "a growing", "a ended"}, r.sink.statuses(t))
		} else {
			assert.Empty(t, r.sink.statuses(t))
		}
		assert.Len(t, r.sink.of("train.jsonl"), map[bool]int{true: 7, false: 3}[on])
	}
}

func TestAlertsFindTheirCountersAtZero(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	r.stop()
	all := strings.Join(r.lines(), "\n")
	for _, name := range []string{
		`lost_bytes{`, `refused_records{`, `checkpoint_failures{`, `retries{`, `vanished_files{`,
		`rewrites{reason="changed"`, `rewrites{reason="shorter"`, `read_errors{reason="hung"`, `discovery_errors{reason="slow"`,
		`checkpoint_errors{reason="damaged"`, `skipped_files{reason="not_regular"`, `watch_limits{reason="remote"`,
		`records{kind="record"`,
	} {
		assert.Regexp(t, "otelcol_train_jsonl_"+strings.NewReplacer("{", `\{`).Replace(name)+`[^\n]* 0`, all)
	}
}

func grown(within, n string) string {
	return `otelcol_train_jsonl_last_growth{receiver="train_jsonl",within="` + within + `"} ` + n
}

// TestWhenFilesLastGrewIsCounted has files of any age, before and after a restart. A run that has ended is of no concern.
func TestWhenFilesLastGrewIsCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		for name, age := range map[string]time.Duration{"a": 0, "b": 5 * time.Minute, "c": 30 * time.Minute, "d": 3 * time.Hour, "e": 48 * time.Hour, "f": 5 * time.Minute} {
			r.write(name+"/train.jsonl", rows(0, 1))
			if name == "f" {
				r.append("f/train.jsonl", runEnd)
			}
			at := time.Now().Add(-age)
			require.NoError(t, os.Chtimes(r.path(name+"/train.jsonl"), at, at))
		}
		for range 2 {
			r.start()
			time.Sleep(10 * time.Second)
			r.telemetry(grown("1m", "1"), grown("10m", "1"), grown("1h", "1"), grown("24h", "1"), grown("longer", "1"),
				streams("silent", "3"), streams("ended", "1"))
			r.stop()
		}
		r.start()
		r.append("e/train.jsonl", rows(1, 1))
		time.Sleep(3 * time.Minute)
		r.telemetry(grown("1m", "0"), grown("10m", "3"), grown("1h", "1"), grown("24h", "1"), grown("longer", "0"))
		r.stop()
	})
}

// TestTheFileThatLagsIsNamedInTheLog has one that the pipeline refuses.
func TestTheFileThatLagsIsNamedInTheLog(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		r.sink.set(func(_ context.Context, _ int, ld plog.Logs) error {
			if records(ld)[0].run == "b" {
				return errBusy
			}
			return nil
		})
		r.start()
		r.write("a/train.jsonl", rows(0, 1))
		r.write("b/train.jsonl", rows(0, 1))
		time.Sleep(30 * time.Second)
		assert.Empty(t, r.logs.FilterMessageSnippet("not been accepted for long").All())
		time.Sleep(2 * time.Minute)
		told := r.logs.FilterMessageSnippet("not been accepted for long").All()
		require.NotEmpty(t, told)
		assert.LessOrEqual(t, len(told), 2)
		assert.Equal(t, r.path("b/train.jsonl"), told[0].ContextMap()["file"])
		r.stop()
	})
}
