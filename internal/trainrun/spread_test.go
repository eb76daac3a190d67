package trainrun

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// widestGap is that between two neighbours of a curve.
func widestGap(s *Series) (gap int64) {
	for i := 1; i < len(s.Points); i++ {
		gap = max(gap, s.Points[i].X-s.Points[i-1].X)
	}
	return gap
}

// TestOneOfNeighboursIsOfALevel: numbers in a row are thinned as evenly as by their powers of two.
func TestOneOfNeighboursIsOfALevel(t *testing.T) {
	t.Parallel()
	for _, series := range []uint64{0, 1, 1 << 40, 1<<64 - 1} {
		for level := range 12 {
			for from := uint64(0); from < 10; from++ {
				n := 0
				for x := from << level; x < (from+1)<<level; x++ {
					if spread(x, series) >= level {
						n++
					}
				}
				require.Equal(t, 1, n, "level %d from %d", level, from)
			}
		}
	}
}

// TestACurveKeepsItsShare: whatever the steps are, what thinning leaves is about half of what may be kept or more, all along the curve.
func TestACurveKeepsItsShare(t *testing.T) {
	t.Parallel()
	const n, points, slices = 20_000, 2000, 20
	step := func(epoch, step int64) func(e *Entry) {
		return func(e *Entry) { e.Epoch, e.Step = Int{epoch, epoch >= 0}, Int{step, true} }
	}
	for name, place := range map[string]func(i int64) func(e *Entry){
		"each step":              func(i int64) func(e *Entry) { return step(-1, i) },
		"every 1000th":           func(i int64) func(e *Entry) { return step(-1, 1000*i) },
		"odd":                    func(i int64) func(e *Entry) { return step(-1, 2*i+1) },
		"the 7th of each 64":     func(i int64) func(e *Entry) { return step(-1, 64*i+7) },
		"the last of each 4096":  func(i int64) func(e *Entry) { return step(-1, 4096*i+4095) },
		"of epochs":              func(i int64) func(e *Entry) { return step(i/100, 50*i+49) },
		"batches":                func(i int64) func(e *Entry) { return step(i/100, i%100) },
		"every 50th batch":       func(i int64) func(e *Entry) { return step(i/100, i%100*50+49) },
		"the first of an epoch":  func(i int64) func(e *Entry) { return step(i, 0) },
		"the last of an epoch":   func(i int64) func(e *Entry) { return step(i, 99) },
		"the number of an epoch": func(i int64) func(e *Entry) { return step(i, i) },
		"epochs": func(i int64) func(e *Entry) {
			return func(e *Entry) { e.Event, e.Epoch, e.Step = EventEpochEnd, Int{i, true}, Int{} }
		},
		"every tenth epoch": func(i int64) func(e *Entry) {
			return func(e *Entry) { e.Event, e.Epoch, e.Step = EventEpochEnd, Int{10*i + 9, true}, Int{} }
		},
		"validations": func(i int64) func(e *Entry) {
			return func(e *Entry) { e.Event, e.Epoch, e.Step = EventPhaseEnd, Int{i / 2, true}, Int{500*i + 499, true} }
		},
		"validations of no step": func(i int64) func(e *Entry) {
			return func(e *Entry) { e.Event, e.Epoch, e.Step = EventPhaseEnd, Int{i, true}, Int{0, true} }
		},
		"equal lines": func(int64) func(e *Entry) {
			return func(e *Entry) { e.Step, e.ID.CRC = Int{}, 7 }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lim := defaultLimits()
			lim.points = points
			f := newFold(testRun, lim)
			for i := range int64(n) {
				e := stepEntry(i, 1, 0, Value{"train/loss", float64(i)})
				place(i)(&e)
				f.Apply(e)
			}
			st := f.State()
			require.Len(t, st.Series, 1)
			s := &st.Series[0]
			assert.True(t, s.Thinned)
			assert.InDelta(t, 3*points/4, len(s.Points), points/4+10)
			var shares [slices]int
			for _, p := range s.Points {
				shares[int(p.V)*slices/n]++
			}
			mean := len(s.Points) / slices
			for i, share := range shares {
				assert.InDelta(t, mean, share, float64(mean)/2, fmt.Sprint("slice ", i, " of ", shares))
			}
		})
	}
}

// TestThinnedBatchesStayBatches: what proves that steps begin anew stays, however few of them do.
func TestThinnedBatchesStayBatches(t *testing.T) {
	t.Parallel()
	lim := defaultLimits()
	lim.points = 4
	for first := range int64(20) {
		f := newFold(testRun, lim)
		for i := range int64(9) { // one of the first epoch
			e := stepEntry(i, 1, 0, Value{"val/loss", 1})
			e.Epoch, e.Step = Int{min(i, 1), true}, Int{first + max(i-1, 0), true}
			f.Apply(e)
		}
		assert.Equal(t, AxisOrder, f.State().Series[0].Axis, first)
	}
}
