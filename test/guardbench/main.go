package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// size is how much is measured.
type size struct {
	rounds int // of each contender
	tries  int // of a comparison that misses
	points int // of a batch
	runs   []int
	warm   int     // distinct runs after which memory must be flat
	ids    int     // distinct runs in all
	limit  int     // sources that the guard may remember meanwhile
	factor float64 // that a target may be missed by
}

var sizes = map[string]size{
	"full": {rounds: 25, tries: 3, points: 10_000, runs: []int{1, 10, 100}, warm: 300_000, ids: 1_000_000, limit: 100_000, factor: 1},
	"gate": {rounds: 15, tries: 6, points: 10_000, runs: []int{10}, warm: 200_000, ids: 400_000, limit: 20_000, factor: 1.25},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	of := flag.String("size", "full", "full, or gate: smaller, and targets may be missed by 1.25")
	flag.Parse()
	s, known := sizes[*of]
	if !known {
		fmt.Fprintf(os.Stderr, "guardbench: size: want full or gate, got %q\n", *of)
		os.Exit(2)
	}
	if err := compare(ctx, os.Stdout, s); err != nil {
		fmt.Fprintln(os.Stderr, "guardbench:", err)
		os.Exit(1)
	}
}

// compare measures everything and prints the tables as they come.
func compare(ctx context.Context, out io.Writer, s size) error {
	t := &table{out: out, factor: s.factor}
	fmt.Fprintf(out, "Batches of %d points with 8 attributes, 3 of them forbidden unless untouched; medians of %d rounds, processor time.\n", s.points, s.rounds)
	for _, part := range []func(context.Context, *table, size) error{untouched, merged, flushes, memory, manyRuns} {
		if err := part(ctx, t, s); err != nil {
			return err
		}
	}
	if len(t.missed) > 0 {
		return errors.New("missed: " + strings.Join(t.missed, "; "))
	}
	return nil
}
