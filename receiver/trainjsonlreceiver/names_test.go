package trainjsonlreceiver

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func TestExcludeIsOnThePathHoweverItIsSpelled(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, exclude := range []string{"/old/*.jsonl", "//old/*.jsonl", "/./old//*.jsonl", "/run7/../old/*.jsonl"} {
		r := newRig(t)
		r.cfg.Exclude = []string{r.dir + exclude}
		r.write("old/train.jsonl", rows(0, 1))
		r.write("run7/train.jsonl", rows(0, 1))
		tl := r.open()
		tl.step(ctx)
		require.NoError(t, tl.close(ctx))
		assert.Equal(t, map[string]int{"run7": 1}, r.sink.runsOf(), exclude)
	}
	g := newGlobs([]string{"./*s.go"}, []string{"./names.go"})
	paths, err := g.find(ctx, osFiles{}, func(string, error) {})
	require.NoError(t, err)
	assert.Contains(t, paths, "globs.go")
	assert.NotContains(t, paths, "names.go")
}

func TestAGlobThroughTheWholeFileSystemIsRefused(t *testing.T) {
	t.Parallel()
	for glob, refused := range map[string]bool{
		"/**/*.jsonl": true, "//**/train.jsonl": true, "/**": true, "/runs/../**/*.jsonl": true, "/{**,x}/train.jsonl": true,
		"/data/**/*.jsonl": false, "/*/train.jsonl": false, "**/*.jsonl": false, "./**/*.jsonl": false, "/*/**/x.jsonl": false,
	} {
		cfg := createDefaultConfig().(*Config)
		cfg.Include = []string{glob}
		if err := cfg.Validate(); refused {
			assert.ErrorContains(t, err, "include: ", glob)
			assert.ErrorContains(t, err, "name a folder; is a variable in it empty?", glob)
		} else {
			assert.NoError(t, err, glob)
		}
	}
}

func TestAFolderWhoseNameIsTakenForAPatternIsTold(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for folder, escaped := range map[string]string{"runs[1]": `runs\[1\]`, "runs{a,b}": `runs\{a,b\}`, "ok": "", "runs(1)": ""} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.write(folder+"/run7/train.jsonl", rows(0, 1))
			r.cfg.Include = []string{filepath.Join(r.dir, folder, "*", "train.jsonl")}
			for range 2 {
				tl := r.open()
				tl.step(ctx)
				tl.step(ctx)
				require.NoError(t, tl.close(ctx))
			}
			told := r.logs.FilterMessageSnippet("are a pattern").All()
			if escaped == "" {
				assert.Empty(t, told)
				assert.NotEmpty(t, r.sink.got())
				return
			}
			require.Len(t, told, 2, "once a start")
			write := filepath.Join(escapes.Replace(r.dir), escaped, "*", "train.jsonl") // the test's folder has its name
			assert.Equal(t, map[string]any{"include": r.cfg.Include[0], "path": filepath.Join(r.dir, folder), "write": write}, told[0].ContextMap())
			assert.Empty(t, r.sink.got())
			r.cfg.Include = []string{write}
			tl := r.open()
			tl.step(ctx)
			require.NoError(t, tl.close(ctx))
			assert.Equal(t, map[string]int{"run7": 1}, r.sink.runsOf())
		})
	}
}

func TestSpellingsOfGlobs(t *testing.T) {
	t.Parallel()
	for glob, want := range map[string]string{
		"/data/runs[1]/x{a}/t.jsonl":  `/data/runs[1]=/data/runs\[1\]/x{a}/t.jsonl /data/runs[1]/x{a}=/data/runs\[1\]/x\{a\}/t.jsonl`,
		"runs[a-c]/*/t[1].jsonl":      `runs[a-c]=runs\[a-c\]/*/t[1].jsonl`,
		"/data/*/runs[1]/train.jsonl": "",
		`/data/runs\[1\]/train.jsonl`: "",
	} {
		var got []string
		for _, s := range spellings(glob) {
			got = append(got, s.path+"="+s.escaped)
		}
		assert.Equal(t, want, strings.Join(got, " "), glob)
	}
}

func TestFoldersThatAreNoTextAreRunsOfTheirOwn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	for _, folder := range []string{"run\xff", "run\xfe", "run\xe9\xe9", "run%FF", "run%25FF", "run%20é"} {
		r.write(folder+"/train.jsonl", rows(0, 1))
	}
	tl := r.open()
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Equal(t, map[string]int{"run%FF": 1, "run%FE": 1, "run%E9%E9": 1, "run%25FF": 1, "run%2525FF": 1, "run%20é": 1}, r.sink.runsOf())
}

func TestFoldersOfOneNameAreToldOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	named := `{"ts":1790000000,"event":"log","run_id":"x","body":{"i":1}}` + "\n"
	for name, c := range map[string]struct {
		files map[string]string
		regex string
		told  int
	}{
		"one name":            {files: map[string]string{"a/logs/train.jsonl": rows(0, 1), "b/logs/train.jsonl": rows(0, 1), "c/logs/train.jsonl": rows(0, 1)}, told: 1},
		"two names":           {files: map[string]string{"a/logs/t.jsonl": rows(0, 1), "b/logs/t.jsonl": rows(0, 1), "a/out/t.jsonl": rows(0, 1), "b/out/t.jsonl": rows(0, 1)}, told: 2},
		"ranks of a run":      {files: map[string]string{"a/logs/rank0.jsonl": rows(0, 1), "a/logs/rank1.jsonl": rows(0, 1)}},
		"other names":         {files: map[string]string{"a/r1/train.jsonl": rows(0, 1), "b/r2/train.jsonl": rows(0, 1)}},
		"records name it":     {files: map[string]string{"a/logs/train.jsonl": named, "b/logs/train.jsonl": named}},
		"one of them does":    {files: map[string]string{"a/logs/train.jsonl": named, "b/logs/train.jsonl": rows(0, 1)}},
		"by path_regex":       {files: map[string]string{"r/0/train.jsonl": rows(0, 1), "r/1/train.jsonl": rows(0, 1)}, regex: `(?P<run_id>[^/]+)/(?P<rank>\d)/train`},
		"path_regex does not": {files: map[string]string{"a/logs/t.jsonl": rows(0, 1), "b/logs/t.jsonl": rows(0, 1)}, regex: `(?P<run_id>[^/]+)/(?P<rank>\d)/train`, told: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cfg.Include = []string{filepath.Join(r.dir, "**", "*.jsonl")}
			r.cfg.RunID.PathRegex = c.regex
			for file, text := range c.files {
				r.write(file, text)
			}
			tl := r.open()
			tl.step(ctx)
			for file, text := range c.files {
				r.append(file, text)
			}
			tl.step(ctx)
			require.NoError(t, tl.close(ctx))
			told := r.logs.FilterMessageSnippet("Two folders of one name").All()
			require.Len(t, told, c.told)
			for _, entry := range told {
				fields := entry.ContextMap()
				assert.NotEqual(t, fields["file"], fields["other_file"])
				assert.Equal(t, fields["run_id"], filepath.Base(filepath.Dir(fields["file"].(string))))
				assert.Equal(t, fields["run_id"], filepath.Base(filepath.Dir(fields["other_file"].(string))))
			}
		})
	}
}

func TestARunIDThatIsTooLongIsNone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	longest, tooLong := strings.Repeat("x", trainrecord.MaxRunID), strings.Repeat("x", trainrecord.MaxRunID+1)
	for _, run := range []string{longest, tooLong} {
		r.append("run7/train.jsonl", `{"ts":1790000000,"event":"log","run_id":"`+run+`","body":{}}`+"\n"+`{"loss":1,"run_id":"`+run+`"}`+"\n")
	}
	tl := r.open()
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	require.Len(t, r.sink.got(), 4)
	for i, g := range r.sink.got() {
		assert.LessOrEqual(t, len(g.run), trainrecord.MaxRunID)
		assert.Equal(t, i >= 2, g.reason == string(trainrecord.ReasonWrongType), i)
	}
}
