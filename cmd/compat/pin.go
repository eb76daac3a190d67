package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// carriers only pass on what others measured: the scope is the sender's.
var carriers = []string{"otlp", "kafka", "nop", "filelog", "syslog", "trainjsonl", "udplog", "tcplog", "otlpjsonfile", "webhookevent", "zipkin", "jaeger", "opencensus"}

// local are exporters that send to no backend.
var local = []string{"dvcresult", "debug", "logging", "nop"}

// leaves says whether what a pipeline makes goes to a backend.
func leaves(pipeline map[string]any) bool {
	return slices.ContainsFunc(ids(pipeline["exporters"]), func(id string) bool { return !slices.Contains(local, fold(kindOf(id))) })
}

// tellPin says which pipelines write the version of the binary into scope.version, and what to pin there.
func tellPin(ctx context.Context, w io.Writer, c *configuration, old binary) error {
	pinned, open := c.measured()
	if len(pinned) > 0 {
		fmt.Fprintf(w, "\nscope.version is set in %s\n", strings.Join(pinned, ", "))
	}
	if len(open) == 0 {
		return nil
	}
	what, pin := "pin the version that the replaced binary\nprints for --version; name it with --old to see it here.\n", ""
	if old.path != "" {
		version, err := old.version(ctx)
		if err != nil {
			return err
		}
		what, pin = "pin that of\n"+old.path+", first of the processors of these pipelines:\n\n", pinOf(version)
	}
	fmt.Fprintf(w, "\nThe receivers of %s write the version of the binary into scope.version. Where the backend makes it part of a\n"+
		"series' identity, as Netdata does, replacing the binary begins a new chart for each. To keep them, %s%s", strings.Join(open, ", "), what, pin)
	return nil
}

// pinOf is a processor that sets the version of every scope.
func pinOf(version string) string {
	return fmt.Sprintf("processors:\n  transform/pin_scope:\n    metric_statements:\n      - context: scope\n"+
		"        statements: ['set(scope.version, %q)']\n", version)
}

// measured splits the metrics pipelines to backends whose receivers measure something themselves by whether a processor sets the scope's version.
func (c *configuration) measured() (pinned, open []string) {
	for _, id := range slices.Sorted(maps.Keys(c.pipelines())) {
		pipeline := asMap(c.pipelines()[id])
		if kindOf(id) != "metrics" || !leaves(pipeline) || !slices.ContainsFunc(ids(pipeline["receivers"]), c.measures) {
			continue
		}
		if slices.ContainsFunc(ids(pipeline["processors"]), c.pins) {
			pinned = append(pinned, id)
		} else {
			open = append(open, id)
		}
	}
	return pinned, open
}

func (c *configuration) measures(receiver string) bool {
	_, connector := c.section("connectors")[receiver]
	return !connector && !slices.Contains(carriers, fold(kindOf(receiver)))
}

func (c *configuration) pins(processor string) bool {
	text := fmt.Sprint(c.section("processors")[processor])
	return kindOf(processor) == "transform" && (strings.Contains(text, "scope.version") ||
		strings.Contains(text, "context:scope") && strings.Contains(text, "set(version"))
}
