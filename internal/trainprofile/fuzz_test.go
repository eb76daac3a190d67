package trainprofile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"golang.org/x/tools/txtar"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// FuzzProfile reads any text as a profile. One that is accepted must map any object of the sample without a panic; one that
// is refused must say so with the file's name in every line.
func FuzzProfile(f *testing.F) {
	paths, err := filepath.Glob("profiles/*.yaml")
	require.NoError(f, err)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(data)
	}
	paths, err = filepath.Glob("testdata/language/*.txtar")
	require.NoError(f, err)
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		require.NoError(f, err)
		f.Add(archive.Files[0].Data)
	}
	objects := sampleLines(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse("x.yaml", data)
		if err != nil {
			require.Nil(t, p)
			require.True(t, strings.HasPrefix(err.Error(), "profile x.yaml: "), err.Error())
			return
		}
		name := p.Name()
		if len(p.rules) == 0 {
			name = "" // an envelope, or a tracker, is no framework
		}
		set, err := NewSet(name, p)
		require.NoError(t, err)
		m := NewMapper(nil)
		for _, line := range objects {
			out, all := process(m, set, nil, decode(t, line))
			require.NotEqual(t, Untouched, out.Kind)
			if out.Kind == Mapped && out.Profile.unwrap == nil {
				for _, lr := range all {
					checkRecord(t, lr)
				}
			}
		}
	})
}

// FuzzMapper maps any line that decodes as an object.
func FuzzMapper(f *testing.F) {
	for _, line := range sampleLines(f) {
		f.Add([]byte(line), uint8(0))
		f.Add([]byte(line), uint8(2))
	}
	set := embeddedSet(f)
	m := NewMapper(nil)
	f.Fuzz(func(t *testing.T, line []byte, decided uint8) {
		lr := plog.NewLogRecord()
		if trainrecord.NewDecoder(trainrecord.DecoderOptions{}).Decode(line, lr).Kind != trainrecord.LineObject {
			return
		}
		stream := &Stream{}
		if n := int(decided); n > 0 && n <= len(set.profiles) {
			stream.Restore(Decision{Profile: set.profiles[n-1], Offset: -1})
		}
		before := show(lr)
		out, all := process(m, set, stream, lr)
		if out.Kind != Mapped {
			require.Equal(t, before, show(lr))
			return
		}
		for _, lr := range all {
			if out.Profile.unwrap == nil { // else it is a record as its writer wrote it
				checkRecord(t, lr)
			}
		}
	})
}

func sampleLines(t testing.TB) []string {
	t.Helper()
	var all []string
	for _, glob := range []string{"testdata/*/*.txt", "testdata/*/*.txtar"} {
		paths, err := filepath.Glob(glob)
		require.NoError(t, err)
		for _, path := range paths {
			archive, err := txtar.ParseFile(path)
			require.NoError(t, err)
			for _, f := range archive.Files {
				if f.Name == "in" {
					for _, line := range lines(string(f.Data)) {
						if _, ok := receive(t, line); ok {
							all = append(all, withoutPrefix(line))
						}
					}
				}
			}
		}
	}
	return all
}
