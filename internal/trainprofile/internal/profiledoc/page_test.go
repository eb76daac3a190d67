package profiledoc

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainprofile"
)

// TestPagesAreCurrent compares docs/frameworks with what make docs would write.
func TestPagesAreCurrent(t *testing.T) {
	t.Parallel()
	pages, err := Pages("../..")
	require.NoError(t, err)
	dir := filepath.Join("..", "..", "..", "..", "docs", "frameworks")
	files, err := filepath.Glob(filepath.Join(dir, "*.md"))
	require.NoError(t, err)
	assert.Len(t, files, len(pages), "run make docs")
	for name, page := range pages {
		have, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err, "run make docs")
		assert.Equal(t, string(page), string(have), "%s: run make docs", name)
	}
}

// TestTheTableHasNoGap wants of every framework and fact either a fixture that shows it or the reason why there is none.
func TestTheTableHasNoGap(t *testing.T) {
	t.Parallel()
	all, err := read("../..")
	require.NoError(t, err)
	for _, p := range all {
		for _, fact := range trainprofile.Facts {
			if p.rows() {
				assert.NotEqual(t, notYet, p.cell(fact), "profile %s: show %s in a fixture, or say under without why the framework does not tell it", p.Name, fact)
			}
		}
	}
}

func TestAFactThatAFixtureShowsIsNotDenied(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, text := range map[string]string{
		"profiles/x.yaml":   "profile: x\nframework: other\ndetect: {sure: {has: [it]}}\nrules: [{name: a, event: step.end, set: {step: it}}]\nwithout: {step: none}\n",
		"testdata/x/a.txt":  "A row.\n-- in --\n{\"it\": 1}\n-- out --\n{}\n",
		"testdata/x/b.text": "",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644))
	}
	_, err := Pages(dir)
	assert.EqualError(t, err, `profile x: without.step says "none", but a fixture shows it`)
}
