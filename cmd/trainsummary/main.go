// Command trainsummary says how training runs go, from their JSON Lines alone.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/cli"
)

// garbage is how much the heap grows before it is cleaned: a summary lives shortly and reads much.
const garbage = 400

func main() {
	debug.SetGCPercent(garbage)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
