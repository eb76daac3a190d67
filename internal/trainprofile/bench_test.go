package trainprofile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/plog"
)

// BenchmarkProcess maps one row; the copy of the row that each round needs is in the numbers of the baseline alone.
func BenchmarkProcess(b *testing.B) {
	wide := &strings.Builder{}
	wide.WriteString(`{"loss": 0.5, "learning_rate": 0.1, "epoch": 0.5`)
	for i := range 4000 {
		fmt.Fprintf(wide, `, "metric_%d": %d.5`, i, i)
	}
	wide.WriteString("}")
	padded := &strings.Builder{} // what no rule takes stays, without the white space
	padded.WriteString(`{"loss": 0.5, "learning_rate": 0.1, "epoch": 0.5`)
	for i := range 4000 {
		fmt.Fprintf(padded, `, " text_%d": "x"`, i)
	}
	padded.WriteString("}")
	for name, line := range map[string]string{
		"huggingface_train":      `{"loss": 2.8141, "grad_norm": 5.918, "learning_rate": 4.3333333e-05, "epoch": 0.5, "step": 5}`,
		"huggingface_evaluation": `{"eval_loss": 2.23, "eval_accuracy": 0.41, "eval_runtime": 1.9, "eval_samples_per_second": 209.0, "eval_steps_per_second": 13.1, "epoch": 1.0, "step": 10}`,
		"ultralytics_epoch":      `{"epoch": 1, "time": 14.2, "train/box_loss": 1.6, "train/cls_loss": 2.9, "metrics/precision(B)": 0.4, "metrics/recall(B)": 0.3, "metrics/mAP50(B)": 0.3, "val/box_loss": 1.5, "lr/pg0": 0.0002, "lr/pg1": 0.0002}`,
		"lightning_epoch":        `{"train_loss_epoch": 0.8, "train_acc": 0.6, "epoch": 0, "step": 99}`,
		"own_loop_epoch":         `{"epoch": 0, "train_loss": 0.8, "train_acc": 0.6, "val_loss": 0.9, "val_acc": 0.5, "lr": 0.01, "epoch_time": 12.5}`,
		"own_loop_step":          `{"step": 100, "loss": 0.8, "lr": 0.01, "grad_norm": 1.5}`,
		"own_loop_end":           `{"event": "train_end", "reason": "no improvement in val_mean_absolute_error", "epochs_completed": 12}`,
		"four_thousand_keys":     wide.String(),
		"four_thousand_padded":   padded.String(),
		"four_thousand_enclosed": `{"timestamp": "2026-03-02T08:00:04Z", "level": "INFO", "target": "a", "fields": ` + wide.String() + "}",
	} {
		b.Run(name, func(b *testing.B) { benchmarkLine(b, line) })
	}
	b.Run("baseline_copy", func(b *testing.B) {
		row := decode(b, hfRow)
		b.ReportAllocs()
		for b.Loop() {
			lr := plog.NewLogRecord()
			row.CopyTo(lr)
		}
	})
}

func benchmarkLine(b *testing.B, line string) {
	set, m, stream := embeddedSet(b), NewMapper(nil), &Stream{}
	row := decode(b, line)
	more := func() plog.LogRecord { return plog.NewLogRecord() }
	b.ReportAllocs()
	for b.Loop() {
		lr := plog.NewLogRecord()
		row.CopyTo(lr)
		if out := m.Process(set, stream, lr, more); out.Kind != Mapped {
			b.Fatal("not mapped")
		}
	}
}

// BenchmarkUnmapped is the cost of an object that nobody knows: all conditions are tried.
func BenchmarkUnmapped(b *testing.B) {
	set, m := embeddedSet(b), NewMapper(nil)
	lr := decode(b, `{"a": 1, "b": 2.5, "c": "text", "d": {"e": 1}, "f": [1, 2]}`)
	b.ReportAllocs()
	for b.Loop() {
		m.Process(set, nil, lr, nil)
	}
}

// BenchmarkMapAttributes is the cost of a log record that no section is about, and of a data point of Tunix.
func BenchmarkMapAttributes(b *testing.B) {
	set, m := embeddedSet(b), NewMapper(nil)
	for name, c := range map[string]struct {
		signal     Signal
		name       string
		attributes map[string]any
	}{
		"log":   {SignalLog, "", map[string]any{"log.file.path": "a", "log.file.record_offset": 7, "log.record.uid": "u", "pathologize.ml.training.run.id": "r"}},
		"point": {SignalMetric, "tunix.training.loss", map[string]any{"tunix.training.mode": "train", "tunix.metrics.prefix": "actor"}},
		"other": {SignalMetric, "requests", map[string]any{"http.request.method": "GET", "url.path": "/"}},
	} {
		b.Run(name, func(b *testing.B) {
			attrs := plog.NewLogRecord().Attributes()
			if err := attrs.FromRaw(c.attributes); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				m.MapAttributes(set, c.signal, Item{Attributes: attrs, Resource: none, Name: c.name})
			}
		})
	}
}

// TestWhatARowAllocates bounds the allocations of mapping a row over those of its copy: most are the objects of its record.
func TestWhatARowAllocates(t *testing.T) {
	set, m, stream := embeddedSet(t), NewMapper(nil), &Stream{}
	row := decode(t, `{"loss": 2.8141, "grad_norm": 5.918, "learning_rate": 4.3333333e-05, "epoch": 0.5, "step": 5}`)
	more := func() plog.LogRecord { return plog.NewLogRecord() }
	copying := testing.AllocsPerRun(200, func() { row.CopyTo(plog.NewLogRecord()) })
	mapping := testing.AllocsPerRun(200, func() {
		lr := plog.NewLogRecord()
		row.CopyTo(lr)
		m.Process(set, stream, lr, more)
	})
	assert.LessOrEqual(t, mapping-copying, 11.0)
}
