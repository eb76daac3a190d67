package trainview

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func values(rt *rapid.T) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(0.01, 100), 1, 60).Draw(rt, "values")
}

// verdicts is what must not depend on units: states, trends, places of the best, codes of warnings.
func verdicts(d *Document) string {
	out := fmt.Sprint(d.State, alive(d), codesOf(d), d.Why)
	for _, m := range d.Metrics {
		out += fmt.Sprint(m.Name, m.Trend, *m.BestAt, *m.SinceBest)
	}
	if d.Best != nil {
		out += fmt.Sprint(*d.Best.Epoch)
	}
	return out
}

func TestUnitsAndClocksChangeNoVerdict(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		list := values(rt)
		scaled := slices.Clone(list)
		factor := math.Pow(2, float64(rapid.IntRange(-30, 30).Draw(rt, "factor"))) // exact
		for i := range scaled {
			scaled[i] *= factor
		}
		a, b := newRun(rt).epochs("val/loss", list...), newRun(rt)
		shift := time.Duration(rapid.Int64Range(0, 1e9).Draw(rt, "shift")) * time.Second
		for i, v := range scaled {
			b.line(start.Add(shift+time.Duration(i+1)*time.Minute), "epoch.end", fmt.Sprintf(`"epoch":%d,"measurements":{"val/loss":%s}`, i, spell(v)))
		}
		age := time.Duration(rapid.IntRange(0, 100_000).Draw(rt, "age")) * time.Second
		require.Equal(rt, verdicts(a.after(age)), verdicts(b.after(age)))
	})
}

func TestWhatIsNotFiniteIsNeverTheBest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		list := values(rt)
		plain := newRun(rt).epochs("val/loss", list...).after(time.Second)
		at := rapid.IntRange(0, len(list)).Draw(rt, "at")
		bad := rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(rt, "bad")
		d := newRun(rt).epochs("val/loss", slices.Insert(slices.Clone(list), at, bad)...).after(time.Second)
		require.Equal(rt, plain.Best.Value, d.Best.Value)
		require.Equal(rt, plain.Metrics[0].Points, d.Metrics[0].Points)
		require.Contains(rt, codesOf(d), warnNonFinite)
	})
}

func TestAPointBetterThanTheBestMakesNothingWorse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOfN(rapid.Float64Range(1, 100), 4, 32).Draw(rt, "values")
		if rapid.Bool().Draw(rt, "falling") {
			slices.Sort(list)
			slices.Reverse(list)
			for i := range list {
				list[i] += rapid.Float64Range(0, 20).Draw(rt, "noise")
			}
		}
		before := newRun(rt).epochs("val/loss", list...).after(time.Second)
		if before.Metrics[0].Trend != Improving {
			rt.Skip()
		}
		list = append(list, slices.Min(list)-rapid.Float64Range(0.001, 10).Draw(rt, "gain"))
		after := newRun(rt).epochs("val/loss", list...).after(time.Second)
		require.NotEqual(rt, Worsening, after.Metrics[0].Trend)
	})
}

func TestARowThatComesTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		list := values(rt)
		once, twice := newRun(rt).epochs("val/loss", list...), newRun(rt).epochs("val/loss", list...)
		at := rapid.IntRange(0, len(list)-1).Draw(rt, "at")
		end := twice.end
		twice.line(start.Add(time.Duration(at+1)*time.Minute), "epoch.end", fmt.Sprintf(`"epoch":%d,"measurements":{"val/loss":%s}`, at, spell(list[at])))
		twice.end = end
		a, b := once.after(time.Second), twice.after(time.Second)
		require.Equal(rt, a.Metrics, b.Metrics)
		require.Equal(rt, a.Best, b.Best)
		require.Equal(rt, a.Progress.EpochsCompleted, b.Progress.EpochsCompleted)
	})
}

func TestTheOrderOfAHistoryIsNoMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var l latest[timed]
		var all []int64
		for i, v := range rapid.SliceOf(rapid.Int64Range(1, 50)).Draw(rt, "times") {
			l.add(timed{v, int64(i)}, 7, func(a, b timed) int { return int(a.time - b.time) })
			all = append(all, v)
		}
		slices.Sort(all)
		var got []int64
		for _, v := range l.of(7) {
			got = append(got, v.time)
		}
		require.Equal(rt, append([]int64(nil), all[max(len(all)-7, 0):]...), got)
	})
}

// TestSuspectPointsAreNoBest is what a filter of values that are no number leaves: 0.0, or an average.
func TestSuspectPointsAreNoBest(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	for i, row := range []string{`"train/loss":3,"train/grad_norm":1`, `"train/loss":0,"train/grad_norm":NaN`, `"train/loss":2,"train/grad_norm":1`} {
		r.line(start.Add(time.Duration(i)*time.Second), "step.end", fmt.Sprintf(`"step":%d,"measurements":{%s}`, i, row))
	}
	r.o.Objective = &Objective{Metric: "train/loss", Goal: "min"}
	d := r.after(time.Second)
	assert.EqualValues(t, 2, d.Best.Value)
	assert.EqualValues(t, 2, d.Metrics[0].Points)
	assert.Equal(t, []string{warnNonFinite, warnSuspect}, codesOf(d))
	assert.Equal(t, fromFlag, d.Objective.From)
}
