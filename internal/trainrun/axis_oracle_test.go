package trainrun

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// toldStep is a record of a drawn run: a validation, or a step of the training when it has no value.
type toldStep struct {
	attempt, epoch, step int64
	valued               bool
	v                    float64
}

// drawValidations draws a run of several attempts with none, one or several validations in each epoch: its trainer counts steps on
// through the run, or in each epoch anew.
func drawValidations(t *rapid.T) []toldStep {
	length := rapid.Int64Range(2, 6).Draw(t, "length") // steps of an epoch
	anew := rapid.Bool().Draw(t, "anew")
	quiet := rapid.Bool().Draw(t, "quiet") // no steps of the training
	value := rapid.SampledFrom([]float64{0, 0.25, 0.5, 1, 2, math.NaN(), math.Inf(-1)})
	var out []toldStep
	reached := int64(0)
	for a := range rapid.Int64Range(1, 4).Draw(t, "attempts") {
		from := rapid.Int64Range(0, reached).Draw(t, "from")
		if rapid.Bool().Draw(t, "whole") {
			from -= from % length
		}
		n := rapid.Int64Range(1, 12).Draw(t, "steps")
		for at := from; at < from+n; at++ {
			r := toldStep{attempt: a + 1, epoch: at / length, step: at + 1}
			if anew {
				r.step = at%length + 1
			}
			if !quiet {
				out = append(out, r)
			}
			for range rapid.SampledFrom([]int{0, 0, 1, 1, 2}).Draw(t, "validations") {
				r.valued, r.v = true, value.Draw(t, "value")
				out = append(out, r)
			}
		}
		reached = max(reached, from+n)
	}
	return out
}

func (r *toldStep) entry(n int) Entry {
	e := stepEntry(int64(n), r.attempt, 0)
	e.Epoch, e.Step = Int{r.epoch, true}, Int{r.step, true}
	if r.valued {
		e.Event, e.Values = EventPhaseEnd, []Value{{"val/loss", r.v}}
	}
	return e
}

// oracle finds the curve and its best point by comparing every two records.
func oracle(list []toldStep) (axis Axis, points, best string) {
	gone := func(r *toldStep, place func(*toldStep) int64) bool { // a newer attempt began there or before
		return slices.ContainsFunc(list, func(o toldStep) bool { return o.attempt > r.attempt && place(&o) <= place(r) })
	}
	epoch, step := func(r *toldStep) int64 { return r.epoch }, func(r *toldStep) int64 { return r.step }
	several, back := false, false
	for _, a := range list {
		for _, b := range list {
			if !a.valued || !b.valued {
				continue
			}
			same := a.attempt == b.attempt
			several = several || same && a.epoch == b.epoch && a.step != b.step && !gone(&a, step) && !gone(&b, step)
			back = back || a.epoch < b.epoch && a.step > b.step && (same || !gone(&a, epoch) && !gone(&b, epoch))
		}
	}
	place := epoch
	if several && !back {
		axis, place = AxisStep, step
	}
	values := map[int64]toldStep{}
	for _, r := range list {
		if old, ok := values[place(&r)]; r.valued && !gone(&r, place) && (!ok || r.attempt >= old.attempt) {
			values[place(&r)] = r
		}
	}
	var text []string
	least := math.Inf(1)
	for _, x := range slices.Sorted(maps.Keys(values)) {
		v := values[x].v
		text = append(text, fmt.Sprintf("%d:%v", x, v))
		if finite(v) && v < least {
			least, best = v, fmt.Sprintf("%d:%v", x, v)
		}
	}
	return axis, strings.Join(text, " "), best
}

func TestTheCurveOfValidationsIsThatOfAnOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := drawValidations(t)
		if len(list) == 0 {
			return
		}
		entries := make([]Entry, len(list))
		for i := range list {
			entries[i] = list[i].entry(i)
		}
		axis, points, best := oracle(list)
		for _, f := range []*Fold{foldOf(entries), disturb(t, entries, defaultLimits())} {
			st := f.State()
			if points == "" {
				require.Empty(t, st.Series)
				continue
			}
			require.Len(t, st.Series, 1)
			require.Equal(t, axis, st.Series[0].Axis)
			require.Equal(t, points, curve(&st.Series[0]))
			if best == "" {
				require.Nil(t, st.Best)
				continue
			}
			require.NotNil(t, st.Best)
			require.Equal(t, best, fmt.Sprintf("%d:%v", st.Best.X, st.Best.Value))
		}
	})
}

// Of a loop's own counter of batches each attempt may know one epoch.
func TestStepsThatBeginAnewInEachEpochOfAnAttempt(t *testing.T) {
	t.Parallel()
	st := stateOf(t, validated(1, "", 0, 50, "9"), validated(2, "", 0, 100, "7"), validated(3, secondAttempt, 1, 50, "3"), validated(4, secondAttempt, 1, 100, "4"))
	assert.Equal(t, "0:7 1:4", curve(seriesOf(st, "", "val/loss", AxisEpoch)))
	assert.Equal(t, []Note{{NoteUnplaced, "val/loss"}}, st.Notes)
}
