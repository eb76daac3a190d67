package cardinalityguardprocessor

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.yaml.in/yaml/v3"
)

// sketch is the policy of a case. Its option names are not the guard's.
type sketch struct {
	Guard struct {
		Attributes struct {
			Deny struct {
				Exact []string `yaml:"exact"`
			} `yaml:"deny"`
			Values struct {
				DenyPatterns []string `yaml:"deny_patterns"`
			} `yaml:"values"`
		} `yaml:"attributes"`
	} `yaml:"cardinality_guard"`
	Harness struct {
		Start nano `yaml:"guard_start_unix_nano"`
		Steps []struct {
			Input   string `yaml:"input"`
			Arrival nano   `yaml:"arrival_unix_nano"`
		} `yaml:"steps"`
	} `yaml:"harness"`
}

// nano is a time that stands in quotes.
type nano int64

func (n *nano) UnmarshalYAML(v *yaml.Node) error {
	i, err := strconv.ParseInt(v.Value, 10, 64)
	*n = nano(i)
	return err
}

// TestSharedCases feeds each case forwards, with everything in it reversed, and again on its own output.
func TestSharedCases(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob("testdata/cases/*/policy.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, dirs)
	for _, file := range dirs {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			c := readShared(t, dir)
			in, want := c.inputs(t), c.outputs(t)
			got := c.run(t, in)
			requireSteps(t, want, got, "as it is")
			requireSteps(t, want, c.run(t, each(in, reverseAll)), "reversed")
			requireSteps(t, want, c.run(t, each(got, clone)), "its output guarded again")
		})
	}
}

type shared struct {
	dir string
	sketch
}

func readShared(t *testing.T, dir string) *shared {
	t.Helper()
	c := &shared{dir: dir}
	text, err := os.ReadFile(filepath.Join(dir, "policy.yaml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &c.sketch))
	return c
}

func (c *shared) inputs(t *testing.T) []pmetric.Metrics {
	t.Helper()
	var out []pmetric.Metrics
	for _, s := range c.Harness.Steps {
		text, err := os.ReadFile(filepath.Join(c.dir, s.Input))
		require.NoError(t, err)
		out = append(out, unmarshal(t, text))
	}
	return out
}

func (c *shared) outputs(t *testing.T) []pmetric.Metrics {
	t.Helper()
	var expected struct {
		Steps []struct {
			Output json.RawMessage `json:"output"`
		} `json:"steps"`
	}
	text, err := os.ReadFile(filepath.Join(c.dir, "expected.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &expected))
	var out []pmetric.Metrics
	for _, s := range expected.Steps {
		out = append(out, unmarshal(t, s.Output))
	}
	return out
}

func unmarshal(t *testing.T, text []byte) pmetric.Metrics {
	t.Helper()
	md, err := (&pmetric.JSONUnmarshaler{}).UnmarshalMetrics(text)
	require.NoError(t, err)
	return md
}

// run gives what the guard sends after each input and the flush behind it.
func (c *shared) run(t *testing.T, in []pmetric.Metrics) []pmetric.Metrics {
	t.Helper()
	l := newLab(t, int64(c.Harness.Start), c.policy(t))
	var out []pmetric.Metrics
	for i, s := range c.Harness.Steps {
		l.at(int64(s.Arrival))
		l.feed(t, clone(in[i]))
		l.guard.flush(t.Context(), false)
		out = append(out, l.taken(t))
	}
	return out
}

func each(in []pmetric.Metrics, f func(pmetric.Metrics) pmetric.Metrics) []pmetric.Metrics {
	var out []pmetric.Metrics
	for _, md := range in {
		out = append(out, f(md))
	}
	return out
}

func requireSteps(t *testing.T, want, got []pmetric.Metrics, why string) {
	t.Helper()
	require.Len(t, got, len(want), why)
	for i := range want {
		requireNothingEmpty(t, got[i])
		a, b := flatSeries(t, want[i]), flatSeries(t, got[i])
		require.Equal(t, slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)), "%s, step %d", why, i+1)
		for key, p := range a {
			requireClose(t, p, b[key], fmt.Sprintf("%s, step %d, %s", why, i+1, key))
		}
	}
}

// requireClose compares points: doubles within 1e-9 relative, all else exactly.
func requireClose(t require.TestingT, want, got any, where string) {
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		require.Equal(t, slices.Sorted(maps.Keys(w)), slices.Sorted(maps.Keys(g)), where)
		for k := range w {
			requireClose(t, w[k], g[k], where+"."+k)
		}
	case []any:
		g, _ := got.([]any)
		require.Len(t, g, len(w), where)
		for i := range w {
			requireClose(t, w[i], g[i], where+"["+strconv.Itoa(i)+"]")
		}
	case float64:
		g, ok := got.(float64)
		require.True(t, ok, "%s: want %v, got %v", where, want, got)
		if w == g || math.IsNaN(w) && math.IsNaN(g) {
			return
		}
		require.InDelta(t, w, g, 1e-9*max(1, math.Abs(w)), where)
	default:
		require.Equal(t, want, got, where)
	}
}

// lab is a guard with a clock of its own.
type lab struct {
	guard     *guard
	clock     time.Time
	sink      *consumertest.MetricsSink
	telemetry *componenttest.Telemetry
}

func (l *lab) at(unixNano int64) { l.clock = time.Unix(0, unixNano) }

func (l *lab) feed(t require.TestingT, md pmetric.Metrics) {
	out, err := l.guard.processMetrics(ctxOf(t), md)
	if err == nil {
		require.NoError(t, l.sink.ConsumeMetrics(ctxOf(t), out))
	}
}

// taken gives what was sent since the last time.
func (l *lab) taken(t require.TestingT) pmetric.Metrics {
	out := pmetric.NewMetrics()
	for _, md := range l.sink.AllMetrics() {
		clone(md).ResourceMetrics().MoveAndAppendTo(out.ResourceMetrics())
	}
	l.sink.Reset()
	return out
}
