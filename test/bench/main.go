package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	name := flag.String("suite", "train_jsonl", "a file of test/bench/suites")
	of := flag.String("size", "full", "full, or gate: smaller, and targets may be missed by 1.25")
	flag.Parse()
	if err := compare(ctx, os.Stdout, *name, *of); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// compare runs a suite below build/bench of the checkout that it is started in and prints its table.
func compare(ctx context.Context, out io.Writer, name, of string) error {
	b := &bench{dir: filepath.Join("build", "bench"), factor: 1}
	var err error
	if b.suite, err = readSuite(name); err != nil {
		return err
	}
	switch of {
	case "full":
		b.size = b.suite.Full
	case "gate":
		b.size, b.factor = b.suite.Gate, tolerance
	default:
		return fmt.Errorf("size: want full or gate, got %q", of)
	}
	if b.binary, err = findBinary(); err != nil {
		return err
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(b.dir), os.MkdirAll(b.dir, 0o755), b.configs()); err != nil {
		return err
	}
	rows, err := b.rows(ctx)
	if err != nil {
		return err
	}
	missed := b.print(out, rows)
	if len(missed) > 0 {
		return fmt.Errorf("missed: %s", strings.Join(missed, "; "))
	}
	return os.RemoveAll(b.dir)
}

// print writes the table and returns the targets that were missed.
func (b *bench) print(out io.Writer, rows []row) (missed []string) {
	fmt.Fprintf(out, "%s.\nMedians of at least %d alternating runs on %d cores, starting included; the ratio is that of the medians, in brackets that of single rounds.\n",
		b.suite.About, b.size.Runs, runtime.NumCPU())
	for _, contender := range b.suite.Contenders {
		fmt.Fprintf(out, "\n| load | measure | %s | %s | ratio | wanted | |\n| --- | --- | ---: | ---: | ---: | --- | --- |\n", b.suite.Peer, contender)
		for i := range rows {
			r := &rows[i]
			if r.contender != contender {
				continue
			}
			fmt.Fprintln(out, r.line(b.factor))
			if !r.met(b.factor) {
				missed = append(missed, fmt.Sprintf("%s, %s of %s (wanted %s)", r.load, r.measure, contender, r.wanted()))
			}
		}
	}
	return missed
}
