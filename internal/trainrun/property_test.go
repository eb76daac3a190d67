package trainrun

import (
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// tightLimits are reached by a few dozen records.
func tightLimits() limits {
	return limits{
		points: 16, series: 4, parts: 2, hosts: 2, ranks: 2, attempts: 2, extremes: 2, starts: 3, launches: 2, ends: 3,
		endValues: 2, failures: 2, checkpoints: 4, artifacts: 2, params: 2, slack: 2,
	}
}

// drawEntry draws a record of any event. With once, no two records of an attempt share a step or an epoch: n makes them.
func drawEntry(t *rapid.T, n int, once bool) Entry {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	number := func(label string, low, high int64) int64 { return rapid.Int64Range(low, high).Draw(t, label) }
	e := Entry{
		RunID: testRun, Event: Event(number("event", 1, int64(eventCount)-1)),
		Attempt: number("attempt", 1, 3), Rank: number("rank", 0, 3), Offset: -1, Progress: noProgress,
		Part: pick("part", "", "", "a", "b", "c"), Framework: pick("framework", "", "keras", "jax", "pytorch", "other"),
		Where: Where{Host: pick("host", "", "h1", "h2", "h3")},
	}
	if rapid.Bool().Draw(t, "timed") {
		e.Time = number("time", 1, 40)
	}
	if rapid.Bool().Draw(t, "numbered") {
		e.Seq = number("seq", 1, 30)
	}
	switch number("identity", 0, 5) {
	case 0:
		e.ID = ID{Kind: IDHash, Hash: [16]byte{byte(number("hash", 1, 255))}}
	case 1:
		if e.ID.Kind = IDSeq; e.Seq == 0 {
			e.Seq = number("seq", 1, 30)
		}
	default:
		e.ID = ID{
			Kind: IDUID, File: uint32(number("file", 1, 2)), Place: number("place", 0, 60), CRC: uint32(number("crc", 0, 1)),
			Index: uint32(number("index", 0, 1)),
		}
		e.Path, e.Text = uint32(number("path", 0, 2)), number("text", 0, 3)
		e.Replaces = number("replaces", 0, e.Text)
	}
	e.TraceID[0] = byte(number("trace", 0, 2))
	x := number("x", 0, 40)
	if once {
		x = int64(n)
	}
	switch e.Event {
	case EventEpochEnd, EventPhaseEnd, EventPhaseStart, EventRunFailure, EventCheckpointSave:
		e.Epoch = Int{x, rapid.Bool().Draw(t, "epoch")}
	default:
	}
	if rapid.Bool().Draw(t, "stepped") {
		e.Step = Int{x * 3, true}
	}
	if e.Event == EventPhaseEnd && !once && rapid.Bool().Draw(t, "several") { // of ten steps
		e.Epoch.V = x / 10
	}
	if e.Event == EventStepEnd && rapid.Bool().Draw(t, "fraction") {
		e.Progress = float64(x) / 2
	}
	drawPayload(t, &e)
	return e
}

func drawPayload(t *rapid.T, e *Entry) {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	number := func(label string, low, high int64) int64 { return rapid.Int64Range(low, high).Draw(t, label) }
	value := func() float64 {
		return rapid.SampledFrom([]float64{0, 0.25, 0.5, 1, 2, 4, math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(t, "value")
	}
	e.Sampled = number("sampled", 0, 9) == 0
	e.PlannedEpochs = Int{number("planned", 0, 5), rapid.Bool().Draw(t, "plans")}
	for _, name := range []string{"a", "train/loss", "val/acc", "val/f1", "val/loss", "z"} {
		if rapid.Bool().Draw(t, name) {
			e.Values = append(e.Values, Value{name, value()})
		}
	}
	if rapid.Bool().Draw(t, "lasts") {
		e.Durations = []Duration{{pick("phase", "train", "validation", "data_wait", "epoch", "run"), number("nanos", 1, 100)}}
	}
	switch e.Event {
	case EventRunStart:
		e.Detail = &Detail{
			Params:  map[string]any{"lr": value(), "list": []any{number("p", 0, 2), nil, "text"}, "sub": map[string]any{"on": true}},
			Command: pick("command", "", "a", "b"),
		}
		if rapid.Bool().Draw(t, "resumes") {
			e.Detail.ResumedEpoch = Int{number("resumed", 0, 20), true}
		}
		if rapid.Bool().Draw(t, "aims") {
			e.Detail.Objective = &Objective{Metric: pick("metric", "val/acc", "z"), Mode: pick("mode", "", ModeMin, ModeMax)}
		}
		e.Masked = number("masked", 0, 2)
	case EventRunEnd:
		e.Detail = &Detail{Outcome: pick("outcome", "success", "failed", "aborted"), StopReason: pick("reason", "", "r1", "r2")}
		e.Detail.Artifacts = []Artifact{{Role: "model", Path: pick("path", "p", "q", "r"), Size: ptr(number("size", 0, 3))}}
	case EventRunFailure:
		e.Detail = &Detail{ErrorType: pick("type", "E", "F"), Message: pick("message", "", "m")}
	case EventCheckpointSave:
		e.Detail = &Detail{Checkpoint: &Checkpoint{Path: pick("path", "p", "q"), Kind: pick("kind", "best", "last")}}
	case EventEpochEnd:
		if rapid.Bool().Draw(t, "bests") {
			e.Detail = &Detail{Best: &Objective{Metric: "val/f1", Mode: ModeMax}}
		}
	case EventStepEnd, EventPhaseEnd:
		if m := pick("habit", "", "a", "z"); m != "" {
			e.Detail = &Detail{Habit: &Objective{Metric: m}}
		}
	case EventLog:
		e.Rejected = rapid.Bool().Draw(t, "rejected")
		if rapid.Bool().Draw(t, "tells") {
			e.Detail = &Detail{Params: map[string]any{pick("param", "a", "b", "lr"): value(), "sub": map[string]any{pick("below", "on", "x"): int64(1)}}}
		}
	default:
	}
}

// drawSet draws records of which no two are one.
func drawSet(t *rapid.T, once bool) []Entry {
	n := rapid.IntRange(1, 60).Draw(t, "n")
	list := make([]Entry, 0, n)
	var known seen
	for i := range n {
		e := drawEntry(t, i, once)
		if e.normalize(); known.add(&e) {
			list = append(list, e)
		}
	}
	return list
}

// disturb delivers the records in another order, some twice, through the journal, with restarts in between.
func disturb(t *rapid.T, list []Entry, lim limits) *Fold {
	order := rapid.Permutation(list).Draw(t, "order")
	order = append(order, rapid.SliceOfN(rapid.SampledFrom(list), 0, 10).Draw(t, "again")...)
	f := newFold(testRun, lim)
	for len(order) > 0 {
		n := rapid.IntRange(1, len(order)).Draw(t, "batch")
		batch, err := DecodeEntries(AppendEntries(nil, order[:n]))
		if err != nil {
			t.Fatalf("%v", err)
		}
		for _, e := range batch {
			f.Apply(e)
		}
		order = order[n:]
		if rapid.Bool().Draw(t, "restart") {
			g, err := restore(f.Snapshot(), lim)
			if err != nil {
				t.Fatalf("%v", err)
			}
			f = g
		}
		if rapid.Bool().Draw(t, "look") {
			f.States()
		}
	}
	return f
}

// inAnyOrder are the limits under which the records give one state in any order. Where more than numbers tells attempts apart, thinning
// keeps what it knows of them at the time, and only the order of a stream gives one state: see TestThinningKeepsTheExtremesOfEachTraining.
func inAnyOrder(list []Entry, lim limits) limits {
	whole := lim
	whole.points = defaultLimits().points
	for _, l := range []limits{defaultLimits(), whole, lim} {
		f := newFold(testRun, l)
		for _, e := range list {
			f.Apply(e)
		}
		if f.compact(); f.divided() != nil {
			return whole
		}
	}
	return lim
}

// byNumber leaves of a set what only the numbers of attempts divide.
func byNumber(list []Entry) []Entry {
	var out []Entry
	var known seen
	for _, e := range list {
		e.Text, e.Replaces, e.ID.File = 0, 0, 1
		if e.Event != EventRunStart && e.Event != EventRunEnd && known.add(&e) {
			out = append(out, e)
		}
	}
	return out
}

func checkOrder(t *rapid.T, lim limits, once bool) { checkOrderOf(t, drawSet(t, once), lim) }

func checkOrderOf(t *rapid.T, list []Entry, lim limits) {
	if lim = inAnyOrder(list, lim); len(list) == 0 {
		return
	}
	plain := newFold(testRun, lim)
	for _, e := range list {
		plain.Apply(e)
	}
	other := disturb(t, list, lim)
	if a, b := dump(plain.State()), dump(other.State()); a != b {
		t.Fatalf("states differ: %s", firstDifference(a, b))
	}
	if a, b := dump(plain.States()), dump(other.States()); a != b {
		t.Fatalf("states of hosts differ: %s", firstDifference(a, b))
	}
	if a, b := plain.Snapshot(), other.Snapshot(); string(a) != string(b) {
		t.Fatalf("snapshots differ\n%s\n%s", hex.Dump(a), hex.Dump(b))
	}
}

func TestOrderDuplicatesBatchesAndRestartsChangeNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { checkOrder(t, defaultLimits(), false) })
}

func TestBoundsDoNotDependOnOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { checkOrder(t, tightLimits(), false) })
}

func TestThinningByNumbersDoesNotDependOnOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { checkOrderOf(t, byNumber(drawSet(t, false)), tightLimits()) })
}

func TestSnapshotKeepsTheState(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := newFold(testRun, defaultLimits())
		for _, e := range drawSet(t, false) {
			f.Apply(e)
		}
		g, err := Restore(f.Snapshot())
		require.NoError(t, err)
		require.Equal(t, dump(f.States()), dump(g.States()))
		require.Equal(t, f.Snapshot(), g.Snapshot())
	})
}

// firstDifference gives the first line that differs.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d\n%s\n%s", i, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(x), len(y))
}

// dump writes a value so that NaN equals NaN and pointers are what they point at.
func dump(v any) string {
	var b strings.Builder
	dumpValue(&b, reflect.ValueOf(v))
	return b.String()
}

func dumpValue(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		dumpValue(b, v.Elem())
	case reflect.Struct:
		b.WriteString(v.Type().Name() + "{")
		for i := range v.NumField() {
			fmt.Fprintf(b, "%s:", v.Type().Field(i).Name)
			dumpValue(b, v.Field(i))
			b.WriteString(" ")
		}
		b.WriteString("}\n")
	case reflect.Slice, reflect.Array:
		b.WriteString("[")
		for i := range v.Len() {
			dumpValue(b, v.Index(i))
			b.WriteString(" ")
		}
		b.WriteString("]")
	default:
		fmt.Fprintf(b, "%v", v)
	}
}
