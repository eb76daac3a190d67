package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// binary is a Collector that can be asked what it accepts.
type binary struct {
	path   string
	option string // that names it
}

var (
	validValues = regexp.MustCompile(`\(valid values: \[([^\]]*)\]\)`)
	versionIn   = regexp.MustCompile(`(?m)^\S+ version v?(\S+)\s*$`)
)

// version is what the binary writes into scope.version.
func (b binary) version(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, b.path, "--version").CombinedOutput() //nolint:gosec // the operator names it
	if failed := b.cannotRun(ctx, err); failed != nil {
		return "", failed
	}
	said := fmt.Sprintf("%q", lastLine(string(out)))
	if err != nil {
		said += ", " + err.Error()
	}
	found := versionIn.FindStringSubmatch(string(out))
	if err != nil || found == nil {
		return "", fmt.Errorf("%s --version tells no version (%s): name a Collector with %s", b.path, said, b.option)
	}
	return found[1], nil
}

// cannotRun makes of what kept a binary from starting what to do about it; one that ran and ended otherwise has spoken for itself.
func (b binary) cannotRun(ctx context.Context, err error) error {
	var ended *exec.ExitError
	if err == nil || errors.As(err, &ended) || ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%s cannot be run (%w): name the Collector with %s", b.path, cause(err), b.option)
}

// validate gives the binary's verdict on a configuration.
func (b binary) validate(ctx context.Context, uris ...string) (string, error) {
	args := []string{"validate"}
	for _, uri := range uris {
		args = append(args, "--config", uri)
	}
	out, err := exec.CommandContext(ctx, b.path, args...).CombinedOutput() //nolint:gosec // the operator names it
	return string(out), err
}

// accepted asks for the names that the binary takes, aliases included: its error for an unknown type lists them, `components` does not.
func (b binary) accepted(ctx context.Context) (map[string][]string, error) {
	accepted := map[string][]string{}
	for _, section := range sections {
		out, err := b.validate(ctx, fmt.Sprintf("yaml:%s: {no_such_type: {}}", section))
		if failed := b.cannotRun(ctx, err); failed != nil {
			return nil, failed
		}
		found := validValues.FindStringSubmatch(out)
		if err == nil || found == nil {
			return nil, fmt.Errorf("%s does not tell which %s it accepts (%q): name a Collector with %s", b.path, section, lastLine(out), b.option)
		}
		accepted[section] = strings.Fields(found[1])
		slices.Sort(accepted[section])
	}
	return accepted, nil
}

// discovers says whether the prometheus receiver of the binary knows a kind of service discovery.
func (b binary) discovers(ctx context.Context, key string) bool {
	out, _ := b.validate(ctx, fmt.Sprintf("yaml:receivers: {prometheus: {config: {scrape_configs: [{job_name: probe, %s: []}]}}}", key))
	return !strings.Contains(out, "field "+key+" not found")
}

func lastLine(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
