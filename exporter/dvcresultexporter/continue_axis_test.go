package dvcresultexporter

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// lossAt is a validation; without a step it is the end of its epoch.
func lossAt(at, epoch, step int, loss string) string {
	if step < 0 {
		return record("x", at, "epoch.end", fmt.Sprintf(`"epoch":%d,"measurements":{"val/loss":%s}`, epoch, loss))
	}
	return record("x", at, "phase.end", fmt.Sprintf(`"epoch":%d,"step":%d,"measurements":{"val/loss":%s}`, epoch, step, loss))
}

var unplaced = []any{map[string]any{"what": "values_without_step", "value": "val/loss"}}

var lostEpochs = map[string]struct {
	before, after []string
	table         string
	last, best    float64
	metric        map[string]any
	notes         any
}{
	"several in an epoch": {
		before: []string{lossAt(10, 0, 100, "0.9"), lossAt(20, 1, 200, "0.1"), lossAt(30, 2, 300, "0.5"), lossAt(40, 3, 400, "0.4")},
		after:  []string{lossAt(50, 4, 450, "0.6"), lossAt(60, 4, 500, "0.7")},
		table:  "step\tloss\n100\t0.9\n200\t0.1\n450\t0.6\n500\t0.7\n",
		last:   0.7, best: 200,
		metric: map[string]any{
			"axis": "step", "points": 4.0, "last": 0.7, "last_step": 500.0, "min": 0.1, "min_step": 200.0, "max": 0.9, "max_step": 100.0,
		},
		notes: unplaced,
	},
	"the epoch goes on": {
		before: []string{lossAt(10, 0, 100, "0.9"), lossAt(20, 1, 200, "0.5")},
		after:  []string{lossAt(30, 1, 250, "0.6")},
		table:  "step\tloss\n100\t0.9\n200\t0.5\n250\t0.6\n",
		last:   0.6, best: 200,
		metric: map[string]any{
			"axis": "step", "points": 3.0, "last": 0.6, "last_step": 250.0, "min": 0.5, "min_step": 200.0, "max": 0.9, "max_step": 100.0,
		},
	},
	"not finite": {
		before: []string{lossAt(10, 0, 100, "0.9"), lossAt(20, 1, 200, "NaN")},
		after:  []string{lossAt(30, 2, 250, "0.6"), lossAt(40, 2, 300, "0.7")},
		table:  "step\tloss\n100\t0.9\n250\t0.6\n300\t0.7\n",
		last:   0.7, best: 250,
		metric: map[string]any{
			"axis": "step", "points": 3.0, "last": 0.7, "last_step": 300.0, "min": 0.6, "min_step": 250.0, "max": 0.9, "max_step": 100.0,
		},
		notes: unplaced,
	},
	"without steps before": {
		before: []string{lossAt(10, 0, -1, "0.9"), lossAt(20, 1, -1, "0.1")},
		after:  []string{lossAt(30, 2, 250, "0.6"), lossAt(40, 2, 300, "0.7")},
		table:  "step\tloss\n250\t0.6\n300\t0.7\n",
		last:   0.7, best: 250,
		metric: map[string]any{
			"axis": "step", "points": 2.0, "last": 0.7, "last_step": 300.0, "min": 0.6, "min_step": 250.0, "max": 0.7, "max_step": 300.0,
		},
		notes: unplaced,
	},
	"steps begin anew": {
		before: []string{lossAt(10, 0, 100, "0.9"), lossAt(20, 1, 100, "0.1")},
		after:  []string{lossAt(30, 2, 50, "0.6"), lossAt(40, 2, 100, "0.7")},
		table:  "step\tloss\n0\t0.9\n1\t0.1\n2\t0.7\n",
		last:   0.7, best: 1,
		metric: map[string]any{
			"axis": "epoch", "points": 3.0, "last": 0.7, "last_step": 2.0, "min": 0.1, "min_step": 1.0, "max": 0.9, "max_step": 0.0,
			"at_steps": map[string]any{"last": 100.0, "min": 100.0, "max": 100.0},
		},
		notes: unplaced,
	},
}

// What the result has over epochs comes to the steps that it names, of its last, least and greatest value: there is one curve, and its last
// and its best value are right. What has no such step is left out and noted.
func TestEpochsOfALostStateComeToSteps(t *testing.T) {
	t.Parallel()
	for name, tc := range lostEpochs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := stream(append(append([]string{record("x", 0, "run.start", `"objective":{"metric":"val/loss","mode":"min"}`)}, tc.before...), tc.after...)...)
			got, doc := losingTheState(t, lines, 1+len(tc.before))
			assert.Equal(t, tc.table, got["plots/metrics/val/loss.tsv"])
			assert.NotContains(t, got, "plots/metrics/val/loss_step.tsv")
			assert.Contains(t, got["metrics.json"], fmt.Sprintf("\"loss\": %v", tc.last))
			assert.Equal(t, map[string]any{"val/loss": tc.metric}, doc["metrics"])
			assert.InDelta(t, tc.best, doc["best"].(map[string]any)["step"], 0)
			assert.Equal(t, tc.notes, doc["notes"])
		})
	}
}
