package trainrun

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestEntriesSurviveTheJournal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var list []Entry
		for i := range rapid.IntRange(0, 10).Draw(t, "n") {
			e := drawEntry(t, i, false)
			e.TraceID[3] = byte(i)
			e.normalize()
			list = append(list, e)
		}
		back, err := DecodeEntries(AppendEntries(nil, list))
		require.NoError(t, err)
		require.Equal(t, dump(list), dump(back))
	})
}

func TestEverythingOfAnEntryIsWritten(t *testing.T) {
	t.Parallel()
	x, dirty := math.Inf(-1), true
	e := Entry{
		RunID: "r", Event: EventRunStart, ID: ID{Kind: IDUID, RunID: "u", File: 1, CRC: 2, Index: 3, Place: 4}, Attempt: 5, Rank: 6, Seq: 7,
		Offset: 4, Text: 25, Replaces: 24, Path: 23, Time: 9, Part: "p", Framework: "f", Where: Where{"h", "s", "n", "j", "p", "c", 10}, TraceID: [16]byte{11},
		Sampled: true, Rejected: true, Epoch: Int{12, true}, Step: Int{13, true}, Progress: 14.5,
		PlannedEpochs: Int{15, true}, PlannedSteps: Int{16, true}, Values: []Value{{"v", math.NaN()}, {"w", x}},
		Durations: []Duration{{"train", 17}}, Masked: 18, Cut: 19,
		Detail: &Detail{
			Params:    map[string]any{"a": []any{nil, true, false, int64(math.MinInt64), 0.5, "t"}, "m": map[string]any{}},
			Objective: &Objective{Metric: "m", Mode: "min"}, ResumedEpoch: Int{20, true},
			Git: &Git{"c", "b", &dirty}, Command: "cmd", Versions: []Pair{{"a", "b"}}, TaskFamily: "tf",
			Outcome: "success", StopReason: "sr", EpochsCompleted: Int{22, true}, Artifacts: []Artifact{{"r", "p", "s", ptr(23)}},
			ErrorType: "et", Message: "m", Stack: "st",
			Checkpoint: &Checkpoint{Path: "p", Kind: "best", SHA256: "s", Size: ptr(24), Metric: "m", Value: &x},
			Best:       &Objective{Metric: "b", Mode: "max"},
		},
	}
	back, err := DecodeEntries(AppendEntries(nil, []Entry{e}))
	require.NoError(t, err)
	assert.Equal(t, dump([]Entry{e}), dump(back))
}

func TestTheJournalOfStepsIsSmall(t *testing.T) {
	t.Parallel()
	list := make([]Entry, 1000)
	for i := range list {
		list[i] = stepEntry(int64(i), 1, 0, Value{"train/loss", 1 / float64(i+3)})
		list[i].Time = 1795168800_000_000_000 + int64(i)*250_000_000
		list[i].Framework = "pytorch"
		list[i].TraceID = [16]byte{1}
		list[i].Where = Where{Host: "vector-gpu-01", Namespace: "training", Pod: "gpu-job-7f3a9c-x8k2p", Container: "trainer", PID: 31}
	}
	assert.Less(t, len(AppendEntries(nil, list)), 50*len(list))
}

func TestBytesThatAreNoJournal(t *testing.T) {
	t.Parallel()
	e := stepEntry(3, 1, 0, Value{"train/loss", 1})
	good := AppendEntries(nil, []Entry{e, e})
	for n := range good {
		_, err := DecodeEntries(good[:n])
		require.Error(t, err, "%d bytes", n)
	}
	_, err := DecodeEntries(append(good, 0))
	require.ErrorIs(t, err, errWire)
	for _, version := range []byte{1, 2, 3, 4, 6, 7, 8, 9, 10, 12, 200} { // whatever the rest says
		_, err = DecodeEntries(append([]byte{version}, good[1:]...))
		require.ErrorIs(t, err, ErrVersion)
		require.ErrorContains(t, err, fmt.Sprintf("version %d: ", version))
		_, err = Restore(append([]byte{version}, New(testRun).Snapshot()[1:]...))
		require.ErrorIs(t, err, ErrVersion)
		require.ErrorContains(t, err, fmt.Sprintf("version %d: ", version))
	}

	f := New(testRun)
	f.Apply(e)
	snapshot := f.Snapshot()
	for n := range snapshot {
		_, err := Restore(snapshot[:n])
		require.Error(t, err, "%d bytes", n)
	}
	_, err = Restore(append(snapshot, 0))
	require.ErrorContains(t, err, "after the end")
}

// Every byte of a snapshot or a journal may be wrong: the answer is an error, or a fold that works.
func TestDamagedBytesNeverPanic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := newFold(testRun, tightLimits())
		list := drawSet(t, false)
		for _, e := range list {
			f.Apply(e)
		}
		snapshot, journal := f.Snapshot(), AppendEntries(nil, list)
		for range 40 {
			for _, b := range [][]byte{snapshot, journal} {
				i := rapid.IntRange(1, len(b)-1).Draw(t, "at")
				was := b[i]
				b[i] = rapid.Byte().Draw(t, "byte")
				if g, err := Restore(b); err == nil {
					g.State()
					for _, e := range list {
						g.Apply(e)
					}
					g.States()
					g.Snapshot()
				}
				if damaged, err := DecodeEntries(b); err == nil {
					g := New(testRun)
					for _, e := range damaged {
						g.Apply(e)
					}
					g.State()
				}
				b[i] = was
			}
		}
	})
}

// A short text that claims long lists takes memory in proportion to its length.
func TestClaimedLengthsAllocateNothing(t *testing.T) { // not parallel: it looks at what the process allocates
	w := newWriter(nil)
	for range 30 {
		w.byte(nodeList)
		w.uint(90_000)
	}
	b := append(w.b, make([]byte, 100_000)...)
	b[len(w.b)] = 99
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := reader{b: b}
	r.tree(0)
	runtime.ReadMemStats(&after)
	require.Error(t, r.err)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20))
	for _, version := range []byte{versionEntries, versionSnapshot} {
		_, err := DecodeEntries([]byte{version, 0xff, 0xff, 0xff, 0xff, 0x0f})
		require.Error(t, err)
		_, err = Restore([]byte{version, 0, 0xff, 0xff, 0xff, 0xff, 0x0f})
		require.Error(t, err)
	}
}

func FuzzDecodeEntries(f *testing.F) {
	e := stepEntry(3, 1, 0, Value{"train/loss", 1})
	start, _ := Reduce(record("run.start", nil, map[string]any{"params": map[string]any{"a": []any{1, "x", nil}}}))
	f.Add(AppendEntries(nil, []Entry{e, start, e}))
	f.Fuzz(func(t *testing.T, b []byte) {
		fold := New(testRun)
		list, err := DecodeEntries(b)
		if err == nil {
			again, err := DecodeEntries(AppendEntries(nil, list))
			require.NoError(t, err)
			require.Equal(t, dump(list), dump(again))
		}
		for _, e := range list {
			fold.Apply(e)
		}
		fold.State()
		g, err := Restore(fold.Snapshot())
		require.NoError(t, err)
		require.Equal(t, fold.Snapshot(), g.Snapshot())
	})
}

func FuzzRestore(f *testing.F) {
	fold := New(testRun)
	fold.Apply(stepEntry(3, 1, 0, Value{"train/loss", 1}))
	f.Add(fold.Snapshot())
	for _, name := range []string{"run.start", "run.end", "run.failure", "checkpoint.save"} {
		e, _ := Reduce(record(name, nil, map[string]any{"params": map[string]any{"a": 1}, "message": "m", "epoch": 1, "path": "p", "kind": "best"}))
		fold.Apply(e)
	}
	f.Add(fold.Snapshot())
	for _, text := range []int64{0, 1, 2} {
		e := stepEntry(5, 1, 0, Value{"train/loss", float64(text)})
		e.ID, e.Path, e.Text, e.Replaces = ID{Kind: IDUID, File: 1, Place: 10 - text, CRC: uint32(text)}, 7, text, text
		fold.Apply(e)
	}
	f.Add(fold.Snapshot())
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := Restore(b)
		if err != nil {
			return
		}
		g.States()
		g.SizeBytes()
		g.Apply(stepEntry(4, 2, 1, Value{"train/loss", 1}))
		g.State()
		_, err = Restore(g.Snapshot())
		require.NoError(t, err)
	})
}

// The fold knows no clock and does no I/O: its files import nothing that could.
func TestNoClockAndNoFiles(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, e := range entries {
		checkImports(t, e.Name())
	}
}
