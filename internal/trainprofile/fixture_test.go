package trainprofile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"golang.org/x/tools/txtar"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// fixture is a stream of a framework, and what becomes of it. README.md describes the file.
type fixture struct {
	path, profile string
	in, out, errs []string
	alone         bool // each line is recognised by itself
}

// sameFile is the fixture that tells the one training of TestEquivalentEventsGiveTheSameSharedFields.
const sameFile = "same.txt"

func fixtures(t testing.TB, profile string) (all []fixture) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", profile, "*.txt"))
	require.NoError(t, err)
	for _, path := range paths {
		if filepath.Base(path) != sameFile {
			all = append(all, readFixture(t, path))
		}
	}
	return all
}

func readFixture(t testing.TB, path string) fixture {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	require.NoError(t, err)
	require.NotEmpty(t, strings.TrimSpace(string(archive.Comment)), "say what the case shows")
	f := fixture{path: path, profile: filepath.Base(filepath.Dir(path))}
	for _, part := range archive.Files {
		switch text := lines(string(part.Data)); part.Name {
		case "in":
			f.in = text
		case "out":
			f.out = text
		case "errors":
			f.errs = text
		case "alone":
			f.alone = true
		default:
			t.Fatalf("%s: unknown part %s", path, part.Name)
		}
	}
	return f
}

// TestProfiles maps the stream of every fixture and compares each record with what was written by hand. Objects that are
// no record afterwards are "unmapped" in the fixture. There is no way to rewrite a fixture by running a test.
func TestProfiles(t *testing.T) {
	t.Parallel()
	all := fixtures(t, "*")
	require.NotEmpty(t, all)
	for _, f := range all {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(f.path, "testdata/"), ".txt"), func(t *testing.T) {
			t.Parallel()
			got, errs := mapLines(t, embeddedSet(t), f.in, f.profile)
			want := slices.Clone(f.out)
			for i := range max(len(got), len(want)) {
				require.Less(t, i, len(got), "a record is missing: %s", want[min(i, len(want)-1)])
				require.Less(t, i, len(want), "a record too many: %s", got[min(i, len(got)-1)])
				if want[i] != "unmapped" {
					want[i] = show(record(t, want[i]))
				}
				if want[i] != got[i] {
					t.Errorf("record %d\nwant %s\ngot  %s", i+1, want[i], got[i])
				}
			}
			assert.Equal(t, f.errs, errs)
		})
	}
}

// TestEachProfileHasFixtures holds shipped profiles to two streams of different shapes, and to the one training of all.
func TestEachProfileHasFixtures(t *testing.T) {
	t.Parallel()
	profiles, err := Embedded()
	require.NoError(t, err)
	for _, p := range profiles {
		if len(p.rules) == 0 && p.unwrap == nil {
			continue // it reads attributes alone
		}
		assert.GreaterOrEqual(t, len(fixtures(t, p.Name())), 2, p.Name())
		if _, err := os.Stat(filepath.Join("testdata", p.Name(), sameFile)); p.unwrap == nil {
			assert.NoError(t, err, p.Name())
		}
	}
}

// linePrefixes are what the receiver takes off the start of a line by default.
var linePrefixes = []string{":::MLLOG ", "DLLL "}

func withoutPrefix(line string) string {
	for _, p := range linePrefixes {
		if at := strings.Index(line, p); at >= 0 && line[0] != '{' {
			line = line[at+len(p):]
		}
	}
	return line
}

// receive reads a line of a file as the receiver does; ok is false for text that is no object.
func receive(t testing.TB, line string) (lr plog.LogRecord, ok bool) {
	t.Helper()
	line = withoutPrefix(line)
	lr = plog.NewLogRecord()
	if trainrecord.NewDecoder(trainrecord.DecoderOptions{}).Decode([]byte(line), lr).Kind == trainrecord.LineError {
		return lr, false
	}
	if _, has := lr.Attributes().Get(trainrecord.AttrRunID); !has {
		lr.Attributes().PutStr(trainrecord.AttrRunID, testRun)
	}
	return lr, true
}

// textProfile reads log records with a text as body; its fixtures show them as the objects that they are made into.
const textProfile = "otlp_text"

// mapLines maps lines as one stream and gives records and errors as a fixture spells them. Lines of text are left out.
func mapLines(t testing.TB, set *Set, lines []string, profile string) (records, errs []string) {
	t.Helper()
	mapper, stream := NewMapper(nil), &Stream{}
	for i, line := range lines {
		lr, ok := receive(t, line)
		if !ok {
			continue
		}
		lr.Attributes().PutInt(trainrecord.AttrLogFileRecordOffset, int64(100*i))
		mapper.texts = profile == textProfile
		out, all := process(mapper, set, stream, lr)
		if out.Kind == Unmapped {
			records = append(records, "unmapped")
			continue
		}
		require.Equal(t, Mapped, out.Kind)
		if p := set.Profile(profile); p != nil && p.unwrap != nil {
			require.NotNil(t, out.Envelope, "line %d", i+1) // it, or one inside it
		} else {
			require.Equal(t, profile, out.Profile.Name(), "line %d", i+1)
		}
		for _, lr := range all {
			lr.Attributes().Remove(trainrecord.AttrLogFileRecordOffset)
			records = append(records, show(lr))
		}
		for _, e := range out.Errors {
			errs = append(errs, fmt.Sprintf("%d %s %s", i+1, e.Field, e.Reason))
		}
	}
	return records, errs
}
