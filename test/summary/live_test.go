package summary

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

func TestAProcessThatEndsCleanly(t *testing.T) {
	t.Parallel()
	tr := train(t, "0.2", "now")
	assert.Equal(t, "running", run(t, tr.path).document(t)["state"])
	time.AfterFunc(time.Second, func() { tr.do(t, "end") })
	got := run(t, "--wait-for", "ended", "--timeout", "60s", tr.path)
	assert.Zero(t, got.code)
	d := got.document(t)
	assert.Equal(t, "finished", d["state"])
	assert.Equal(t, "max_steps", d["stop"].(map[string]any)["reason"])
}

func TestAWaitReturnsWithinTwoSecondsOfTheLine(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]string{"its stream": "train.jsonl", "another one": "rank1.jsonl", "another folder": "node1/rank1.jsonl"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			least := time.Hour
			for attempt := 0; attempt < 5 && least >= 2*time.Second; attempt++ { // what else the machine does only adds to one
				took := returnsAfter(t, second)
				least = min(least, took)
				t.Logf("attempt %d: %s after the line", attempt+1, took)
			}
			assert.Less(t, least, 2*time.Second)
		})
	}
}

// returnsAfter waits for a line of a file, beside another one, and gives the time from the line to the end of the command.
func returnsAfter(t *testing.T, second string) time.Duration {
	t.Helper()
	dir := t.TempDir()
	add := func(file, epoch string) {
		path := filepath.Join(dir, file)
		assert.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		appendLine(t, path, `{"ts":"`+time.Now().UTC().Format(time.RFC3339Nano)+`","event":"epoch.end","run_id":"r","body":{"epoch":`+epoch+`}}`)
	}
	add("train.jsonl", "1")
	wrote := make(chan time.Time, 1)
	time.AfterFunc(1500*time.Millisecond, func() {
		add(second, "76")
		wrote <- time.Now()
	})
	got := run(t, "--wait-for", "epoch=77", "--timeout", "5m", dir)
	assert.Zero(t, got.code, got.out)
	return time.Since(<-wrote)
}

func appendLine(t *testing.T, path, line string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = io.WriteString(f, line+"\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func TestAProcessThatIsKilled(t *testing.T) {
	t.Parallel()
	tr := train(t, "0.2", "now")
	time.AfterFunc(time.Second, func() { assert.NoError(t, tr.Process.Kill()) })
	got := run(t, "--wait-for", "finished", "--timeout", "60s", tr.path)
	assert.Equal(t, 13, got.code, "a vanished process proves neither success nor failure")
	d := got.document(t)
	assert.Equal(t, "unknown", d["state"])
	assert.Equal(t, false, d["alive"])
	assert.Equal(t, "process_gone", d["stop"].(map[string]any)["reason"])
	assert.Equal(t, "gone", d["evidence"].(map[string]any)["process"])
}

func TestAProcessThatLeavesWithoutAWord(t *testing.T) {
	t.Parallel()
	tr := train(t, "0.2", "now")
	tr.do(t, "leave")
	<-tr.done
	got := run(t, "--exit-state", tr.path)
	assert.Equal(t, 13, got.code)
	assert.Equal(t, "unknown", got.document(t)["state"])
	got = run(t, "--exit-state", "--no-process-check", tr.path)
	assert.Zero(t, got.code)
	assert.Equal(t, "running", got.document(t)["state"], "without a look at the process it may be slow")
}

func TestAProcessThatHangs(t *testing.T) {
	t.Parallel()
	tr := train(t, "0.2", "now")
	require.NoError(t, tr.Process.Signal(syscall.SIGSTOP))
	got := run(t, "--wait-for", "ended", "--stall-after", "2s", "--timeout", "60s", tr.path)
	assert.Equal(t, 12, got.code)
	d := got.document(t)
	assert.Equal(t, "stalled", d["state"])
	assert.Equal(t, true, d["alive"], "it lives and does nothing")
	require.NoError(t, tr.Process.Signal(syscall.SIGCONT))
	require.Eventually(t, func() bool { return run(t, "--stall-after", "2s", tr.path).document(t)["state"] == "running" }, time.Minute, 200*time.Millisecond)
}

func TestASlowWriterIsNoStall(t *testing.T) {
	t.Parallel()
	tr := train(t, "1", "now")
	got := run(t, "--wait-for", "stalled", "--timeout", "5s", tr.path)
	assert.Equal(t, 124, got.code)
	assert.Equal(t, "running", got.document(t)["state"])
}

func TestAProcessNumberThatWasUsedAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "train.jsonl")
	host, err := os.Hostname()
	require.NoError(t, err)
	at := time.Now().Add(-24 * time.Hour).UTC().Format(time.RFC3339)
	line := `{"ts":"` + at + `","event":"epoch.end","run_id":"r","host":"` + host + `","resource":{"process.pid":` + strconv.Itoa(os.Getpid()) + `},"body":{"epoch":0}}`
	require.NoError(t, os.WriteFile(path, []byte(line+"\n"), 0o600))
	d := run(t, path).document(t)
	assert.Equal(t, "not_checked", d["evidence"].(map[string]any)["process"], "this process began after the record")
}

func TestACopiedFile(t *testing.T) {
	t.Parallel()
	tr := train(t, "0.2", "1 hour ago")
	tr.do(t, "leave")
	<-tr.done
	text, err := os.ReadFile(tr.path)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "copy.jsonl")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	got := run(t, "--no-process-check", "--exit-state", path)
	assert.Equal(t, 13, got.code)
	assert.Equal(t, map[string]any{"state": "mtime_newer_than_records", "alive": "mtime_newer_than_records", "best.checkpoint": "no_checkpoint_record", "best": nil},
		withNil(got.document(t)["why"].(map[string]any), "best"))
}

// withNil gives a map in which a key is at least nil.
// TestASignalEndsALongRead sends one while a stream is read that takes minutes: a file that is nearly all hole.
func TestASignalEndsALongRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "train.jsonl")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, 1<<40))
	for _, args := range [][]string{{path}, {"--watch", path}, {"--wait-for", "ended", path}} {
		var errs bytes.Buffer
		c := exec.CommandContext(t.Context(), collector.Summary(t), args...)
		c.Stderr = &errs
		require.NoError(t, c.Start())
		reads := fmt.Sprintf("/proc/%d/io", c.Process.Pid)
		require.Eventually(t, func() bool {
			text, err := os.ReadFile(reads)
			var n int64
			_, _ = fmt.Sscanf(string(text), "rchar: %d", &n)
			return err == nil && n > 1<<30
		}, 2*time.Minute, 10*time.Millisecond)
		require.NoError(t, c.Process.Signal(syscall.SIGTERM))
		sent := time.Now()
		require.Error(t, c.Wait())
		assert.Less(t, time.Since(sent), 30*time.Second, "the read would take minutes")
		assert.Equal(t, 1, c.ProcessState.ExitCode())
		assert.Contains(t, errs.String(), "interrupted")
	}
}

func withNil(m map[string]any, key string) map[string]any {
	if _, ok := m[key]; !ok {
		m[key] = nil
	}
	return m
}

func TestAClockThatIsAnHourOff(t *testing.T) {
	t.Parallel()
	behind := train(t, "0.2", "1 hour ago")
	assert.Equal(t, "unknown", run(t, "--no-process-check", behind.path).document(t)["state"])
	assert.Equal(t, "running", run(t, "--no-process-check", "--observe", "5s", behind.path).document(t)["state"], "growth that is seen is growth")
	ahead := train(t, "0.2", "1 hour")
	d := run(t, "--no-process-check", ahead.path).document(t)
	assert.Equal(t, "running", d["state"])
	assert.Equal(t, "clock_future", d["warnings"].([]any)[0].(map[string]any)["code"])
}
