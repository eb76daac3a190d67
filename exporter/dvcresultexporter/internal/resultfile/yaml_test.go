package resultfile

import (
	"encoding/json"
	"math"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

func trickyParams() object {
	return object{
		"lr": 1e-5, "big": 1e16, "momentum": 0.9, "whole": 3.0, "epochs": int64(100), "seed": "18446744073709551615",
		"no": "no", "norway": "NO", "time": "12:30:45", "date": "2024-01-01", "octal": "010", "e": "1e-05", "null": nil,
		"empty": "", "betas": []any{0.9, 0.999}, "flag": true, "none": object{}, "nothing": []any{},
		"optim": object{"name": "AdamW", "groups": []any{object{"lr": 0.1, "sub": object{"a": int64(1)}}, []any{int64(1), []any{"x"}}, []any{}}},
		"1":     "key", "a b": "sp", "<<": "merge", "~": "tilde", "key: x": "colon", "quote\"\\": "q\"\\\n\t\r\x01\x7f\u0085\u2028\ufeff\U0001F600é",
	}
}

const wantParams = `"1": "key"
"<<": "merge"
"a b": "sp"
betas:
- 0.9
- 0.999
big: 1.0e+16
date: "2024-01-01"
e: "1e-05"
empty: ""
epochs: 100
flag: true
"key: x": "colon"
lr: 1.0e-05
momentum: 0.9
"no": "no"
none: {}
norway: "NO"
nothing: []
"null": null
octal: "010"
optim:
  groups:
  - lr: 0.1
    sub:
      a: 1
  - - 1
    - - "x"
  - []
  name: "AdamW"
"quote\"\\": "q\"\\\n\t\r\x01\x7f\x85\u2028\ufeff😀é"
seed: 18446744073709551615
time: "12:30:45"
whole: 3.0
"~": "tilde"
`

func TestParamsBytes(t *testing.T) {
	t.Parallel()
	assert.Equal(t, wantParams, string(encodeYAML(trickyParams())))
}

func TestParamsMeanTheSameInYAML12(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		params := drawParams(t, 3)
		var got any
		require.NoError(t, yaml.Unmarshal(encodeYAML(params), &got))
		require.Equal(t, wantValue(params), wantValue(got))
	})
}

// drawParams makes values as records carry them: no digits beyond int64 among them, which are compared by hand above.
func drawParams(t *rapid.T, depth int) object {
	m := object{}
	for range rapid.IntRange(1, 4).Draw(t, "n") {
		key := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"lr", "no", "y", "null", "1", "1e5", "-", "a/b.c-d", "=", "? x", "# c"})).Draw(t, "key")
		m[key] = drawValue(t, depth)
	}
	return m
}

func drawValue(t *rapid.T, depth int) any {
	switch k := rapid.IntRange(0, 6).Draw(t, "kind"); {
	case k == 0 && depth > 0:
		return drawParams(t, depth-1)
	case k == 1 && depth > 0:
		var list []any
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			list = append(list, drawValue(t, depth-1))
		}
		return list
	case k == 2:
		return rapid.Int64().Draw(t, "int")
	case k == 3:
		return rapid.Float64().Draw(t, "float")
	case k == 4:
		return rapid.Bool().Draw(t, "bool")
	case k == 5:
		return nil
	default:
		return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"no", "1e-05", "12:30:45", "0x1f", "~", " x ", "- a", "a: b", "%"})).Draw(t, "text")
	}
}

// wantValue brings integers and lists to one type.
func wantValue(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = wantValue(e)
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, wantValue(e))
		}
		return out
	default:
		return v
	}
}

// PyYAML, which training code uses, reads YAML 1.1.
func TestParamsMeanTheSameInYAML11(t *testing.T) {
	t.Parallel()
	if err := exec.Command("python3", "-c", "import yaml").Run(); err != nil {
		t.Skip("python3 with PyYAML is not here")
	}
	cmd := exec.Command("python3", "-c", `import json,sys,yaml; json.dump(yaml.safe_load(sys.stdin.buffer.read()),sys.stdout)`)
	params := trickyParams()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	go func() {
		_, _ = in.Write(encodeYAML(params))
		_ = in.Close()
	}()
	out, err := cmd.Output()
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(out, &got))
	params["epochs"], params["seed"] = float64(100), 18446744073709551615.0
	groups := params["optim"].(object)["groups"].([]any)
	groups[0].(object)["sub"] = object{"a": 1.0}
	groups[1].([]any)[0] = 1.0
	assert.Equal(t, params, got)
	assert.False(t, math.IsNaN(got["lr"].(float64)))
}
