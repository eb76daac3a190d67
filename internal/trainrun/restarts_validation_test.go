package trainrun

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestATrainingBeginsWithTheValidationOfItsFirstEpoch: it comes before the end of the epoch.
func TestATrainingBeginsWithTheValidationOfItsFirstEpoch(t *testing.T) {
	t.Parallel()
	text := func(at float64, l string) []string {
		return []string{accuracy(at, 0, l), epoch(at+1, "", 0, l), accuracy(at+2, 1, l), epoch(at+3, "", 1, l)}
	}
	a, b := text(0, "9"), text(1000, "8")
	for name, f := range map[string]*Fold{
		"appended":        foldOf(readStream(t, append(append(append([]string(nil), a...), success(500)), b...)...)),
		"another file":    foldOf(file(1, 0, 0, readStream(t, a...)), file(2, 0, 0, readStream(t, b...))),
		"written anew":    foldOf(rewritten(t, a, b)...),
		"evaluated, then": foldOf(readStream(t, append(append(append([]string(nil), a...), success(500), accuracy(600, 1, "7")), b...)...)),
	} {
		st := f.State()
		assert.Equal(t, "0:8 1:8", curve(seriesOf(st, "", "val/acc", AxisEpoch)), name)
		assert.Len(t, st.Attempts, 2, name)
	}
}
