package trainrecord

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The names of the measurements of a record are numbered, as often as not. Each is allocated once, whatever its number.
func TestNumberedNamesAreAllocatedOnce(t *testing.T) {
	w := &words{}
	var names [][]byte
	for _, format := range []string{"m%d", "loss_%d", "train/metric_%02d", "val/layer.%d.attention.out.weight_norm"} {
		for i := range 20 {
			names = append(names, fmt.Appendf(nil, format, i))
		}
	}
	read := func() {
		for _, name := range names {
			w.get(name)
		}
	}
	read()
	assert.LessOrEqual(t, testing.AllocsPerRun(100, read), 0.15*float64(len(names)))
}
