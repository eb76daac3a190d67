package resultfile

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

func ints(v ...int64) (out []*int64) {
	for i := range v {
		out = append(out, &v[i])
	}
	return out
}

// A silent run that did all that was planned says so; epochs go before steps.
func TestASilentRunSaysThatThePlanWasReached(t *testing.T) {
	t.Parallel()
	n := ints(0, 3, 4, 99, 100)
	zero, three, four, most, all := n[0], n[1], n[2], n[3], n[4]
	for name, tc := range map[string]struct {
		epochs trainrun.Epochs
		steps  trainrun.Steps
		want   bool
	}{
		"all epochs":                {trainrun.Epochs{Planned: four, Completed: four, Last: three}, trainrun.Steps{}, true},
		"one is missing":            {trainrun.Epochs{Planned: four, Completed: three, Last: three}, trainrun.Steps{}, false},
		"no plan":                   {trainrun.Epochs{Completed: four}, trainrun.Steps{Last: all}, false},
		"a plan of nothing":         {trainrun.Epochs{Planned: zero, Completed: zero}, trainrun.Steps{Planned: zero, Last: zero}, false},
		"nothing was done":          {trainrun.Epochs{Planned: four}, trainrun.Steps{Planned: all}, false},
		"all steps":                 {trainrun.Epochs{Completed: zero}, trainrun.Steps{Planned: all, Last: all}, true},
		"all steps, from 0":         {trainrun.Epochs{}, trainrun.Steps{Planned: all, Last: most, FromZero: true}, true},
		"some steps":                {trainrun.Epochs{}, trainrun.Steps{Planned: all, Last: most}, false},
		"all steps, not all epochs": {trainrun.Epochs{Planned: four, Completed: three}, trainrun.Steps{Planned: all, Last: all}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := &trainrun.State{RunID: "r", Epochs: tc.epochs, Steps: tc.steps}
			got := byName(Render(st, Verdict{Final: true, Provisional: true, Outcome: "stalled", From: "silence"}, options))
			checkSchema(t, []byte(got[ResultName]))
			var doc struct {
				Reached *bool `json:"planned_reached"`
			}
			require.NoError(t, json.Unmarshal([]byte(got[ResultName]), &doc))
			if !tc.want {
				assert.Nil(t, doc.Reached, "absent, never false")
				return
			}
			assert.Equal(t, &tc.want, doc.Reached)
		})
	}
}

// A curve of which the records, or the memory, hold some points only is marked, and no other is.
func TestCurvesWithSomePointsOnlySaySo(t *testing.T) {
	t.Parallel()
	sampled, thinned := curve("", "sampled", 1), curve("", "thinned", 1)
	sampled.Sampled, thinned.Thinned = true, true
	st := &trainrun.State{RunID: "r", Sampled: true, Series: []trainrun.Series{curve("", "all", 1), sampled, thinned}}
	got := byName(Render(st, ended, options))
	checkSchema(t, []byte(got[ResultName]))
	var doc struct {
		Sampled bool
		Metrics map[string]struct{ Sampled, Thinned bool }
	}
	require.NoError(t, json.Unmarshal([]byte(got[ResultName]), &doc))
	assert.True(t, doc.Sampled)
	assert.Equal(t, map[string]struct{ Sampled, Thinned bool }{"all": {}, "sampled": {Sampled: true}, "thinned": {Thinned: true}}, doc.Metrics)
}

// A mark in the middle of a table that is full keeps its place: the best of the surviving curve need not be its least.
func TestTheBestPointIsInAShortenedTable(t *testing.T) {
	t.Parallel()
	values := make([]float64, 500)
	for i := range values {
		values[i] = 1
	}
	values[0], values[499] = 5, 0.25
	st := &trainrun.State{
		RunID: "r", Series: []trainrun.Series{curve("", "val/loss", values...)},
		Best: &trainrun.Best{Metric: "val/loss", Mode: "min", Value: 1, X: 123},
	}
	got := byName(Render(st, ended, Options{MaxPoints: 10}))
	assert.Contains(t, got["plots/metrics/val/loss.tsv"], "\n123\t1.0\n")
}
