package trainjsonlreceiver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
)

// inTurn gives n lines of runs a, b, c … in turn, each followed by one that is no record.
func inTurn(runs, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"ts":1790000000,"event":"step.end","run_id":"%c","body":{"i":%d,"step":%d}}`+"\nno record\n", 'a'+i%runs, i, i)
	}
	return b.String()
}

// uids gives those of what was delivered, with the number of times.
func (k *sink) uids() map[string]int {
	out := map[string]int{}
	for _, g := range k.got() {
		out[g.uid]++
	}
	return out
}

// TestRunsThatTakeTurnsInAFileAreACallEach, not a call a line.
func TestRunsThatTakeTurnsInAFileAreACallEach(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.write("x/train.jsonl", inTurn(3, 450))
	tl := r.open()
	tl.step(ctx)
	assert.EqualValues(t, len(inTurn(3, 450)), r.offset(tl, "x/train.jsonl"))
	require.NoError(t, tl.close(ctx))
	assert.Equal(t, []string{"a", "b", "c"}, r.sink.runs)
	for _, run := range r.sink.runs {
		var texts []string
		for i := int(run[0] - 'a'); i < 450; i += 3 {
			texts = append(texts, fmt.Sprint(i), "no record")
		}
		assert.Equal(t, texts, r.sink.textsOf(run), "in order, and a line without run belongs to the one before")
	}
}

// TestARunThatIsRefusedHoldsItsFileAndNothingIsLost has runs in turn, of which the pipeline refuses one for a time, and a
// kill. The offset stays before the first line that was not accepted.
func TestARunThatIsRefusedHoldsItsFileAndNothingIsLost(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, refused := range []string{"a", "b", "c"} {
		r := newRig(t)
		r.write("x/train.jsonl", inTurn(3, 9))
		tl := r.open()
		r.sink.set(func(_ context.Context, _ int, ld plog.Logs) error {
			if records(ld)[0].run == refused {
				return errBusy
			}
			return nil
		})
		tl.stepUntilRefused()
		before := int64(len(inTurn(3, int(refused[0]-'a'))))
		assert.Equal(t, before, r.offset(tl, "x/train.jsonl"), refused)
		require.NoError(t, tl.save(ctx))
		tl.handles.closeAll()
		r.host.Crash()
		r.sink.set(nil)
		tl = r.open()
		tl.step(ctx)
		assert.EqualValues(t, len(inTurn(3, 9)), r.offset(tl, "x/train.jsonl"))
		require.NoError(t, tl.close(ctx))
		all := r.sink.uids()
		assert.Len(t, all, 18, "each line has one uid, whenever it is read")
		assert.LessOrEqual(t, slices.Max(slices.Collect(maps.Values(all))), 2)
	}
}

// TestARecordRefusedForGoodIsFoundAmongRunsThatTakeTurns: each run is halved by itself.
func TestARecordRefusedForGoodIsFoundAmongRunsThatTakeTurns(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.write("x/train.jsonl", inTurn(3, 90))
	tl := r.open()
	var offsets []int64
	r.sink.set(func(_ context.Context, _ int, ld plog.Logs) error {
		offsets = append(offsets, r.offset(tl, "x/train.jsonl"))
		if slices.ContainsFunc(records(ld), func(g got) bool { return g.text == "43" || g.text == "44" }) {
			return consumererror.NewPermanent(errors.New("no"))
		}
		return nil
	})
	tl.step(ctx)
	assert.True(t, slices.IsSorted(offsets), "an offset never goes back: %v", offsets)
	assert.EqualValues(t, len(inTurn(3, 90)), r.offset(tl, "x/train.jsonl"))
	require.NoError(t, tl.close(ctx))
	assert.Len(t, r.sink.uids(), 2*90-2)
	r.telemetry(`otelcol_train_jsonl_refused_records{receiver="train_jsonl"} 2`)
}

// TestTheEndOfOneRunAmongOthersEndsNoStream: what ends a stream is what comes last in the file, not in the calls.
func TestTheEndOfOneRunAmongOthersEndsNoStream(t *testing.T) {
	t.Parallel()
	end := func(run string) string {
		return `{"ts":1790000000,"run_id":"` + run + `","event":"run.end","body":{"outcome":"success"}}` + "\n"
	}
	for text, want := range map[string]string{
		inTurn(2, 4) + end("b") + inTurn(1, 1): "growing",
		inTurn(2, 4) + end("b") + end("a"):     "ended",
		inTurn(2, 4) + end("a"):                "ended",
		end("a") + end("b") + inTurn(2, 1):     "growing",
	} {
		r := newRig(t)
		synctest.Test(t, func(t *testing.T) {
			r.write("x/train.jsonl", text)
			r.start()
			time.Sleep(5 * time.Second)
			r.telemetry(streams(want, "1"))
			r.stop()
		})
	}
}
