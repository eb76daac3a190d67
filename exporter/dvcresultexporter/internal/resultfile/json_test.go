package resultfile

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestJSONIsCanonical(t *testing.T) {
	t.Parallel()
	got := string(encodeJSON(object{
		"z": []any{}, "a": object{}, "\u00e9": "<a href=\"x\">&\\\u2028", "B": int64(3), "f": 3.0, "e": 1e-5,
		"list": []any{int64(1), object{"k": true}}, "ctl": "\x01\n\t\x7f", "nan": math.NaN(), "inf": []any{math.Inf(1), math.Inf(-1)},
	}))
	want := `{
    "B": 3,
    "a": {},
    "ctl": "\u0001\n\t` + "\x7f" + `",
    "e": 1e-05,
    "f": 3.0,
    "inf": [
        "inf",
        "-inf"
    ],
    "list": [
        1,
        {
            "k": true
        }
    ],
    "nan": "nan",
    "z": [],
    "é": "<a href=\"x\">&\\` + "\u2028" + `"
}
`
	assert.Equal(t, want, got)
}

func TestJSONStringsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		var back map[string]string
		require.NoError(t, json.Unmarshal(encodeJSON(object{s: s}), &back))
		require.Equal(t, map[string]string{s: s}, back)
	})
}
