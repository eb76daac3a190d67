package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"
)

// version is that of builder-config.yaml: make commands links it in.
var version string

const usage = `usage: otelcol-train-compat [--old FILE] [--new FILE] CONFIG...
       otelcol-train-compat compare [--old FILE] [--new FILE] --exposition FILE|URL [--new-config CONFIG]... [--pin VERSION] [CONFIG...]
       otelcol-train-compat --version

The first form says what the configuration of a Collector uses and what this binary makes of it. Several CONFIGs are merged as a Collector
merges its --config options; ${env:...} is read from the environment, so run it with that of the service.

The second runs the old and the new binary on the same exposition and compares the series that a backend tells apart. CONFIG is the
configuration of the old one, and of the new one unless --new-config names another; of it, the pipelines of the prometheus receivers are run
as they are, with the exposition for a target and this command for a backend.

exit status: 0 yes, 1 no, 2 it could not be found out
`

// Exit statuses.
const (
	exitYes     = 0
	exitNo      = 1
	exitUnknown = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	command := check
	if len(args) > 0 && args[0] == "compare" {
		command, args = compare, args[1:]
	}
	yes, err := command(ctx, args, stdout, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitYes
	case err != nil:
		fmt.Fprintln(stderr, "otelcol-train-compat:", err)
		return exitUnknown
	case !yes:
		return exitNo
	}
	return exitYes
}

func flags(name string, stderr io.Writer) *flag.FlagSet {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() { fmt.Fprint(stderr, usage) }
	return set
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

// ours is the otelcol-train that belongs to this command: the one beside it, else the one on the PATH.
func ours() string {
	const name = "otelcol-train"
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), name)
		for _, path := range []string{beside, filepath.Join(beside, name)} { // make build has it in a folder of its name
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return path
			}
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	return name
}

// theirs is the Collector that the host runs, or nothing.
func theirs() string {
	for _, name := range []string{"otelcol-contrib", "otelcol", "otelcol-k8s"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
