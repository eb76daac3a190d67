package mcpserver

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestACurveOfAPartIsNamedWithIt where other parts have one of the same name.
func TestACurveOfAPartIsNamedWithIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "t.jsonl")
	for i := range 2 {
		write(t, path, fmt.Sprintf(`{"ts":%q,"event":"epoch.end","run_id":"cv","part":"fold=%d","body":{"epoch":0,"measurements":{"val/loss":%d,"only%d":7}}}`+"\n",
			time.Now().UTC().Format(time.RFC3339Nano), i, i, i))
	}
	write(t, path, record("own", "epoch.end", `"epoch":0,"measurements":{"val/loss":5}`))
	c := connect(t, dir, nil)
	m, _ := call(t, c, "get_metric", map[string]any{"run": "cv", "metric": "fold=1 val/loss"})
	assert.Equal(t, []any{[]any{0.0, 1.0}}, m["points"])
	assert.Equal(t, "fold=1", m["part"])
	m, _ = call(t, c, "get_metric", map[string]any{"run": "cv", "metric": "only0"})
	assert.Equal(t, "fold=0", m["part"], "no other part has one of this name")
	_, text := call(t, c, "get_metric", map[string]any{"run": "cv", "metric": "val/loss"})
	assert.Contains(t, text, "several parts")
	assert.Contains(t, text, `"measured":["fold=0 only0","fold=0 val/loss","fold=1 only1","fold=1 val/loss"]`)
	m, _ = call(t, c, "get_metric", map[string]any{"run": "own", "metric": "val/loss"})
	assert.NotContains(t, m, "part")
}

// TestACurveOnTwoAxes says on which the answer is, and on which there is another; each of them can be asked for.
func TestACurveOnTwoAxes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "t.jsonl"), record("r", "step.end", `"step":3,"measurements":{"loss":4,"loss_step":9,"acc":1}`)+
		record("r", "epoch.end", `"epoch":0,"measurements":{"loss":2}`))
	c := connect(t, dir, nil)
	for _, want := range []struct {
		metric, axis, answered string
		other                  any
		x, y                   float64
	}{
		{"loss", "", "epoch", []any{"step"}, 0, 2},
		{"loss", "epoch", "epoch", []any{"step"}, 0, 2},
		{"loss", "step", "step", []any{"epoch"}, 3, 4},
		{"loss_step", "", "step", nil, 3, 9}, // the trainer's own name goes before the one that a document shows
		{"acc", "", "step", nil, 3, 1},
	} {
		in := map[string]any{"run": "r", "metric": want.metric}
		if want.axis != "" {
			in["axis"] = want.axis
		}
		m, text := call(t, c, "get_metric", in)
		assert.Empty(t, text)
		assert.Equal(t, []any{want.answered, want.other, []any{[]any{want.x, want.y}}}, []any{m["axis"], m["other_axes"], m["points"]}, "%v", in)
	}
	_, text := call(t, c, "get_metric", map[string]any{"run": "r", "metric": "acc", "axis": "epoch"})
	assert.Contains(t, text, "on this axis")
	assert.Contains(t, text, `"measured":["acc","loss","loss_step","loss_step"]`)
	_, text = call(t, c, "get_metric", map[string]any{"run": "r", "metric": "acc", "axis": "time"})
	assert.Contains(t, text, "axis: want one of epoch, step, order")
}
