package trainjsonlreceiver

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGlobsFindFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"runs/a/x.jsonl", "runs/a/y.txt", "runs/b/deep/x.jsonl", "runs/[c]/x.jsonl", "far/d/x.jsonl", "far/x.jsonl", "top.jsonl"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	for name, target := range map[string]string{
		"runs/far": "../far", "runs/up": "..", "runs/b/deep/up": "../..", "runs/a/link.jsonl": "../../top.jsonl", "runs/a/nowhere.jsonl": "gone",
		"runs/a/folder.jsonl": "../b", "runs/a/self.jsonl": "self.jsonl",
	} {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	for glob, want := range map[string]string{
		"runs/*/x.jsonl":                 "runs/[c]/x.jsonl runs/a/x.jsonl runs/far/x.jsonl",
		"runs/*/*/x.jsonl":               "runs/b/deep/x.jsonl runs/far/d/x.jsonl runs/up/far/x.jsonl",
		"runs/**/x.jsonl":                "runs/[c]/x.jsonl runs/a/x.jsonl runs/b/deep/x.jsonl",
		"runs/**/*.jsonl":                "runs/[c]/x.jsonl runs/a/link.jsonl runs/a/self.jsonl runs/a/x.jsonl runs/b/deep/x.jsonl", // it is told that self.jsonl is a loop
		"runs/b/**":                      "runs/b/deep/x.jsonl",
		"runs/far/**":                    "runs/far/d/x.jsonl runs/far/x.jsonl",
		"runs/f*/**/x.jsonl":             "runs/far/d/x.jsonl runs/far/x.jsonl",
		"runs/**/f*/x.jsonl":             "",
		"runs/{a,far}/x.jsonl":           "runs/a/x.jsonl runs/far/x.jsonl",
		"{runs/a,far/**}/x.jsonl":        "far/d/x.jsonl far/x.jsonl runs/a/x.jsonl",
		`runs/\[c\]/x.jsonl`:             "runs/[c]/x.jsonl",
		"runs/./a//x.jsonl":              "runs/a/x.jsonl",
		"top.jsonl":                      "top.jsonl",
		"top.jsonl/x.jsonl":              "",
		"runs":                           "",
		"none/*/x.jsonl":                 "",
		"runs/*/x.jsonl !**/a/*":         "runs/[c]/x.jsonl runs/far/x.jsonl",
		"runs/*/x.jsonl !runs/*/x.jsonl": "runs/[c]/x.jsonl runs/a/x.jsonl runs/far/x.jsonl", // an exclude is on the whole path
	} {
		t.Run(glob, func(t *testing.T) {
			t.Parallel()
			include, exclude, _ := strings.Cut(glob, " !")
			require.NoError(t, validateGlobs("include", []string{include, exclude + "x"}))
			paths, err := newGlobs([]string{dir + "/" + include}, []string{exclude}).find(context.Background(), osFiles{}, func(string, error) {})
			require.NoError(t, err)
			for i := range paths {
				paths[i], err = filepath.Rel(dir, paths[i])
				require.NoError(t, err)
			}
			assert.Equal(t, want, strings.Join(paths, " "))
		})
	}
}

func TestRelativeGlobsGiveRelativePaths(t *testing.T) {
	t.Parallel()
	g := newGlobs([]string{"./testdata/../gl?bs.go", "*s.go"}, []string{"names.go"})
	paths, err := g.find(context.Background(), osFiles{}, func(string, error) {})
	require.NoError(t, err)
	assert.Contains(t, paths, "globs.go")
	assert.NotContains(t, paths, "names.go")
	assert.Equal(t, candidate{path: "globs.go", real: true}, g.namer(osFiles{}).name("globs.go"))
	assert.Equal(t, candidate{path: "names.go"}, g.namer(osFiles{}).name("names.go"), "it is excluded")
}

// lockedFiles does not list folders of one name.
type lockedFiles struct{ osFiles }

func (lockedFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	if filepath.Base(name) == "locked" {
		return nil, fs.ErrPermission
	}
	return os.ReadDir(name)
}

func TestAFileWhereTheFolderOfAGlobShouldBeIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/train.jsonl", nil, 0o600))
	for _, glob := range []string{"/*", "/*/x.jsonl", "/**/*.jsonl"} {
		told := map[string]string{}
		paths, err := newGlobs([]string{dir + "/train.jsonl" + glob}, nil).
			find(context.Background(), osFiles{}, func(path string, err error) { told[path] = err.Error() })
		require.NoError(t, err, glob)
		assert.Empty(t, paths, glob)
		assert.Equal(t, map[string]string{dir + "/train.jsonl": "open " + dir + "/train.jsonl: not a directory"}, told, glob)
	}
}

func TestAFolderThatMayNotBeListedHidesNoOther(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.cfg.Include = []string{filepath.Join(r.dir, "**", "train.jsonl")}
	r.write("a/train.jsonl", rows(0, 1))
	r.write("locked/train.jsonl", rows(0, 1))
	r.write("z/train.jsonl", rows(0, 1))
	tl := r.open()
	tl.fs = lockedFiles{}
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Equal(t, map[string]int{"a": 1, "z": 1}, r.sink.runsOf())
	r.telemetry(`otelcol_train_jsonl_discovery_errors{reason="permission",receiver="train_jsonl"} 1`)
}
