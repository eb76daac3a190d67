package trainprofile

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestWhatKeysSaidBeforeChangesNothing maps the rows of all fixtures by one mapper, twice, and each by a mapper that knows
// nothing.
func TestWhatKeysSaidBeforeChangesNothing(t *testing.T) {
	t.Parallel()
	set, warm := embeddedSet(t), NewMapper(nil)
	result := func(m *Mapper, line string) (all []string) {
		lr, ok := receive(t, line)
		if !ok {
			return nil
		}
		out, records := process(m, set, nil, lr)
		all = append(all, fmt.Sprint(out.Kind, out.Detected, out.Weak, out.Ambiguous, out.Errors))
		for _, lr := range records {
			all = append(all, show(lr))
		}
		return all
	}
	for range 2 {
		for _, f := range fixtures(t, "*") {
			for _, line := range f.in {
				assert.Equal(t, result(NewMapper(nil), line), result(warm, line), "%s: %s", f.path, line)
			}
		}
	}
	assert.LessOrEqual(t, len(warm.shapes), maxShapes)
	assert.NotEmpty(t, warm.shapes)
}

// TestValuesDecideAgainForEachRow has rows of one shape that different rules are for, and empty cells of a table.
func TestValuesDecideAgainForEachRow(t *testing.T) {
	t.Parallel()
	set, m, stream := embeddedSet(t), NewMapper(nil), &Stream{}
	for range 2 {
		for line, want := range map[string]string{
			`{"loss": 0.5, "learning_rate": 0.1, "epoch": 0.5, "step": 5, "eval_loss": ""}`:  "step.end",
			`{"loss": "", "learning_rate": "", "epoch": 1.0, "step": 10, "eval_loss": 0.25}`: "phase.end",
		} {
			_, all := process(m, set, stream, decode(t, line))
			assert.Contains(t, all[0].EventName(), want, line)
		}
	}
}
