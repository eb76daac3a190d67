package dvcresultexporter

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// feedText delivers lines of the n-th text of a file, which took the place of all before.
func (r *rig) feedText(n int64, lines ...line) {
	r.t.Helper()
	ld := logsOf(r.t, lines...)
	for _, rl := range ld.ResourceLogs().All() {
		attrs := rl.ScopeLogs().At(0).LogRecords().At(0).Attributes()
		attrs.PutStr(trainrecord.AttrLogFilePath, "/runs/a/train.jsonl")
		if n > 0 {
			attrs.PutInt(trainrecord.AttrStreamText, n)
			attrs.PutInt(trainrecord.AttrStreamReplaces, n)
		}
	}
	require.NoError(r.t, r.exp.consumeLogs(r.t.Context(), ld))
}

// twoTexts are of equal widths and without times; most lines of the second are those that stood at their place before.
func twoTexts() (first, second []line) {
	untimed := func(event, body string) string {
		return fmt.Sprintf(`{"schema":%q,"event":%q,"run_id":"a","body":{%s}}`, trainrecord.Schema, event, body)
	}
	text := func(loss string) []line {
		lines := []string{untimed("heartbeat", "")}
		for n, loss := range []string{loss, "0.50", "0.40"} {
			lines = append(lines, untimed("epoch.end", fmt.Sprintf(`"epoch":%d,"measurements":{"val/loss":%s}`, n, loss)))
		}
		return stream(append(lines, untimed("run.end", `"outcome":"success"`))...)
	}
	return text("0.91"), text("0.92")
}

const lossFile = "plots/metrics/val/loss.tsv"

// TestLinesThatANewTextHasTooSurviveAStart: they are in the journal as all that a fold takes.
func TestLinesThatANewTextHasTooSurviveAStart(t *testing.T) {
	t.Parallel()
	for how, end := range map[string]func(r *rig){"stopped": (*rig).stop, "killed": (*rig).kill} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, r *rig) {
				r.start()
				first, second := twoTexts()
				r.feedText(0, first...)
				pass(time.Minute)
				r.says("a", "success", true, false)
				r.feedText(1, second...)
				pass(time.Minute)
				r.says("a", "success", true, false)
				want := r.files("a")
				require.Contains(t, want[lossFile], "0.92\n1\t0.5\n2\t0.4")
				end(r)
				r.start()
				pass(time.Hour)
				assert.Equal(t, want[lossFile], r.files("a")[lossFile])
				r.says("a", "success", true, false)
				r.stop()
			})
		})
	}
}

// TestLinesThatANewTextHasTooComeLater: the second training is written over the first one as it goes on.
func TestLinesThatANewTextHasTooComeLater(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.LiveInterval = 10 * time.Second
		r.start()
		first, second := twoTexts()
		r.feedText(0, first...)
		pass(time.Minute)
		r.says("a", "success", true, false)
		r.feedText(1, second[:2]...)
		pass(time.Minute)
		require.NotContains(t, r.files("a")[lossFile], "0.4")
		r.feedText(1, second[2:]...)
		pass(time.Hour)
		assert.Contains(t, r.files("a")[lossFile], "0.92\n1\t0.5\n2\t0.4")
		r.says("a", "success", true, false)
		r.stop()
	})
}

// feedBeside delivers the end of an epoch in one of the files of a run that all tell the same epochs. While each has one, the second seems to
// begin anew.
func (r *rig) feedBeside(file, epoch int64) {
	ts := time.Now().UTC().Format(time.RFC3339Nano)
	text := fmt.Sprintf(`{"schema":%q,"ts":%q,"event":"epoch.end","run_id":"a","body":{"epoch":%d,"measurements":{"val/loss":0.%d%d}}}`, trainrecord.Schema, ts, epoch, 9-epoch, file)
	r.feed(line{text, (file+1)<<fileShift + 1000*epoch})
}

// TestAKillWhenAnAttemptTurnedOutToBeNone: the result of before the kill is no newer one.
func TestAKillWhenAnAttemptTurnedOutToBeNone(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.LiveInterval = 10 * time.Second
		r.start()
		r.feedBeside(0, 0)
		pass(30 * time.Second)
		r.feedBeside(1, 0)
		pass(30 * time.Second)
		require.Contains(t, r.files("a")["result.json"], `"attempt": 2`)
		r.feedBeside(0, 1)
		r.kill()
		r.start()
		pass(time.Hour)
		got := r.files("a")["result.json"]
		assert.Contains(t, got, `"completed": 2`)
		assert.NotContains(t, got, `"attempt": 2`)
		r.stop()
	})
}

// TestAResultGoesOnWhenAnAttemptTurnsOutToBeNone: a result with fewer attempts takes the place of one with more.
func TestAResultGoesOnWhenAnAttemptTurnsOutToBeNone(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.LiveInterval = 10 * time.Second
		r.start()
		for n := range int64(4) {
			for file := range int64(2) {
				r.feedBeside(file, n)
				pass(30 * time.Second)
			}
		}
		got := r.files("a")["result.json"]
		assert.Contains(t, got, `"completed": 4`)
		r.stop()
	})
}
