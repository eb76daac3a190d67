package trainjsonlreceiver

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A file beside the folders of runs is a run that nobody meant; it is told of once.
func TestAFileBesideTheFoldersOfRunsIsToldOf(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	named := `{"ts":1790000000,"event":"log","run_id":"x","body":{}}` + "\n"
	for name, c := range map[string]struct {
		files map[string]string
		glob  string
		told  []string
	}{
		"beside":          {map[string]string{"train.jsonl": rows(0, 1), "a/train.jsonl": rows(0, 1)}, "**/*.jsonl", []string{"train.jsonl"}},
		"two of them":     {map[string]string{"b.jsonl": rows(0, 1), "c.jsonl": rows(0, 1)}, "**/*.jsonl", []string{"b.jsonl", "c.jsonl"}},
		"records name it": {map[string]string{"train.jsonl": named}, "**/*.jsonl", nil},
		"in its folder":   {map[string]string{"a/train.jsonl": rows(0, 1), "a/b/train.jsonl": rows(0, 1)}, "**/*.jsonl", nil},
		"the run's glob":  {map[string]string{"train.jsonl": rows(0, 1)}, "*.jsonl", nil},
		"the file itself": {map[string]string{"train.jsonl": rows(0, 1)}, "train.jsonl", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cfg.Include = []string{filepath.Join(r.dir, c.glob)}
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
			var told []string
			for _, entry := range r.logs.FilterMessageSnippet("beside the folders of runs").All() {
				told = append(told, filepath.Base(entry.ContextMap()["file"].(string)))
				assert.Equal(t, filepath.Base(r.dir), entry.ContextMap()["run_id"])
			}
			assert.ElementsMatch(t, c.told, told)
		})
	}
}
