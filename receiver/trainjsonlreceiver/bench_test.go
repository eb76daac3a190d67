package trainjsonlreceiver

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkBuild is the cost of a record from bytes to log data; allocations are per batch of 1,000.
func BenchmarkBuild(b *testing.B) {
	var text strings.Builder
	for i := range maxBatch {
		fmt.Fprintf(&text, `{"ts":"2026-11-29T10:00:%02d.123456Z","event":"step.end","run_id":"run-7","framework":"pytorch","phase":"train",`+
			`"body":{"step":%d,"epoch":3,"measurements":{"train/loss":0.%d},"learning_rate":{"default":0.0003},"durations":{"batch_s":0.31}}}`+"\n", i%60, i, i)
	}
	lines, _ := cut(nil, []byte(text.String()), 0, 1<<20)
	builders := newBuilders(lineOptions{})
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if got := builders.build(source{path: "/runs/run-7/train.jsonl", id: pathID{run: "run-7", rank: -1}}, lines); got.records != maxBatch {
			b.Fatal(got.records)
		}
	}
}
