package dvcresultexporter

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/componentkit"
)

// longRun is an open run of four epochs and many steps.
func longRun(id string, steps int) []line {
	lines := wholeRun(id)
	end := lines[len(lines)-1].text
	lines = lines[:len(lines)-1]
	for i := range steps {
		text := record(id, 20+i, "step.end", fmt.Sprintf(`"step":%d,"measurements":{"train/step_loss":%g}`, i, math.Sin(float64(i*i))))
		lines = append(lines, line{text, int64(10_000 + i*200)})
	}
	return append(lines, line{end, 1 << 40})
}

// Without storage the runs that were touched longest ago lose points when memory is short, and nothing else.
func TestWithoutStorageRunsAreThinnedOldestFirst(t *testing.T) {
	t.Parallel()
	const steps = 4000
	read := func(limit func(g *engine) int64) (files map[string]map[string]string, thinned string) {
		files = map[string]map[string]string{}
		inBubble(t, func(t *testing.T, r *rig) {
			r.cfg.StorageID = nil
			r.start()
			defer r.stop()
			for _, id := range []string{"a", "b"} {
				lines := longRun(id, steps)
				r.feed(lines[:len(lines)-1]...)
				pass(time.Second)
			}
			r.exp.engine.mu.Lock()
			r.cfg.MaxStateBytes = componentkit.ByteSize(limit(r.exp.engine))
			r.exp.engine.shrink(t.Context())
			assert.LessOrEqual(t, r.exp.engine.size, r.exp.engine.maxState())
			r.exp.engine.mu.Unlock()
			for _, id := range []string{"a", "b"} {
				lines := longRun(id, steps)
				r.feed(lines[len(lines)-1])
				pass(time.Minute)
				files[id] = r.files(id)
			}
			thinned = r.metric("otelcol_dvc_result_thinned_runs")
			assert.Empty(t, r.metric("otelcol_dvc_result_dropped_runs"))
		})
		return files, thinned
	}
	want, none := read(func(*engine) int64 { return 1 << 30 })
	require.Empty(t, none)
	got, thinned := read(func(g *engine) int64 {
		snapshot, err := pack(g.runs["a"].fold.Snapshot())
		require.NoError(t, err)
		return g.runs["b"].fold.SizeBytes() + int64(len(snapshot))/2
	})
	assert.Equal(t, "1", thinned)
	assert.Equal(t, want["b"], got["b"], "the run that was touched last is whole")

	for _, name := range []string{"metrics.json", "params.yaml", "plots/metrics/val/loss.tsv", "plots/metrics/train/loss.tsv"} {
		assert.Equal(t, want["a"][name], got["a"][name], name)
	}
	result, whole := got["a"]["result.json"], want["a"]["result.json"]
	for _, key := range []string{"attempts", "best", "epochs", "outcome", "records", "steps"} {
		assert.Equal(t, part(t, whole, key), part(t, result, key), key)
	}
	assert.Contains(t, result, `"state_points"`)
	assert.Contains(t, result, `"thinned": true`)
	assert.NotContains(t, whole, `"thinned"`)
	schema, err := jsonschema.NewCompiler().Compile("result.schema.json")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(result))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(doc))
}

// part gives a value of a JSON object.
func part(t *testing.T, text, key string) any {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	object, ok := doc.(map[string]any)
	require.True(t, ok)
	require.Contains(t, object, key)
	return object[key]
}

func TestWithoutRoomAnOpenRunKeepsWhatItsResultSays(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.StorageID = nil
		r.cfg.MaxStateBytes = 1
		r.start()
		defer r.stop()
		for _, l := range longRun("a", 300) {
			r.feed(l)
		}
		pass(time.Minute)
		r.says("a", "success", true, false)
		assert.Equal(t, 307, r.count("a"))
		assert.Equal(t, 1, r.logs.FilterMessageSnippet("above max_state_bytes").Len(), "one line in five minutes")
		b, err := os.ReadFile(r.cfg.Directory + "/a/plots/metrics/val/loss.tsv")
		require.NoError(t, err)
		assert.Equal(t, 5, strings.Count(string(b), "\n"), "no epoch is lost")
	})
}
