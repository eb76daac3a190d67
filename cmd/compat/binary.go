package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// binary is a Collector that can be asked what it accepts.
type binary struct{ path string }

var (
	validValues = regexp.MustCompile(`\(valid values: \[([^\]]*)\]\)`)
	versionIn   = regexp.MustCompile(`version v?(\S+)`)
)

// version is what the binary writes into scope.version.
func (b binary) version(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, b.path, "--version").CombinedOutput() //nolint:gosec // the operator names it
	if err != nil {
		return "", fmt.Errorf("%s --version: %w: %s", b.path, err, lastLine(string(out)))
	}
	found := versionIn.FindStringSubmatch(string(out))
	if found == nil {
		return "", fmt.Errorf("%s --version: no version in %q", b.path, strings.TrimSpace(string(out)))
	}
	return found[1], nil
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
		found := validValues.FindStringSubmatch(out)
		if err == nil || found == nil {
			return nil, fmt.Errorf("%s does not tell which %s it accepts: %s", b.path, section, lastLine(out))
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
