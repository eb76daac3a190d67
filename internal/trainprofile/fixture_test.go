package trainprofile

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

// TestProfiles maps the stream of every fixture and compares each record with what was written by hand. Objects that are
// no record afterwards are "unmapped" in the fixture. There is no way to rewrite a fixture by running a test.
func TestProfiles(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(path, "testdata/"), ".txt"), func(t *testing.T) {
			t.Parallel()
			in, want, wantErrs := readFixture(t, path)
			got, errs := mapLines(t, embeddedSet(t), in, filepath.Base(filepath.Dir(path)))
			for i := range max(len(got), len(want)) {
				require.Less(t, i, len(got), "a record is missing: %s", want[min(i, len(want)-1)])
				require.Less(t, i, len(want), "a record too many: %s", got[min(i, len(got)-1)])
				if want[i] != "unmapped" {
					want[i] = show(record(t, want[i]))
				}
				assert.Equal(t, want[i], got[i], "record %d", i+1)
			}
			assert.Equal(t, wantErrs, errs)
		})
	}
}

func readFixture(t *testing.T, path string) (in, out, errs []string) {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	require.NoError(t, err)
	require.NotEmpty(t, strings.TrimSpace(string(archive.Comment)), "say what the case shows")
	for _, f := range archive.Files {
		switch part := lines(string(f.Data)); f.Name {
		case "in":
			in = part
		case "out":
			out = part
		case "errors":
			errs = part
		default:
			t.Fatalf("unknown part %s", f.Name)
		}
	}
	return in, out, errs
}

// mapLines maps lines as one stream and gives records and errors as a fixture spells them.
func mapLines(t *testing.T, set *Set, lines []string, profile string) (records, errs []string) {
	t.Helper()
	mapper, stream := NewMapper(nil), &Stream{}
	for i, line := range lines {
		out, all := process(mapper, set, stream, decode(t, line))
		if out.Kind == Unmapped {
			records = append(records, "unmapped")
			continue
		}
		require.Equal(t, Mapped, out.Kind)
		require.Equal(t, profile, out.Profile.Name(), "line %d", i+1)
		for _, lr := range all {
			records = append(records, show(lr))
		}
		for _, e := range out.Errors {
			errs = append(errs, fmt.Sprintf("%d %s %s", i+1, e.Field, e.Reason))
		}
	}
	return records, errs
}
