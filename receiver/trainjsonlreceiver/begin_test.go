package trainjsonlreceiver

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
)

// heardAndLost has the pipeline take the first calls and lose the answer.
func (k *sink) heardAndLost(calls int) {
	k.set(func(_ context.Context, call int, ld plog.Logs) error {
		if call >= calls {
			return nil
		}
		k.mu.Lock()
		k.all = append(k.all, records(ld)...)
		k.mu.Unlock()
		return errBusy
	})
}

// offered has the pipeline take lines of a file and lose the answer, and the turn end, as so many wait.
func (r *rig) offered(text string) *tailer {
	r.t.Helper()
	ctx := context.Background()
	r.cfg.TornAfter = time.Nanosecond
	r.write("a/train.jsonl", text)
	r.sink.heardAndLost(1)
	tl := r.open()
	tl.stalled.Store(maxStalled)
	tl.step(ctx)
	if text == half {
		tl.step(ctx)
	}
	require.Zero(r.t, r.offset(tl, "a/train.jsonl"))
	return tl
}

// TestLinesKeepTheirRunThoughTheirTurnEnds: so many files wait that the turn of one that is refused ends, and its file is in
// another run's folder when it is read again, also by a collector that was started anew.
func TestLinesKeepTheirRunThoughTheirTurnEnds(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, c := range map[string]struct {
		text string
		then func(r *rig, tl *tailer) *tailer
	}{
		"goes on":    {rows(0, 3), func(_ *rig, tl *tailer) *tailer { return tl }},
		"restarted":  {rows(0, 3), (*rig).reopen},
		"torn":       {half, func(_ *rig, tl *tailer) *tailer { return tl }},
		"torn, then": {half, (*rig).reopen},
		"NUL bytes":  {strings.Repeat("\x00", minHole) + rows(0, 3), (*rig).reopen},
		"killed": {rows(0, 3), func(r *rig, tl *tailer) *tailer {
			require.NoError(t, tl.save(ctx))
			tl.handles.closeAll()
			r.host.Crash()
			return r.open()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			tl := r.offered(c.text)
			require.NotEmpty(t, r.sink.got())
			tl = c.then(r, tl)
			r.rename("a/train.jsonl", "b/train.jsonl")
			tl.step(ctx)
			r.append("b/train.jsonl", "}}\n"+rows(8, 1))
			tl.step(ctx)
			tl.step(ctx)
			require.NoError(t, tl.close(ctx))
			uids := map[string]string{}
			for _, g := range r.sink.got() {
				assert.Equal(t, "a", g.run, g.text)
				assert.Equal(t, g.uid, cmp.Or(uids[g.text+g.reason], g.uid), g.text)
				uids[g.text+g.reason] = g.uid
			}
			assert.Contains(t, uids, "8")
		})
	}
}

// TestAnotherFileIsNoneThatWasOffered: what gets the inode, or the place, of a file that was offered and not accepted is of its own run,
// whether the file system keeps birth times or not.
func TestAnotherFileIsNoneThatWasOffered(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, c := range map[string]struct {
		born   int64 // of the other file
		before string
		after  string
		reason string
		lost   int
	}{
		"longer":                      {0, rows(0, 3), rows(10, 9), rewriteChanged, 0},
		"shorter":                     {0, rows(0, 3), rows(10, 1), rewriteShorter, len(rows(0, 3))},
		"the same, born later":        {2, rows(0, 3), rows(0, 3), rewriteReplaced, 0},
		"a torn line is written anew": {0, half, rows(10, 9), "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			files := &bornFiles{born: min(c.born, 1)}
			r.files = files
			tl := r.offered(c.before)
			tl.handles.closeAll()
			before := len(r.sink.got())
			r.remove("a/train.jsonl")
			r.write("b/train.jsonl", c.after)
			files.born = c.born
			tl.step(ctx)
			tl.step(ctx)
			require.NoError(t, tl.close(ctx))
			for _, g := range r.sink.got()[before:] {
				assert.Equal(t, "b", g.run, g.text)
			}
			assert.Len(t, r.sink.got()[before:], strings.Count(c.after, "\n"))
			if c.reason == "" {
				assert.NotContains(t, strings.Join(r.lines(), "\n"), "rewrites")
			} else {
				r.telemetry(`otelcol_train_jsonl_rewrites{reason="` + c.reason + `",receiver="train_jsonl"} 1`)
			}
			if c.lost > 0 {
				r.telemetry(lost(c.lost))
			}
		})
	}
}
