// Command demo runs the main job by itself: it starts the built binary with config/quickstart.yaml, writes sample streams as four trainers
// would, line by line, and prints a table that it reads from the written result.json files, and that of dvc metrics show where DVC is. It ends with status 0 when every run has the
// result that its stream proves.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

const (
	linePause  = 120 * time.Millisecond // between two lines of a stream
	resultWait = 60 * time.Second       // for all results, after the last line
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run plays the demo below build/demo of the checkout that it is started in.
func run(ctx context.Context) error {
	dir, err := filepath.Abs(filepath.Join("build", "demo"))
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	c, err := startCollector(ctx, dir)
	if err != nil {
		return err
	}
	fmt.Printf("otelcol-train runs with config/quickstart.yaml; four trainers write to %s\n\n", rel(filepath.Join(dir, "runs")))
	runs := demoRuns()
	err = writeAll(ctx, filepath.Join(dir, "runs"), runs)
	var rows []row
	if err == nil {
		fmt.Printf("\nevery stream is silent now; a run that wrote no end is called stalled after %s\n\n", idleTimeout)
		rows, err = waitForResults(ctx, filepath.Join(dir, "results"), runs)
	}
	if stopErr := c.stop(); stopErr != nil {
		err = errors.Join(err, stopErr)
	}
	if err != nil {
		return fmt.Errorf("%w\nthe collector's log is %s", err, rel(c.log))
	}
	printTable(os.Stdout, rows)
	fmt.Printf("\nthe results are in %s: inside a git and DVC repository, dvc metrics show and dvc plots show read them\n", rel(filepath.Join(dir, "results")))
	if err := showDVC(ctx, dir); err != nil {
		return err
	}
	return summarize(ctx, filepath.Join(dir, "runs"))
}

// summarize shows what the command says of the same streams, with no Collector running.
func summarize(ctx context.Context, runs string) error {
	binary := os.Getenv("TRAINSUMMARY")
	if binary == "" {
		binary = filepath.Join("build", "trainsummary")
	}
	silent := idleTimeout.String() // else a minute of silence at least
	fmt.Printf("\nand what trainsummary says of the streams alone, trainsummary --stall-after %s %s:\n\n", silent, rel(runs))
	for _, args := range [][]string{{"--stall-after", silent, "--format", "text", rel(runs)}, {filepath.Join(rel(runs), "native-7f3a9c")}} {
		c := exec.CommandContext(ctx, binary, args...)
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("%s: %w; run make commands", binary, err)
		}
		fmt.Println()
	}
	return nil
}

// rel gives a path as seen from the working folder.
func rel(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if r, err := filepath.Rel(wd, path); err == nil {
		return r
	}
	return path
}
