package resultfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

func hashOf(keys ...string) string { return "-" + hash(strings.Join(keys, "\x00"), 8) }

func TestNamesOfParams(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		told, want object
		renamed    map[string]string
	}{
		"plain":            {object{"a.b": 1, "c": object{"d": 2}}, object{"a.b": 1, "c": object{"d": 2}}, map[string]string{}},
		"one name":         {object{"optim.lr": 1, "optim": object{"lr": 2}}, object{"optim.lr" + hashOf("optim.lr"): 1, "optim": object{"lr": 2}}, map[string]string{"optim.lr" + hashOf("optim.lr"): "optim.lr"}},
		"three ways":       {object{"a.b": object{"c": 1}, "a": object{"b.c": 2}, "a.b.c": 3}, object{"a.b": object{"c" + hashOf("a.b", "c"): 1}, "a": object{"b.c": 2}, "a.b.c" + hashOf("a.b.c"): 3}, map[string]string{"a.b.c" + hashOf("a.b", "c"): "a.b.c", "a.b.c" + hashOf("a.b.c"): "a.b.c"}},
		"branch":           {object{"a.b": 1, "a": object{"b": object{"c": 2}}}, object{"a.b": 1, "a": object{"b": object{"c": 2}}}, map[string]string{}},
		"empty":            {object{"a.b": 1, "a": object{"b": object{}}}, object{"a.b": 1, "a": object{"b": object{}}}, map[string]string{}},
		"markup":           {object{"[/x]": 1, "[_x]": object{"y": 2}, "z": object{"[/": 3}}, object{"[_x]" + hashOf("[/x]"): 1, "[_x]": object{"y": 2}, "z": object{"[_": 3}}, map[string]string{"[_x]" + hashOf("[/x]"): "[/x]", "z.[_": "z.[/"}},
		"told first":       {object{"a.b": object{"[/.a": 1, "[_": object{"a": 2}}}, object{"a.b": object{"[_.a" + hashOf("a.b", "[/.a"): 1, "[_": object{"a": 2}}}, map[string]string{"a.b.[_.a" + hashOf("a.b", "[/.a"): "a.b.[/.a"}},
		"told over nested": {object{"[/": object{"a": 1}, "[_.a": 2}, object{"[_": object{"a" + hashOf("[/", "a"): 1}, "[_.a": 2}, map[string]string{"[_.a" + hashOf("[/", "a"): "[/.a"}},
		"hash taken":       {object{"a.b": 1, "a": object{"b": 2}, "a.b" + hashOf("a.b"): object{"c": 3}}, object{"a.b-" + hash("a.b", 16): 1, "a": object{"b": 2}, "a.b" + hashOf("a.b"): object{"c": 3}}, map[string]string{"a.b-" + hash("a.b", 16): "a.b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, renamed := plainParams(tc.told)
			assert.Equal(t, tc.want, got)
			assert.Equal(t, tc.renamed, renamed)
		})
	}
}

// flatten names parameters as DVC does.
func flatten(out map[string][]any, prefix string, m object) {
	for k, v := range m {
		if below, ok := v.(object); ok {
			flatten(out, prefix+k+".", below)
			continue
		}
		out[prefix+k] = append(out[prefix+k], v)
	}
}

func TestNamesOfParamsNeverClash(t *testing.T) {
	t.Parallel()
	key := rapid.SampledFrom([]string{"a", "b", "a.b", "b.a", "a.b.a", ".", "", "[/", "[_", "[/.a", "a.", "-", "a.b" + hashOf("a.b")})
	var mapping func(depth int) *rapid.Generator[object]
	next := 0
	mapping = func(depth int) *rapid.Generator[object] {
		return rapid.Custom(func(t *rapid.T) object {
			m := object{}
			for _, k := range rapid.SliceOfNDistinct(key, 0, 6, rapid.ID).Draw(t, "keys") {
				if depth > 0 && rapid.Bool().Draw(t, "deep") {
					m[k] = mapping(depth-1).Draw(t, "below")
					continue
				}
				next++
				m[k] = next
			}
			return m
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		told := mapping(3).Draw(t, "told")
		before := fmt.Sprint(told)
		got, renamed := plainParams(told)
		require.Equal(t, before, fmt.Sprint(told), "the state's parameters must stay as they are")
		names, toldNames := map[string][]any{}, map[string][]any{}
		flatten(names, "", got)
		flatten(toldNames, "", told)
		count := 0
		for name, values := range names {
			require.Len(t, values, 1, "%q is the name of several", name)
			require.NotContains(t, name, "[/")
			original, ok := renamed[name]
			if !ok {
				original = name
			}
			require.Contains(t, toldNames[original], values[0], "%q is not the value of %q", name, original)
		}
		for name, values := range toldNames {
			count += len(values)
			if len(values) == 1 && !strings.Contains(name, "[/") {
				require.Equal(t, values, names[name], "%q was renamed for nothing", name)
			}
		}
		require.Len(t, names, count, "a parameter got lost")
	})
}

func TestRenamedParamsAreInTheResult(t *testing.T) {
	t.Parallel()
	st := fullState()
	st.Params = object{"optim.lr": 0.5, "optim": object{"lr": 0.25}}
	got := byName(Render(st, ended, options))
	checkSchema(t, []byte(got[ResultName]))
	want := "optim.lr" + hashOf("optim.lr")
	assert.Equal(t, "optim:\n  lr: 0.25\n"+want+": 0.5\n", got[ParamsName])
	assert.Contains(t, got[ResultName], "\"renamed_params\": {\n        \""+want+"\": \"optim.lr\"\n    }")

	next := &trainrun.State{RunID: st.RunID, Partial: true, StartedAt: st.LastRecordAt + second, Records: trainrun.Records{Count: 1}}
	st.Conflict = nil
	old := byName(Render(st, ended, options))
	joined, kept, ok := Continue(next, func(name string) []byte { return []byte(old[name]) })
	require.True(t, ok)
	again := byName(Render(joined, ended, Options{MaxPoints: 1000, Kept: kept}))
	assert.Equal(t, got[ParamsName], again[ParamsName])
	assert.Contains(t, again[ResultName], `"renamed_params"`, "a result that goes on keeps the names")
}
