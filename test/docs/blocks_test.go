package docs

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/markdown"
)

var sections = []string{"receivers", "processors", "exporters", "connectors", "extensions", "service"}

// TestConfigurationsOnPagesAreValid over the configuration of a training host, and on the page about the swap over that of the host of today.
func TestConfigurationsOnPagesAreValid(t *testing.T) {
	t.Parallel()
	host := collector.Shipped(t, "host-training.yaml")
	checked := 0
	for name, text := range handbook(t) {
		for n, block := range markdown.Blocks(text, "yaml") {
			var m map[string]any
			require.NoError(t, yaml.Unmarshal([]byte(block), &m), "%s, block %d", name, n)
			for _, key := range slices.Sorted(maps.Keys(m)) {
				assert.Contains(t, sections, key, "%s, block %d: not a part of a Collector's configuration", name, n)
			}
			checked++
			t.Run(fmt.Sprintf("%s %d", name, n), func(t *testing.T) {
				t.Parallel()
				policy := collector.Shipped(t, "policy/training.yaml")
				local := strings.ReplaceAll(block, "/etc/otelcol-train/policy/training.yaml", policy) // where the package puts it
				below := host
				if name == "docs/replace-host-collector.md" {
					below = collector.Shipped(t, "host-dcgm-netdata.yaml") // which the host has there
				}
				out, err := collector.Validate(t, collector.Options{Configs: []string{below}, YAML: local})
				require.NoError(t, err, "%s\n%s", block, out)
			})
		}
	}
	assert.Greater(t, checked, 5)
}

// TestShippedConfigurationsAndOverlaysAreValid, the overlays over the configuration that they name.
func TestShippedConfigurationsAndOverlaysAreValid(t *testing.T) {
	t.Parallel()
	config := filepath.Join(collector.Root(t), "config")
	alone, err := filepath.Glob(filepath.Join(config, "*.yaml"))
	require.NoError(t, err)
	overlays, err := filepath.Glob(filepath.Join(config, "overlays", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, overlays)
	env := map[string]string{"NODE_NAME": "node", "GATEWAY_ID": "gateway"}
	for _, path := range alone {
		out, err := collector.Validate(t, collector.Options{Configs: []string{path}, Env: env})
		assert.NoError(t, err, "%s: %s", path, out)
	}
	for _, path := range overlays {
		out, err := collector.Validate(t, collector.Options{
			Configs: []string{filepath.Join(config, "host-training.yaml"), path}, Env: env,
			YAML: "receivers: {host_metrics: {root_path: /}}", // a node's root is mounted in a pod only
		})
		assert.NoError(t, err, "%s: %s", path, out)
	}
}

var (
	targets    = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
	configArg  = regexp.MustCompile(`--config[= ](\S+)`)
	repoPath   = regexp.MustCompile(`\b(?:config|packaging|monitoring|docs|test|scripts)/[\w./-]*\w`)
	separator  = regexp.MustCompile(`&&|\|\||[|;]`)
	assignment = regexp.MustCompile(`^[A-Z_]+=`)
	// tools are what a host, a cluster or a developer has.
	tools = []string{
		"[", "cat", "cd", "cp", "curl", "dpkg", "export", "git", "grep", "install", "journalctl", "kubectl", "make", "otelcol-contrib", "pip", "python3", "rm", "rpm", "systemctl",
		"dvc", "go", "otelcol-train", "otelcol-train-compat", "trainsummary", "build/otelcol-train/otelcol-train",
	}
)

// commands splits a shell block into its commands.
func commands(block string) [][]string {
	joined := strings.ReplaceAll(block, "\\\n", " ")
	var out [][]string
	for line := range strings.Lines(joined) {
		line, _, _ = strings.Cut(line, " #")
		for _, part := range separator.Split(line, -1) {
			words := strings.Fields(part)
			for len(words) > 0 && assignment.MatchString(words[0]) {
				words = words[1:]
			}
			if len(words) > 0 && !strings.HasPrefix(words[0], "#") {
				out = append(out, words)
			}
		}
	}
	return out
}

// TestCommandsOnPagesExist: a shell can read them, targets of make and paths are there, and configurations named are valid.
func TestCommandsOnPagesExist(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(collector.Root(t), "Makefile"))
	require.NoError(t, err)
	var known []string
	for _, found := range targets.FindAllStringSubmatch(string(makefile), -1) {
		known = append(known, found[1])
	}
	for name, text := range handbook(t) {
		if name == "docs/trainers.md" || name == "docs/agents.md" {
			continue // test/e2e and test/summary run their blocks as they stand
		}
		for n, block := range markdown.Blocks(text, "sh") {
			where := fmt.Sprintf("%s, block %d", name, n)
			out, err := exec.Command("sh", "-n", "-c", block).CombinedOutput() //nolint:gosec // it is only read
			require.NoError(t, err, "%s: %s", where, out)
			for _, words := range commands(block) {
				assert.Contains(t, tools, words[0], "%s: %v", where, words)
				if words[0] == "make" {
					for _, target := range words[1:] {
						assert.True(t, strings.Contains(target, "=") || slices.Contains(known, target), "%s: make %s", where, target)
					}
				}
			}
		}
		for _, path := range repoPath.FindAllString(strings.Join(append(markdown.Blocks(text, "sh"), inline(text)...), "\n"), -1) {
			assert.True(t, exists(t, path), "%s: %s", name, path)
		}
		for _, call := range inline(text) {
			if !strings.HasPrefix(call, "otelcol-train --config") {
				continue
			}
			for _, found := range configArg.FindAllStringSubmatch(call, -1) {
				assert.True(t, exists(t, found[1]), "%s: %s", name, call)
			}
		}
	}
}

// inline is the code within lines of text.
func inline(text string) []string {
	var out []string
	for _, found := range code.FindAllString(markdown.Prose(text), -1) {
		out = append(out, strings.Trim(found, "`"))
	}
	return out
}
