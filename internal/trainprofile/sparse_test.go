package trainprofile

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// TestEmptyCellsAreNoKeys has rows of a table so wide that keys are looked up in an index, and such as lie in a logger's line.
func TestEmptyCellsAreNoKeys(t *testing.T) {
	t.Parallel()
	cells := ""
	for i := range 2 * indexFrom {
		cells += fmt.Sprintf(`"train_m%d_epoch": %s, `, i, []string{`""`, `null`, `"  "`}[i%3])
	}
	cells += `"epoch": "", "lr-Adam": "0.25", "step": "7"}`
	for name, line := range map[string]string{
		"wide":      `{` + cells,
		"in a line": `{"asctime": "2026-11-07 10:05:00,000", "levelname": "INFO", "name": "train", "message": "row", ` + cells,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := embeddedSet(t)
			lr := decode(t, line)
			out, _ := process(NewMapper(nil), set, nil, lr)
			require.Equal(t, Mapped, out.Kind)
			require.Equal(t, "lightning", out.Profile.Name())
			assert.Empty(t, out.Errors)
			body := lr.Body().Map().AsRaw()
			assert.Equal(t, int64(7), body[trainrecord.BodyStep])
			assert.Equal(t, map[string]any{"Adam": 0.25}, body[trainrecord.BodyLearningRate])
			assert.NotContains(t, body, trainrecord.BodyEpoch)
			assert.NotContains(t, body[trainrecord.BodyFramework], "train_m0_epoch")
			assert.Contains(t, body[trainrecord.BodyFramework], "train_m1_epoch")
			assert.NotContains(t, body, trainrecord.BodyMeasurements)
		})
	}
}
