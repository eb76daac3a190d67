package trainprofile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
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

// FuzzMapper maps any line that decodes as an object: as a body, as attributes beside a text and as text, with nothing known of its
// stream or decided before, and its keys as attributes of every signal.
func FuzzMapper(f *testing.F) {
	for i, line := range sampleLines(f) { // few of each: before it fuzzes, Go runs them all
		f.Add([]byte(line), uint8(i%2*i), uint8(i%forms))
		if hostile := hostileLines(f, line); len(hostile) > 0 && i%2 == 0 { // all are in TestHostileRowsInEveryForm
			f.Add([]byte(hostile[i%len(hostile)]), uint8(0), uint8(i/2%forms))
		}
	}
	for i, line := range renameCycles {
		f.Add([]byte(line), uint8(i), uint8(asBody))
	}
	set := embeddedSet(f)
	m := NewMapper(nil)
	f.Fuzz(func(t *testing.T, line []byte, decided, form uint8) {
		lr, ok := formed(line, int(form)%forms)
		if !ok {
			return
		}
		stream := &Stream{}
		if n := int(decided); n > 0 && n <= len(set.profiles) {
			stream.Restore(Decision{Profile: set.profiles[n-1], Offset: -1})
		}
		checkForm(t, m, set, stream, lr)
		if lr, ok := formed(line, asBody); ok {
			checkAttributes(t, m, set, lr.Body().Map(), string(line[:min(len(line), 20)]))
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
