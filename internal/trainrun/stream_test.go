package trainrun

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const testRun = "run-a"

// readStream decodes lines as the receiver does: each gets the uid of its place in the stream.
func readStream(t testing.TB, lines ...string) []Entry {
	t.Helper()
	d := trainrecord.NewDecoder(trainrecord.DecoderOptions{})
	file := trainrecord.FileID([]byte(lines[0]))
	var entries []Entry
	offset := int64(0)
	for _, line := range lines {
		lr := plog.NewLogRecord()
		got := d.Decode([]byte(line), lr)
		require.NotEqual(t, trainrecord.LineError, got.Kind, "%s: %v", line, got.Err)
		res := pcommon.NewResource()
		d.PutResource(res.Attributes())
		if got.RunID == "" {
			lr.Attributes().PutStr(trainrecord.AttrRunID, testRun)
		}
		uid := trainrecord.UID{RunID: testRun, File: file, Offset: offset, CRC: trainrecord.LineCRC([]byte(line))}
		lr.Attributes().PutStr(trainrecord.AttrLogRecordUID, uid.String())
		offset += int64(len(line)) + 1
		rec, ok := trainrecord.FromLog(res, lr)
		require.True(t, ok, line)
		e, ok := Reduce(rec)
		require.True(t, ok, line)
		entries = append(entries, e)
	}
	return entries
}

// line composes a record: at is seconds after ten o'clock, -1 = no time; head are further top-level keys.
func line(event string, at float64, head, body string) string {
	ts := "0"
	if at >= 0 {
		ts = fmt.Sprintf("%.3f", 1795168800+at)
	}
	if head != "" {
		head = ", " + head
	}
	return fmt.Sprintf(`{"schema": "pathologize.ml.training/1", "ts": %s, "event": %q, "run_id": %q%s, "body": {%s}}`,
		ts, event, testRun, head, body)
}

// second is the event time of line's at.
func second(at float64) int64 { return int64((1795168800+at)*1000) * 1_000_000 }

// epoch is the row of an epoch with a validation loss.
func epoch(at float64, head string, n int, loss string) string {
	return line("epoch.end", at, head, fmt.Sprintf(`"epoch": %d, "measurements": {"val/loss": %s}`, n, loss))
}

func step(at float64, head string, n int, loss string) string {
	return line("step.end", at, head, fmt.Sprintf(`"step": %d, "measurements": {"train/loss": %s}`, n, loss))
}

func foldOf(entries ...[]Entry) *Fold {
	f := New(testRun)
	for _, list := range entries {
		for _, e := range list {
			f.Apply(e)
		}
	}
	return f
}

func stateOf(t testing.TB, lines ...string) *State {
	t.Helper()
	return foldOf(readStream(t, lines...)).State()
}

func seriesOf(st *State, part, name string, axis Axis) *Series {
	for i := range st.Series {
		if s := &st.Series[i]; s.Part == part && s.Name == name && s.Axis == axis {
			return s
		}
	}
	return nil
}

// curve writes a series as x:v pairs.
func curve(s *Series) string {
	if s == nil {
		return "none"
	}
	var out []string
	for _, p := range s.Points {
		out = append(out, fmt.Sprintf("%d:%v", p.X, p.V))
	}
	return strings.Join(out, " ")
}

func ptr(n int64) *int64 { return &n }
