package scripts

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// standIns for all that .ci/run calls: they pass, but the target that FAIL names. A test without the real DVC is none.
const standIns = `
build: ; @mkdir -p build/otelcol-train && if [ "$(FAIL)" = folder ]; then pwd; else echo binary; fi >build/otelcol-train/otelcol-train
test image: ; @echo "$@ with REQUIRE_PACKAGES=$$OTELCOL_TRAIN_REQUIRE_PACKAGES"; [ -n "$$OTELCOL_TRAIN_REQUIRE_DVC" ] && [ "$@" != "$(FAIL)" ]
%: ; @[ "$@" != "$(FAIL)" ]
.PHONY: build test image
`

// ciIn is a folder with .ci/run and stand-ins.
func ciIn(t *testing.T, tools string) string {
	t.Helper()
	shell := "#!/bin/sh\n"
	return tree(t, []string{".ci/run"}, map[string]string{
		"Makefile": standIns, "scripts/package-test-tools": shell + tools, "scripts/each-module-alone": shell,
		"scripts/fuzz": shell + `[ "$FAIL" != fuzz ] || exit 7`, ".gitignore": "/build/\n",
	})
}

func ci(t *testing.T, dir string, env ...string) (string, int) {
	t.Helper()
	return run(t, dir, append([]string{"OTELCOL_TRAIN_REQUIRE_PACKAGES=", "OTELCOL_TRAIN_REQUIRE_DVC=", "MAKEFLAGS=", "MAKELEVEL=", "FUZZ_SECONDS=60"}, env...), ".ci/run")
}

func TestTheLastLinesOfCINameTheStepThatFailedAndWhatWasNotTested(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tools, fail string
		last        []string // how the last lines begin
		contains    string
		not         string
	}{
		"all is there, all passes": {
			"exit 0", "", []string{`== done (`}, "test with REQUIRE_PACKAGES=1\n", "FAILED",
		},
		"a target of make": {
			"exit 0", "race", []string{`.ci/run FAILED with status 2 in the step "tests with the race detector", after `}, "test with REQUIRE_PACKAGES=1\n", "== done",
		},
		"a folder's name is in the binary": {
			"exit 0", "folder", []string{`.ci/run FAILED with status 1 in the step "the same binary from another folder", after `}, "two builds differ: ", "== done",
		},
		"a script": {
			"exit 0", "fuzz", []string{`.ci/run FAILED with status 7 in the step "fuzz", after `}, "image with REQUIRE_PACKAGES=1\n", "== done",
		},
		"tools are away": {
			"exit 1", "", []string{`== done (`, `NOT ALL TESTED: packages`}, "test with REQUIRE_PACKAGES=\n", "image with",
		},
		"tools are away and a step fails": {
			"exit 1", "test", []string{`NOT ALL TESTED: packages`, `.ci/run FAILED with status 2 in the step "tests", after `}, "test with REQUIRE_PACKAGES=\n", "== done",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, status := ci(t, ciIn(t, c.tools), "FAIL="+c.fail)
			assert.Equal(t, c.fail == "", status == 0, out)
			got := last(out, len(c.last))
			require.Len(t, got, len(c.last), out)
			for i, want := range c.last {
				assert.True(t, strings.HasPrefix(got[i], want), "want %s\n%s", want, out)
			}
			assert.Contains(t, out, c.contains)
			assert.NotContains(t, out, c.not)
		})
	}
}

// TestCISaysWhatEachStepTookAndWhenAllTookTooLong; its clock, bash's SECONDS, is set forward. It says so of a run that failed, too.
func TestCISaysWhatEachStepTookAndWhenAllTookTooLong(t *testing.T) {
	t.Parallel()
	dir := ciIn(t, "exit 0")
	out, status := ci(t, dir, "SECONDS=1000")
	require.Zero(t, status, out)
	var steps []string
	for _, m := range regexp.MustCompile(`(?m)^== (.+) \(\d+ s\)$`).FindAllStringSubmatch(out, -1) {
		steps = append(steps, m[1])
	}
	require.Greater(t, len(steps), 10)
	require.Equal(t, "done", steps[len(steps)-1])
	_, table, found := strings.Cut(out, "\n== times\n")
	require.True(t, found, out)
	var timed []string
	for _, m := range regexp.MustCompile(`(?m)^ +(\d+) s  (.+)$`).FindAllStringSubmatch(table, -1) {
		timed = append(timed, m[2])
		if seconds := m[1]; m[2] == "in all" {
			assert.Regexp(t, `^10\d\d$`, seconds)
		} else {
			assert.Regexp(t, `^\d{1,2}$`, seconds, m[2])
		}
	}
	assert.Equal(t, append(append([]string{"before the first step"}, steps[:len(steps)-1]...), "in all"), timed)
	assert.NotContains(t, out, "OVER BUDGET")

	out, status = ci(t, dir, "SECONDS=3601")
	assert.Zero(t, status)
	assert.Regexp(t, `(?m)^OVER BUDGET: it took 36\d\d s, and may take 3600: `, out)
	out, status = ci(t, dir, "SECONDS=3601", "FAIL=race")
	assert.NotZero(t, status)
	assert.Regexp(t, `(?m)^OVER BUDGET: .*\n.*FAILED`, out)
	out, _ = ci(t, dir, "SECONDS=3601", "FUZZ_SECONDS=600")
	assert.NotContains(t, out, "OVER BUDGET", "more fuzzing than it does by itself")
}
