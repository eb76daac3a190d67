package scripts

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestATargetThatFailsIsNamedBesideOneOfTheSameName: two folders may call a target alike.
func TestATargetThatFailsIsNamedBesideOneOfTheSameName(t *testing.T) {
	t.Parallel()
	dir := tree(t, []string{"scripts/fuzz"}, map[string]string{
		"go.mod":                "module example.org/p\n\ngo 1.26.0\n",
		"good/p_test.go":        "package p\n\nimport \"testing\"\n\nfunc FuzzSame(f *testing.F) { f.Fuzz(func(t *testing.T, n int) {}) }\n",
		"deep/broken/p_test.go": "package p\n\nimport \"testing\"\n\nfunc FuzzSame(f *testing.F) {\n\tf.Add(1)\n\tf.Fuzz(func(t *testing.T, n int) { t.Fatal(\"why it failed\") })\n}\n",
	})
	env := []string{"GOWORK=off", "GOFLAGS="}
	out, status := run(t, dir, env, "scripts/fuzz", "2")
	assert.NotZero(t, status, out)
	assert.Contains(t, out, "why it failed")
	assert.Equal(t, []string{"fuzz targets that failed: FuzzSame in deep/broken"}, last(out, 1))
	assert.Contains(t, out, "FuzzSame: ok", "the other passes")
}

// TestTheEndOfTheTimeIsNoFailure: Go 1.26 says so of a target now and then.
func TestTheEndOfTheTimeIsNoFailure(t *testing.T) {
	t.Parallel()
	const deadline = "--- FAIL: FuzzA (2.08s)\n    context deadline exceeded\n"
	for name, c := range map[string]struct {
		said  string
		fails bool
	}{
		"that alone":                {deadline + "FAIL\nexit status 1\nFAIL\texample.org/p\t2.093s\n", false},
		"an input, too":             {deadline + "\n    Failing input written to testdata/fuzz/FuzzA/1\nFAIL\nexit status 1\n", true},
		"a target that says it":     {"--- FAIL: FuzzA (2.08s)\n    --- FAIL: FuzzA (0.00s)\n        p_test.go:7: context deadline exceeded\nFAIL\n", true},
		"it does not even compile":  {"# example.org/p\n./p_test.go:3:1: syntax error\nFAIL\texample.org/p [build failed]\n", true},
		"it says nothing and fails": {"", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tree(t, []string{"scripts/fuzz"}, map[string]string{
				"p/p_test.go": "package p\n\nfunc FuzzA() {}\n", "said": c.said, "bin/go": "#!/bin/sh\ncat ../said\nexit 1\n",
			})
			out, status := run(t, dir, []string{"PATH=" + dir + "/bin:" + os.Getenv("PATH")}, "scripts/fuzz", "2")
			assert.Equal(t, c.fails, status != 0, out)
		})
	}
}
