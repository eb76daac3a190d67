package trainrun

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// batchRow is a row of a loop that counts the batches of an epoch.
func batchRow(e, s int, loss string) string {
	return line("step.end", -1, "", fmt.Sprintf(`"epoch": %d, "step": %d, "measurements": {"train/loss": %s}`, e, s, loss))
}

// TestBatchesAreNoSteps: a number of the batch in its epoch is no place in the run; the epoch and the batch are one.
func TestBatchesAreNoSteps(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lines []string
		axis  Axis
		curve string
		notes []Note
	}{
		"a last epoch with fewer rows": {
			[]string{batchRow(0, 0, "9"), batchRow(0, 10, "8"), batchRow(0, 20, "1"), batchRow(1, 0, "7"), batchRow(1, 10, "6")},
			AxisOrder, "0:9 1:8 2:1 3:7 4:6", []Note{{NoteSteps, ""}},
		},
		"one row an epoch": {[]string{batchRow(0, 0, "9"), batchRow(1, 0, "3"), batchRow(2, 0, "5")}, AxisOrder, "0:9 1:3 2:5", []Note{{NoteSteps, ""}}},
		"told again": {
			[]string{batchRow(0, 0, "9"), batchRow(0, 10, "8"), batchRow(1, 0, "7"), batchRow(1, 0, "6"), batchRow(1, 10, "5")},
			AxisOrder, "0:9 1:8 2:6 3:5", []Note{{NoteSteps, ""}},
		},
		"steps": {[]string{batchRow(0, 0, "9"), batchRow(0, 10, "8"), batchRow(1, 20, "7")}, AxisStep, "0:9 10:8 20:7", nil},
		"the last step of an epoch, told in the next one too": {
			[]string{batchRow(0, 5, "9"), batchRow(0, 10, "8"), batchRow(1, 10, "7"), batchRow(1, 15, "6")}, AxisStep, "5:9 10:7 15:6", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := stateOf(t, tc.lines...)
			require.Len(t, st.Series, 1)
			assert.Equal(t, tc.axis, st.Series[0].Axis)
			assert.Equal(t, tc.curve, curve(&st.Series[0]))
			assert.Equal(t, tc.notes, st.Notes)
		})
	}
}

// batchesOracle gives the values by epoch and batch, without those of epochs from which on a newer attempt trained.
func batchesOracle(list []toldStep) (points []string, last, least, most float64) {
	var left []toldStep
	for _, r := range list {
		at := slices.IndexFunc(left, func(o toldStep) bool { return o.epoch == r.epoch && o.step == r.step })
		switch {
		case slices.ContainsFunc(list, func(o toldStep) bool { return o.attempt > r.attempt && o.epoch <= r.epoch }):
		case at >= 0:
			left[at] = r
		default:
			left = append(left, r)
		}
	}
	slices.SortFunc(left, func(a, b toldStep) int { return cmp.Or(cmp.Compare(a.epoch, b.epoch), cmp.Compare(a.step, b.step)) })
	least, most = math.Inf(1), math.Inf(-1)
	for i, r := range left {
		points = append(points, fmt.Sprintf("%d:%v", i, r.v))
		last, least, most = r.v, min(least, r.v), max(most, r.v)
	}
	return points, last, least, most
}

func drawBatches(t *rapid.T) []toldStep {
	var out []toldStep
	reached := int64(0)
	for a := range rapid.Int64Range(1, 3).Draw(t, "attempts") {
		from := rapid.Int64Range(0, reached).Draw(t, "from")
		reached = from + rapid.Int64Range(2, 4).Draw(t, "epochs")
		for e := from; e < reached; e++ {
			for s := range rapid.Int64Range(1, 12).Draw(t, "batches") {
				for range rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "times") {
					out = append(out, toldStep{a + 1, e, s, true, float64(rapid.IntRange(0, 9).Draw(t, "v"))})
				}
			}
		}
	}
	return out
}

func TestTheCurveOfBatchesIsThatOfAnOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := drawBatches(t)
		entries := make([]Entry, len(list))
		for i := range list {
			r := &list[i]
			entries[i] = stepEntry(int64(i), r.attempt, 0, Value{"val/loss", r.v})
			entries[i].Epoch, entries[i].Step = Int{r.epoch, true}, Int{r.step, true}
		}
		points, last, least, most := batchesOracle(list)
		lim := defaultLimits()
		for _, f := range []*Fold{foldOf(entries), disturb(t, entries, lim)} {
			s := onlySeries(t, f.State())
			require.Equal(t, strings.Join(points, " "), curve(s))
			require.Equal(t, []float64{last, least, most}, []float64{s.Last.V, s.Min.V, s.Max.V})
			require.InDelta(t, least, f.State().Best.Value, 0)
		}
		lim.points = rapid.IntRange(4, 40).Draw(t, "points")
		places := map[toldStep]bool{}
		for _, r := range list {
			r.v = 0
			places[r] = true
		}
		for name, f := range map[string]*Fold{"in order": readInOrder(t, entries, lim), "in any order": disturb(t, entries, lim)} {
			require.InDelta(t, last, onlySeries(t, f.State()).Last.V, 0, name)
			if name == "in order" || len(places) == len(list) { // a value that was told again may come when the later one was thinned out
				require.LessOrEqual(t, least, onlySeries(t, f.State()).Min.V, name)
				require.GreaterOrEqual(t, most, onlySeries(t, f.State()).Max.V, name)
			}
		}
	})
}

func onlySeries(t require.TestingT, st *State) *Series {
	require.Len(t, st.Series, 1)
	require.Equal(t, AxisOrder, st.Series[0].Axis)
	return &st.Series[0]
}

// TestABestCheckpointAmongBatches is found by the epoch and the batch of the best point, by its epoch, or as the first thing behind it.
func TestABestCheckpointAmongBatches(t *testing.T) {
	t.Parallel()
	save := func(path, more string) string {
		return line("checkpoint.save", -1, "", fmt.Sprintf(`"path": %q, "kind": "best"%s`, path, more))
	}
	begin := line("run.start", -1, "", `"objective": {"metric": "train/loss", "mode": "min"}`)
	again := line("run.start", -1, "", `"resumed_from": {"epoch": 1}`)
	for name, tc := range map[string]struct {
		lines []string
		want  string
	}{
		"behind the best": {[]string{batchRow(0, 0, "9"), save("a", ""), batchRow(0, 10, "3"), save("b", ""), batchRow(1, 0, "7"), batchRow(1, 10, "6")}, "b"},
		"of another":      {[]string{batchRow(0, 0, "9"), save("a", ""), batchRow(0, 10, "3"), batchRow(1, 0, "7"), save("b", ""), batchRow(1, 10, "6")}, ""},
		"by its place": {[]string{
			batchRow(0, 0, "9"), batchRow(0, 10, "8"), batchRow(1, 0, "7"), batchRow(1, 10, "1"), save("a", `, "epoch": 0, "step": 10`), save("b", `, "epoch": 1, "step": 10`), save("c", `, "epoch": 2, "step": 10`),
		}, "b"},
		"by its epoch":       {[]string{batchRow(0, 0, "9"), batchRow(0, 10, "8"), save("a", `, "epoch": 0`), batchRow(1, 0, "1"), batchRow(1, 10, "7"), save("b", `, "epoch": 1`)}, "b"},
		"by the batch alone": {[]string{batchRow(0, 0, "9"), batchRow(0, 10, "8"), save("a", `, "step": 10`), batchRow(1, 0, "7"), batchRow(1, 10, "1")}, ""},
		"given up": {[]string{
			batchRow(0, 0, "9"), batchRow(0, 10, "8"), batchRow(1, 0, "1"), save("a", `, "epoch": 1, "step": 0`), again, batchRow(1, 0, "1"), batchRow(1, 10, "2"),
		}, ""},
	} {
		st := stateOf(t, append([]string{begin}, tc.lines...)...)
		require.Equal(t, AxisOrder, st.Best.Axis, name)
		got := ""
		if c := st.Best.Checkpoint; c != nil {
			got = c.Path
		}
		assert.Equal(t, tc.want, got, name)
	}
}

// TestBatchesThatGoOn: a stream that is split, or goes on behind an end, begins no attempt while its epochs go on.
func TestBatchesThatGoOn(t *testing.T) {
	t.Parallel()
	row := func(at float64, e, s int, loss string) string {
		return line("step.end", at, "", fmt.Sprintf(`"epoch": %d, "step": %d, "measurements": {"train/loss": %s}`, e, s, loss))
	}
	first := []string{row(1, 0, 0, "9"), row(2, 0, 10, "8"), row(3, 0, 20, "7"), row(4, 1, 0, "6")}
	for name, tc := range map[string]struct {
		first, second []string
		attempts      int
		curve         string
	}{
		"split in an epoch":       {first, []string{row(5, 1, 10, "5"), row(6, 1, 20, "4")}, 1, "0:9 1:8 2:7 3:6 4:5 5:4"},
		"a file for some epochs":  {first[:3], []string{row(5, 1, 0, "5"), row(6, 1, 10, "4"), row(7, 2, 0, "3")}, 1, "0:9 1:8 2:7 3:5 4:4 5:3"},
		"behind an end":           {append(slices.Clone(first), success(4)), []string{row(5, 2, 0, "5"), row(6, 2, 10, "4")}, 1, "0:9 1:8 2:7 3:6 4:5 5:4"},
		"told again":              {first, []string{row(5, 0, 0, "5"), row(6, 0, 10, "4"), row(7, 1, 0, "3")}, 2, "0:5 1:4 2:3"},
		"from the epoch at hand":  {first, []string{row(5, 1, 0, "5"), row(6, 1, 10, "4"), row(7, 2, 0, "3")}, 2, "0:9 1:8 2:7 3:5 4:4 5:3"},
		"steps of the run, again": {[]string{row(1, 0, 10, "9"), row(2, 1, 20, "8")}, []string{row(3, 0, 10, "7"), row(4, 1, 20, "6")}, 2, "10:7 20:6"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, two := readStream(t, tc.first...), readStream(t, tc.second...)
			for i := range two {
				two[i].ID.File++
			}
			if name == "behind an end" {
				two = readStream(t, slices.Concat(tc.first, tc.second)...)[len(one):]
			}
			st := foldOf(slices.Concat(one, two)).State()
			assert.Len(t, st.Attempts, tc.attempts)
			require.Len(t, st.Series, 1)
			assert.Equal(t, tc.curve, curve(&st.Series[0]))
		})
	}
}
