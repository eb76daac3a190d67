package scripts

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// standIns for all that .ci/run calls: they pass, but the target that FAIL names.
const standIns = `
build: ; @mkdir -p build/otelcol-train && echo binary >build/otelcol-train/otelcol-train
test image: ; @echo "$@ with REQUIRE_PACKAGES=$$OTELCOL_TRAIN_REQUIRE_PACKAGES"; [ "$@" != "$(FAIL)" ]
%: ; @[ "$@" != "$(FAIL)" ]
.PHONY: build test image
`

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
			shell := "#!/bin/sh\n"
			dir := tree(t, []string{".ci/run"}, map[string]string{
				"Makefile": standIns, "scripts/package-test-tools": shell + c.tools, "scripts/each-module-alone": shell,
				"scripts/fuzz": shell + `[ "$FAIL" != fuzz ] || exit 7`, ".gitignore": "/build/\n",
			})
			out, status := run(t, dir, []string{"FAIL=" + c.fail, "OTELCOL_TRAIN_REQUIRE_PACKAGES=", "MAKEFLAGS=", "MAKELEVEL="}, ".ci/run")
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
