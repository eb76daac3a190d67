package main

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// shape appends line number n of a run; the same run and number always give the same line.
type shape func(r *run, n int, buf []byte) []byte

// shapes are the kinds of lines that a suite can ask for.
var shapes = map[string]shape{
	"native":      nativeLine,
	"huggingface": huggingFaceLine,
	"epochs":      epochsLine,
	"course":      courseLine,
}

const (
	dataSeed   = 1
	epochEvery = 10 // lines
)

var frameworks = []string{"pytorch", "ultralytics", "huggingface", "lightning", "fastai"}

// run is one stream while it is made up.
type run struct {
	random           *rand.Rand
	id, trace        string
	framework        string
	at               time.Time
	loss, best       float64
	bestEpoch, epoch int
}

func newRun(number int) *run {
	//nolint:gosec // a data set, no secret: the same in every session
	random := rand.New(rand.NewPCG(dataSeed, uint64(number)))
	return &run{
		random:    random,
		id:        fmt.Sprintf("run-%06d-%08x", number, random.Uint32()),
		trace:     fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64()),
		framework: frameworks[number%len(frameworks)],
		at:        time.Date(2026, 11, 20, 0, 0, number, 0, time.UTC),
		loss:      2,
	}
}

// nativeLine is a record of the vocabulary: nine steps, then the end of an epoch.
func nativeLine(r *run, n int, buf []byte) []byte {
	r.at = r.at.Add(time.Duration(20_000+r.random.IntN(20_000)) * time.Microsecond)
	r.loss = 0.9999*r.loss + 0.02*r.random.Float64()
	buf = append(buf, `{"ts":"`...)
	buf = r.at.AppendFormat(buf, "2006-01-02T15:04:05.000000Z")
	if n%epochEvery != epochEvery-1 {
		return fmt.Appendf(buf, `","severity":"DEBUG","event":"step.end","run_id":%q,"phase":"train",`+
			`"body":{"step":%d,"measurements":{"train/loss":%.8g},"learning_rate":{"pg0":0.001}}}`+"\n", r.id, n, r.loss)
	}
	score := 1 - math.Exp(-float64(r.epoch+1)/80) + 0.01*r.random.Float64()
	if score > r.best {
		r.best, r.bestEpoch = score, r.epoch
	}
	buf = fmt.Appendf(buf, `","severity":"INFO","event":"epoch.end","run_id":%q,"framework":%q,"phase":"validation","trace_id":%q,"span_id":"%016x",`+
		`"body":{"epoch":%d,"learning_rate":{"pg0":%.6g},"durations":{"epoch_s":%.3f},"samples":118287,`+
		`"measurements":{"train/loss":%.8g,"val/loss":%.5f,"val/map50":%.5f},"checkpoint":{"path":"weights/%d.pt"},"best":{"epoch":%d,"value":%.5f}}}`+"\n",
		r.id, r.framework, r.trace, r.random.Uint64(), r.epoch, 1e-3*math.Pow(0.99, float64(r.epoch%300)), 40+r.random.Float64(),
		r.loss, 1.1*r.loss, score, r.epoch, r.bestEpoch, r.best)
	r.epoch++
	return buf
}

const epochsOfRun = 200

// epochsLine is a whole run: its start, 200 epochs of 20 measurements, its end.
func epochsLine(r *run, n int, buf []byte) []byte {
	r.at = r.at.Add(time.Duration(20_000+r.random.IntN(20_000)) * time.Microsecond)
	buf = append(buf, `{"ts":"`...)
	buf = r.at.AppendFormat(buf, "2006-01-02T15:04:05.000000Z")
	switch n {
	case 0:
		return fmt.Appendf(buf, `","event":"run.start","run_id":%q,"framework":%q,"body":{"planned_epochs":%d,"params":{"lr":0.001,"batch":64}}}`+"\n",
			r.id, r.framework, epochsOfRun)
	case epochsOfRun + 1:
		return fmt.Appendf(buf, `","event":"run.end","run_id":%q,"body":{"outcome":"success"}}`+"\n", r.id)
	}
	r.loss = 0.99*r.loss + 0.02*r.random.Float64()
	buf = fmt.Appendf(buf, `","severity":"INFO","event":"epoch.end","run_id":%q,"body":{"epoch":%d,"durations":{"epoch_s":%.3f},"measurements":{"val/loss":%.8g`,
		r.id, n-1, 40+r.random.Float64(), r.loss)
	for i := range 19 {
		buf = fmt.Appendf(buf, `,"train/metric_%02d":%.8g`, i, r.random.Float64())
	}
	return append(buf, "}}}\n"...)
}

const (
	courseLength = 1000 // lines of a whole run
	courseEpoch  = 25   // of an epoch
)

// courseLine is a run that tells what derived signals count: its start, 40 epochs of a phase with steps in it and a row, its end.
func courseLine(r *run, n int, buf []byte) []byte {
	r.at = r.at.Add(time.Duration(20_000+r.random.IntN(20_000)) * time.Microsecond)
	r.loss = 0.9999*r.loss + 0.02*r.random.Float64()
	head := func(event, phase string) {
		buf = append(buf, `{"ts":"`...)
		buf = r.at.AppendFormat(buf, "2006-01-02T15:04:05.000000Z")
		buf = fmt.Appendf(buf, `","severity":"INFO","event":%q,"run_id":%q,"framework":%q,`, event, r.id, r.framework)
		if phase != "" {
			buf = fmt.Appendf(buf, `"phase":%q,`, phase)
		}
	}
	switch at := (n - 1) % courseEpoch; {
	case n == 0:
		head("run.start", "")
		return append(buf, `"body":{"planned_epochs":40,"task_family":"detection"}}`+"\n"...)
	case n == courseLength-1:
		head("run.end", "")
		return append(buf, `"body":{"outcome":"success"}}`+"\n"...)
	case at == 0:
		head("phase.start", "train")
		return fmt.Appendf(buf, `"body":{"epoch":%d}}`+"\n", r.epoch)
	case at == courseEpoch-2:
		head("phase.end", "train")
		return fmt.Appendf(buf, `"body":{"epoch":%d}}`+"\n", r.epoch)
	case at == courseEpoch-1:
		head("epoch.end", "validation")
		r.epoch++
		return fmt.Appendf(buf, `"body":{"epoch":%d,"durations":{"validation_s":0.02},"samples":1408,"measurements":{"train/loss":%.8g,"val/loss":%.8g}}}`+"\n",
			r.epoch-1, r.loss, 1.1*r.loss)
	default:
		head("step.end", "train")
		return fmt.Appendf(buf, `"body":{"epoch":%d,"step":%d,"samples":64,"durations":{"batch_s":%.4f,"data_wait_s":%.4f},"measurements":{"train/loss":%.8g},"learning_rate":{"pg0":0.001}}}`+"\n",
			r.epoch, n, 0.02+r.random.Float64()/50, r.random.Float64()/200, r.loss)
	}
}

// huggingFaceLine is a row of the Hugging Face Trainer: nine of training, then an evaluation.
func huggingFaceLine(r *run, n int, buf []byte) []byte {
	r.at = r.at.Add(time.Duration(20_000+r.random.IntN(20_000)) * time.Microsecond)
	r.loss = 0.9999*r.loss + 0.02*r.random.Float64()
	step, now := 10*(n+1), float64(r.at.UnixMicro())/1e6
	if n%epochEvery != epochEvery-1 {
		return fmt.Appendf(buf, `{"loss": %.4f, "grad_norm": %.16g, "learning_rate": %.7g, "epoch": %.2f, "step": %d, "timestamp": %.6f}`+"\n",
			r.loss, 1+r.random.Float64(), 5e-5*math.Pow(0.99999, float64(n)), float64(n+1)/epochEvery, step, now)
	}
	r.epoch++
	return fmt.Appendf(buf, `{"eval_loss": %.16g, "eval_accuracy": %.4f, "eval_runtime": %.4f, "eval_samples_per_second": %.3f, `+
		`"eval_steps_per_second": %.3f, "epoch": %d.0, "step": %d, "timestamp": %.6f}`+"\n",
		1.1*r.loss, r.random.Float64(), 1+r.random.Float64(), 200+r.random.Float64(), 12+r.random.Float64(), r.epoch, step, now)
}

// writeData writes lines over a number of files, one a run.
func writeData(dir string, line shape, files, lines int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for number := range files {
		share := lines / files
		if number < lines%files {
			share++
		}
		if err := writeRun(filepath.Join(dir, fmt.Sprintf("run-%06d.jsonl", number)), line, newRun(number), share); err != nil {
			return err
		}
	}
	return nil
}

func writeRun(path string, line shape, r *run, lines int) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	var buf []byte
	for n := range lines {
		buf = line(r, n, buf[:0])
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return w.Flush()
}
