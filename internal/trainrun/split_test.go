package trainrun

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// trainer writes trainings without attempt numbers to one file, in the order in which a receiver reads it.
type trainer struct {
	out          []Entry
	text, offset int64
	clock        int64
	timed        bool
}

func (w *trainer) write(event Event, change func(e *Entry)) {
	w.offset += 100
	w.clock++
	e := Entry{
		RunID: testRun, Event: event, Attempt: 1, Offset: -1, Progress: noProgress, Path: 1, Text: w.text, Replaces: w.text,
		ID: ID{Kind: IDUID, File: 1, Place: w.offset, CRC: uint32(w.clock)},
	}
	if w.timed {
		e.Time = 1000 + w.clock
	}
	change(&e)
	w.out = append(w.out, e)
}

func (w *trainer) start() { w.write(EventRunStart, func(e *Entry) { e.Detail = &Detail{} }) }

func (w *trainer) end() {
	w.write(EventRunEnd, func(e *Entry) { e.Detail = &Detail{Outcome: "success"} })
}

// anew begins another text of the file.
func (w *trainer) anew() { w.text, w.offset = w.text+1, 0 }

// train writes steps, and an epoch behind each fifth of them.
func (w *trainer) train(t *rapid.T, from, n int64) {
	value := rapid.SampledFrom([]float64{-1, 0, 1, 2, 3, 5, 8, 13})
	for at := from; at < from+n; at++ {
		v := value.Draw(t, "v")
		w.write(EventStepEnd, func(e *Entry) {
			e.Step, e.Values = Int{at, true}, []Value{{"train/loss", v}}
			if at%3 == 1 {
				e.Values = append(e.Values, Value{"z", float64(at)})
			}
		})
		if at%5 == 4 {
			v := value.Draw(t, "loss")
			w.write(EventEpochEnd, func(e *Entry) { e.Epoch, e.Values = Int{at / 5, true}, []Value{{"val/loss", v}} })
		}
	}
}

// drawTrainings draws trainings of which each further one begins with a run.start, goes back after an end, or is a text that takes the
// place of the one before. Each trains again from the beginning, or goes on where the one before came to.
func drawTrainings(t *rapid.T) []Entry {
	w := &trainer{timed: rapid.Bool().Draw(t, "timed")}
	if rapid.Bool().Draw(t, "started") {
		w.start()
	}
	come := int64(0)
	for i := range rapid.IntRange(1, 4).Draw(t, "trainings") {
		from := int64(0)
		if i > 0 {
			switch rapid.SampledFrom([]string{"start", "back", "anew"}).Draw(t, "begins") {
			case "start":
				w.start()
				from = rapid.SampledFrom([]int64{0, come}).Draw(t, "from")
			case "back":
				w.end()
			default:
				w.anew()
				if rapid.Bool().Draw(t, "again") {
					w.start()
				}
			}
		}
		n := rapid.Int64Range(2, 80).Draw(t, "n") // of a single step that is told again nothing says that it is another training
		w.train(t, from, n)
		come = from + n
	}
	if rapid.Bool().Draw(t, "ended") {
		w.end()
	}
	return w.out
}

// readInOrder folds records in their order, some of them twice, with looks and restarts in between.
func readInOrder(t *rapid.T, list []Entry, lim limits) *Fold {
	f := newFold(testRun, lim)
	for len(list) > 0 {
		n := rapid.IntRange(1, len(list)).Draw(t, "batch")
		for _, e := range list[:n] {
			f.Apply(e)
			if e.ID.CRC%7 == 0 {
				f.Apply(e)
			}
		}
		list = list[n:]
		f.States()
		if rapid.Bool().Draw(t, "restart") {
			g, err := restore(f.Snapshot(), lim)
			require.NoError(t, err)
			f = g
		}
	}
	return f
}

// Each training of one number has its extremes, however it begins.
func TestThinningKeepsTheExtremesOfEachTraining(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lim := defaultLimits()
		lim.points = rapid.IntRange(4, 40).Draw(t, "points")
		list := drawTrainings(t)
		whole, thin, other := foldOf(list).State(), readInOrder(t, list, lim), readInOrder(t, list, lim)
		requireSameFacts(t, whole, thin.State())
		require.Equal(t, dump(thin.States()), dump(other.States()), "batches and restarts change nothing")
		require.Equal(t, thin.Snapshot(), other.Snapshot())
	})
}

func requireSameFacts(t require.TestingT, want, got *State) {
	require.Equal(t, dump(want.Attempts), dump(got.Attempts))
	require.Equal(t, dump([]any{want.Best, want.Steps, want.Epochs, want.Outcome}), dump([]any{got.Best, got.Steps, got.Epochs, got.Outcome}))
	require.Equal(t, len(want.Series), len(got.Series))
	for i := range want.Series {
		w, g := &want.Series[i], &got.Series[i]
		require.Equal(t, dump([]any{w.Name, w.Points[0], w.Last, w.Min, w.Max}), dump([]any{g.Name, g.Points[0], g.Last, g.Min, g.Max}))
	}
}
