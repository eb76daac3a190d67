package resultfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// chain nests a value in mappings and lists: each is a line, or a part of one, of its own.
func chain(kinds []bool, v any) any {
	for _, isList := range kinds {
		if isList {
			v = []any{v}
		} else {
			v = object{"k": v}
		}
	}
	return v
}

func TestDeepParamsKeepTheLimit(t *testing.T) {
	t.Parallel()
	for name, kinds := range map[string][]bool{"mappings": make([]bool, 30), "mappings and lists": {
		false, true, false, true, false, true, false, true, false, true, false, true, false, true, false, true, false, true, false, true, false,
	}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			params := object{}
			for i := range 400 {
				params[fmt.Sprintf("p%03d", i)] = chain(kinds, strings.Repeat("x", 800))
			}
			cut := &cuts{}
			got := paramsOf(params, cut)
			assert.LessOrEqual(t, len(got.File), maxParamsSize)
			assert.Greater(t, len(got.File), maxParamsSize*3/4)
			assert.Contains(t, cut.object(), "params")
		})
	}
}

func TestNoParamsAreLargerThanWasCounted(t *testing.T) {
	t.Parallel()
	value := rapid.SampledFrom([]any{int64(1), 1e-5, true, nil, "", "é\x00\"", object{}, []any{}})
	rapid.Check(t, func(t *rapid.T) {
		params := object{}
		for i, kinds := range rapid.SliceOfN(rapid.SliceOfN(rapid.Bool(), 0, 12), 1, 6).Draw(t, "kinds") {
			params[fmt.Sprint("p", i)] = chain(kinds, []any{value.Draw(t, "a"), object{"x": value.Draw(t, "b"), "y": value.Draw(t, "c")}})
		}
		p := pruner{left: maxParamsSize, cut: &cuts{}}
		kept := p.prune(params, "", 0)
		require.Equal(t, params, kept)
		require.LessOrEqual(t, len(encodeYAML(params)), maxParamsSize-p.left)
	})
}
