package trainrun

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/pathologize/otelcol-train/internal/trainrecord/cputime"
)

// assertStateCost wants the state of a fold to take less than so many times what that of another takes. The least times count, of turns that
// they take by turns: a machine that does something else meanwhile costs further turns, and no answer.
func assertStateCost(t *testing.T, most time.Duration, dear, cheap *Fold) {
	t.Helper()
	least := [2]time.Duration{math.MaxInt64, math.MaxInt64}
	for turn := range 20 {
		for i, f := range []*Fold{dear, cheap} {
			least[i] = min(least[i], cputime.Of(func() { f.State() }))
		}
		if turn >= 5 && least[0] < most*least[1] {
			return
		}
	}
	t.Errorf("%v is not less than %d times %v", least[0], most, least[1])
}

func epochEntry(i int64, names []string) Entry {
	e := stepEntry(i, 1, 0)
	e.Event, e.Epoch, e.Step = EventEpochEnd, Int{i, true}, Int{}
	for j, name := range names {
		e.Values = append(e.Values, Value{name, float64(i * int64(j))})
	}
	return e
}

func measurementNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("train/m%02d", i))
	}
	return names
}

// BenchmarkApplyEpochs is a run of 200 epochs with 20 measurements; the time is that of one record.
func BenchmarkApplyEpochs(b *testing.B) {
	names := measurementNames(20)
	entries := make([]Entry, 200)
	for i := range entries {
		entries[i] = epochEntry(int64(i), names)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); {
		f := New(testRun)
		for _, e := range entries {
			f.Apply(e)
			i++
		}
		if i == 200 {
			b.ReportMetric(float64(f.SizeBytes()), "bytes/run")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200, "ns/record")
}

// BenchmarkApplySteps is a long run, thinned on its way.
func BenchmarkApplySteps(b *testing.B) {
	b.ReportAllocs()
	f := New(testRun)
	values := []Value{{"train/loss", 1}}
	for i := int64(0); b.Loop(); i++ {
		f.Apply(stepEntry(i, 1, 0, values...))
	}
}

func BenchmarkApplyDuplicates(b *testing.B) {
	f := New(testRun)
	values := []Value{{"train/loss", 1}}
	for i := range int64(100_000) {
		f.Apply(stepEntry(i, 1, 0, values...))
	}
	b.ReportAllocs()
	for i := int64(0); b.Loop(); i++ {
		f.Apply(stepEntry(i%100_000, 1, 0, values...))
	}
}

func BenchmarkState(b *testing.B) {
	names := measurementNames(20)
	f := New(testRun)
	for i := range int64(200) {
		f.Apply(epochEntry(i, names))
	}
	b.ReportAllocs()
	for b.Loop() {
		f.rows.dirty = true
		f.State()
	}
}

func BenchmarkAppendEntries(b *testing.B) {
	names := measurementNames(20)
	entries := make([]Entry, 100)
	for i := range entries {
		entries[i] = epochEntry(int64(i), names)
	}
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		dst = AppendEntries(dst[:0], entries)
	}
	b.ReportMetric(float64(len(dst))/100, "bytes/record")
}

func BenchmarkReduce(b *testing.B) {
	measurements := map[string]any{}
	for i, name := range measurementNames(20) {
		measurements[name] = float64(i)
	}
	r := record("epoch.end", map[string]any{"log.record.uid": "run-a/0000000a/1f-0000000b"}, map[string]any{
		"epoch": 3, "measurements": measurements, "durations": map[string]any{"train_s": 1.5},
	})
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := Reduce(r); !ok {
			b.Fatal("no entry")
		}
	}
}
