package trainprofile

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

// TestLanguage shows each word of the language that no shipped profile needs: a profile, objects, records.
func TestLanguage(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/language/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			parts := map[string]string{}
			archive, err := txtar.ParseFile(path)
			require.NoError(t, err)
			for _, f := range archive.Files {
				parts[f.Name] = string(f.Data)
			}
			p, err := Parse("x.yaml", []byte(parts["profile.yaml"]))
			require.NoError(t, err)
			_, schema := readSchema(t)
			require.NoError(t, schema.Validate(asJSON(t, []byte(parts["profile.yaml"]))))
			set, err := NewSet("", p)
			require.NoError(t, err)
			in, want := lines(parts["in"]), lines(parts["out"])
			got, errs := mapLines(t, set, in, p.Name())
			for i := range want {
				if want[i] != "unmapped" {
					want[i] = show(record(t, want[i]))
				}
			}
			assert.Equal(t, want, got)
			assert.Equal(t, lines(parts["errors"]), errs)
		})
	}
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
