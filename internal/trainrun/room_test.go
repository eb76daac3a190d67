package trainrun

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheObjectiveStaysAmongAThousandGradients whose names come before its own in byte order.
func TestTheObjectiveStaysAmongAThousandGradients(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"grad_norm/layer%04d.weight", "grad_norm_layer%04d", "val/AP/class_%04d"} {
		names := make([]string, defaultLimits().series+100)
		for i := range names {
			names[i] = fmt.Sprintf("%q: 1", fmt.Sprintf(pattern, i))
		}
		for _, metric := range []string{"val/acc", "reward", "val/mAP50-95(B)", "val/loss"} {
			aim := line("run.start", 0, "", fmt.Sprintf(`"objective": {"metric": %q, "mode": "max"}`, metric))
			of := func(epoch, value int) string {
				return line("epoch.end", float64(1+epoch), "", fmt.Sprintf(`"epoch": %d, "measurements": {%s, %q: %d}`, epoch, strings.Join(names, ", "), metric, value))
			}
			lines := []string{aim, of(0, 5), of(1, 7), of(2, 6)}
			st := stateOf(t, lines...)
			require.NotNil(t, st.Best, "%s among %s", metric, pattern)
			assert.Equal(t, metric, st.Best.Metric)
			assert.Equal(t, 7.0, st.Best.Value)
			assert.Empty(t, st.Notes)
			assert.Len(t, st.Series, defaultLimits().series)
			assert.Equal(t, "series", st.Truncated[0].What)
			assert.Equal(t, int64(101), st.Truncated[0].Count)
			slices.Reverse(lines)
			assert.Equal(t, st.Best, stateOf(t, lines...).Best, "in another order")
		}
	}
}

// TestAMetricThatFoundNoRoomWasMeasured: nobody is told to mend records that are right.
func TestAMetricThatFoundNoRoomWasMeasured(t *testing.T) {
	t.Parallel()
	for _, more := range []int{50, 2 * sketchSize} {
		names := make([]string, defaultLimits().series+more)
		for i := range names {
			names[i] = fmt.Sprintf(`"a/b%05d": 1`, i)
		}
		rest := strings.Join(names, ", ")
		aim := line("run.start", 0, "", `"objective": {"metric": "z/z", "mode": "max"}`)
		st := stateOf(t, aim, line("epoch.end", 1, "", `"epoch": 0, "measurements": {`+rest+`, "z/z": 1}`))
		assert.Nil(t, st.Best)
		assert.Empty(t, st.Notes)
		if more == 50 {
			st = stateOf(t, aim, line("epoch.end", 1, "", `"epoch": 0, "measurements": {`+rest+`}`))
			assert.Equal(t, []Note{{NoteObjective, "z/z"}}, st.Notes)
		}
	}
}
