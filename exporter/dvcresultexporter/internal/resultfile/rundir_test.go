package resultfile

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRunDirectory(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"7f3a9c":                      "7f3a9c",
		"run_1.a-b":                   "run_1.a-b",
		"a":                           "a",
		"":                            "",
		"../../etc/passwd":            "etc-passwd-3754d6cb3a38",
		"..":                          "run-" + hash("..", 12),
		"a..b":                        "a-b-" + hash("a..b", 12),
		"Run 1":                       "run-1-" + hash("Run 1", 12),
		"con":                         "con-" + hash("con", 12),
		"nul.txt":                     "nul-txt-" + hash("nul.txt", 12),
		"com10":                       "com10",
		"dvc.yaml":                    "dvc-yaml-" + hash("dvc.yaml", 12),
		"model.dvc":                   "model-dvc-" + hash("model.dvc", 12),
		"dvc.lock":                    "dvc.lock",
		"trailing.":                   "trailing-" + hash("trailing.", 12),
		".dvc_result":                 "dvc_result-" + hash(".dvc_result", 12),
		"x-0123456789ab":              "x-0123456789ab-" + hash("x-0123456789ab", 12),
		"実験":                          "run-" + hash("実験", 12),
		"a\x00b\n":                    "a-b-" + hash("a\x00b\n", 12),
		strings.Repeat("a", 80):       strings.Repeat("a", 80),
		strings.Repeat("a", 81):       strings.Repeat("a", 40) + "-" + hash(strings.Repeat("a", 81), 12),
		"C:\\Windows\\System32\\x.ps": "c-windows-system32-x-ps-" + hash("C:\\Windows\\System32\\x.ps", 12),
	} {
		assert.Equal(t, want, RunDirectory(id), "%q", id)
	}
}

func TestDistinctRunIDsHaveDistinctHarmlessDirectories(t *testing.T) {
	t.Parallel()
	harmless := regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,79}$`)
	part := rapid.SampledFrom([]string{"a", "A", "run", "-", "..", "/", ".", "é", "e\u0301", "\x00", "con", "0123456789ab", " ", "\\"})
	id := rapid.OneOf(rapid.StringN(1, -1, 200), rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 1, 6).Draw(t, "parts"), "")
	}), rapid.Custom(func(t *rapid.T) string { // the name of another id, to forge it
		return RunDirectory(rapid.StringN(1, 20, 100).Draw(t, "victim"))
	}))
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(id, 2, 20, rapid.ID).Draw(t, "ids")
		owner := map[string]string{}
		for _, id := range ids {
			name := RunDirectory(id)
			require.Equal(t, name, RunDirectory(id))
			require.Regexp(t, harmless, name)
			require.NotContains(t, name, "..")
			require.False(t, takenName.MatchString(name), name)
			if other, taken := owner[name]; taken {
				t.Fatalf("%q and %q share %s", id, other, name)
			}
			owner[name] = id
		}
	})
}
