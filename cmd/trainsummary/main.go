// Command trainsummary says how training runs go, from their JSON Lines alone.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/pathologize/otelcol-train/cmd/trainsummary/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
