package trainrecord

import (
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"
)

// BenchmarkDecode decodes a step record, an epoch record and a framework's row.
func BenchmarkDecode(b *testing.B) {
	wide := &strings.Builder{}
	wide.WriteString(`{"loss": 0.5`)
	for i := range MaxKeys - 1 {
		fmt.Fprintf(wide, `, "metric_%d": %d.5`, i, i)
	}
	wide.WriteString("}")
	for name, line := range map[string]string{
		"wide": wide.String(),
		"step": `{"ts":"2026-11-29T00:00:00.000000Z","severity":"DEBUG","event":"step.end","run_id":"run-000001-1a2b3c4d","phase":"train",` +
			`"body":{"step":1,"measurements":{"train/loss":1.9876543},"learning_rate":{"pg0":0.001}}}`,
		"epoch":     epochLine,
		"framework": `{"loss": 2.8141, "grad_norm": 5.918273448944092, "learning_rate": 4.3333333e-05, "epoch": 0.5, "step": 5}`,
	} {
		b.Run(name, func(b *testing.B) {
			d := NewDecoder(DecoderOptions{})
			raw := []byte(line)
			logs := plog.NewLogRecordSlice()
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if logs.Len() == 1000 {
					logs = plog.NewLogRecordSlice()
				}
				if l := d.Decode(raw, logs.AppendEmpty()); l.Kind == LineError {
					b.Fatal(l.Err)
				}
			}
		})
	}
}
