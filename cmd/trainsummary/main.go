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
const garbage = 200

// version is that of builder-config.yaml: make commands links it in.
var version string

func main() {
	debug.SetGCPercent(garbage)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, shown(), os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
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
