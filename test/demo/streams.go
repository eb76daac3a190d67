package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pathologize/otelcol-train/test/testdata"
)

// demoRun is one trainer of the demo.
type demoRun struct {
	id       string // the run: in the records of the native stream, else the folder's name
	sample   string // the stream that it writes
	launcher string // a line that a launcher appends when the trainer is gone, "" for none
	outcome  string // what the stream proves
	reason   string // why it stopped, as the stream says it
}

// demoRuns are the trainers: a native one, whose records say everything; Hugging Face, whose summary row proves the end; Ultralytics and
// Lightning, which write no end. One of them has a launcher that writes it when the trainer is gone, the other just falls silent.
func demoRuns() []demoRun {
	return []demoRun{
		{id: "native-7f3a9c", sample: "native", outcome: "success", reason: "completed"},
		{id: "hf-finetune", sample: "hf-transformers", outcome: "success"},
		{
			id: "yolo-launched", sample: "ultralytics", outcome: "success", reason: "exit status 0",
			launcher: `{"schema":"pathologize.ml.training/1","ts":"2026-11-20T10:01:00Z","event":"run.end","run_id":"yolo-launched","body":{"outcome":"success","stop_reason":"exit status 0"}}`,
		},
		{id: "lightning-silent", sample: "lightning", outcome: "stalled"},
	}
}

// writeAll writes every stream at the same time, as trainers do: a line now and then, one of them torn in the middle for a while.
func writeAll(ctx context.Context, dir string, runs []demoRun) error {
	var wg sync.WaitGroup
	errs := make([]error, len(runs))
	for i, r := range runs {
		wg.Go(func() { errs[i] = writeStream(ctx, dir, r) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func writeStream(ctx context.Context, dir string, r demoRun) error {
	lines, err := testdata.Stream(r.sample)
	if err != nil {
		return err
	}
	if r.launcher != "" {
		lines = append(lines, r.launcher)
	}
	path := filepath.Join(dir, r.id, "train.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for i, line := range lines {
		for _, piece := range []string{line[:len(line)/2], line[len(line)/2:] + "\n"} {
			if _, err := f.WriteString(piece); err != nil {
				return err
			}
			if err := pause(ctx, linePause/2); err != nil {
				return err
			}
		}
		if i == len(lines)/2 || i == len(lines)-1 {
			fmt.Printf("  %-18s %2d of %2d lines\n", r.id, i+1, len(lines))
		}
	}
	return f.Close()
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
