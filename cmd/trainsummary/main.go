// Command trainsummary says how training runs go, from their JSON Lines alone.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/cli"
)

// garbage is how much the heap grows before it is cleaned: a summary lives shortly and reads much.
const garbage = 200

// grace is the time in which a waiting command answers a signal.
const grace = 500 * time.Millisecond

// version is that of builder-config.yaml: make commands links it in.
var version string

func main() {
	debug.SetGCPercent(garbage)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	done := make(chan int, 1)
	go func() { done <- cli.Main(ctx, shown(), os.Args[1:], os.Stdout, os.Stderr) }()
	code := end(ctx, done)
	stop()
	os.Exit(code)
}

// end waits for the command. A signal ends one that reads on for longer than grace: it writes nothing that could be left half done.
func end(ctx context.Context, done <-chan int) int {
	select {
	case code := <-done:
		return code
	case <-ctx.Done():
	}
	select {
	case code := <-done:
		return code
	case <-time.After(grace):
		fmt.Fprintln(os.Stderr, "trainsummary: interrupted before all was read; name fewer streams for an earlier answer")
		return 1
	}
}

// shown is the version that is told: of another build that of the module, as far as it has one.
func shown() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
