package resultfile

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMetricPaths(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 60)
	for name, tc := range map[string]struct {
		want map[string]string
	}{
		"plain":      {map[string]string{"train/loss": "train/loss", "val/mAP50(B)": "val/mAP50(B)", "lr": "lr"}},
		"characters": {map[string]string{"a.b": "a_b", "a:c": "a_c", "\\back": "_back", "x\ny": "x_y", "metrics/mAP.5": "metrics/mAP_5"}},
		"segments":   {map[string]string{"/a": "_/a", "b//c": "b/_/c", "../d": "_/d", "./e": "_/e", "f/": "f/_", "": "_/value"}},
		"node":       {map[string]string{"loss": "loss/value", "loss/train": "loss/train"}},
		"node twice": {map[string]string{"loss": "loss/value-" + hash("loss", 8), "loss/value": "loss/value"}},
		"deep node":  {map[string]string{"loss": "loss/value/value", "loss/value/x": "loss/value/x"}},
		"step":       {map[string]string{"step": "step_", "a/step": "a/step"}},
		"step node":  {map[string]string{"step": "step_/value", "step/grad": "step_/grad"}},
		"step kept":  {map[string]string{"step": "step_-" + hash("step", 8), "step_": "step_", "train/step": "train/step"}},
		"same path":  {map[string]string{"val.loss": "val_loss-" + hash("val.loss", 8), "val_loss": "val_loss", "val:loss": "val_loss-" + hash("val:loss", 8)}},
		"case":       {map[string]string{"Loss": "Loss", "loss": "loss-" + hash("loss", 8), "LOSS": "LOSS-"}},
		"long":       {map[string]string{long: strings.Repeat("é", 45) + "-" + hash(long, 8)}},
		"deep":       {map[string]string{strings.Repeat("a/", 20) + "b": strings.Repeat("a/", 15) + "a_a_a_a_a_b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "case" { // the first in byte order keeps its name
				tc.want["LOSS"], tc.want["Loss"] = "LOSS", "Loss-"+hash("Loss", 8)
			}
			var names []string
			for n := range tc.want {
				names = append(names, n)
			}
			assert.Equal(t, tc.want, MetricPaths(names))
		})
	}
}

func TestMetricPathsNeverClash(t *testing.T) {
	t.Parallel()
	segment := rapid.SampledFrom([]string{"a", "A", "b", "value", "step", "step_", ".", "..", "", "a.b", "a_b", "a:b", "K", "\u212a"})
	name := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(segment, 1, 4).Draw(t, "segments"), "/")
	})
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(name, 1, 30, rapid.ID).Draw(t, "names")
		paths := MetricPaths(names)
		require.Len(t, paths, len(names))
		folded := map[string]string{}
		for n, p := range paths {
			if other, taken := folded[fold(p)]; taken {
				t.Fatalf("%q and %q share %s", n, other, p)
			}
			folded[fold(p)] = n
			require.NotEqual(t, "step", strings.Split(p, "/")[0])
			for _, s := range strings.Split(p, "/") {
				require.NotContains(t, []string{"", ".", ".."}, s)
				require.NotContains(t, s, ".")
			}
			for _, other := range paths {
				require.False(t, strings.HasPrefix(other, p+"/"), "%s is a leaf and a node of %s", p, other)
			}
		}
		slices.Reverse(names)
		require.Equal(t, paths, MetricPaths(names), "the order of the names matters")
	})
}
