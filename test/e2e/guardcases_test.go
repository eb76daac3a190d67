package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.yaml.in/yaml/v3"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/ports"
)

// guardCase is a worked case of the guard on its way through the binary, with a pipeline and a backend of its own.
type guardCase struct {
	name, endpoint, processor string
	sink                      *otlpsink.Sink
	in, want                  []pmetric.Metrics
}

const caseZero = 1_800_000_000e9 // T(0) of the cases

// shifted reads metrics of a case with T(0) at another time.
func shifted(t *testing.T, text []byte, zero time.Time) pmetric.Metrics {
	t.Helper()
	text = caseTime.ReplaceAllFunc(text, func(found []byte) []byte {
		at, err := strconv.ParseInt(string(found), 10, 64)
		require.NoError(t, err)
		return strconv.AppendInt(nil, at-caseZero+zero.UnixNano(), 10)
	})
	md, err := (&pmetric.JSONUnmarshaler{}).UnmarshalMetrics(text)
	require.NoError(t, err)
	return md
}

var caseTime = regexp.MustCompile(`\b18000000\d{11}\b`)

// policyOf is the policy of a case as the processor takes it.
func policyOf(t *testing.T, dir string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "policy.yaml"))
	require.NoError(t, err)
	var file map[string]any
	require.NoError(t, yaml.Unmarshal(text, &file))
	p := file["cardinality_guard"].(map[string]any)
	if exempt, some := file["exempt"]; some {
		p["exempt"] = exempt
	}
	return p
}

// stepsOf reads what goes in and what must come out.
func stepsOf(t *testing.T, dir string, zero time.Time) (in, want []pmetric.Metrics) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	require.NoError(t, err)
	var expected struct {
		Steps []struct {
			After  string          `json:"after"`
			Output json.RawMessage `json:"output"`
		} `json:"steps"`
	}
	require.NoError(t, json.Unmarshal(text, &expected))
	for _, s := range expected.Steps {
		text, err := os.ReadFile(filepath.Join(dir, s.After))
		require.NoError(t, err)
		in, want = append(in, shifted(t, text, zero)), append(want, shifted(t, s.Output, zero))
	}
	return in, want
}

// casePoints lists points by series and time, as JSON values with attributes as sets.
func casePoints(t require.TestingT, all ...pmetric.Metrics) map[string]any {
	out := map[string]any{}
	for _, md := range all {
		text, err := (&pmetric.JSONMarshaler{}).MarshalMetrics(md)
		require.NoError(t, err)
		var tree any
		require.NoError(t, json.Unmarshal(text, &tree))
		for _, rm := range listIn(tree, "resourceMetrics") {
			for _, sm := range listIn(rm, "scopeMetrics") {
				for _, m := range listIn(sm, "metrics") {
					object := m.(map[string]any)
					for _, kind := range []string{"gauge", "sum", "histogram", "exponentialHistogram", "summary"} {
						data, _ := object[kind].(map[string]any)
						for _, p := range listIn(data, "dataPoints") {
							point := asSet(p).(map[string]any)
							key := fmt.Sprint(asSet(rm.(map[string]any)["resource"]), asSet(sm.(map[string]any)["scope"]), object["name"], object["unit"],
								asSet(map[string]any{"metadata": object["metadata"]}), kind, data["aggregationTemporality"], data["isMonotonic"], point["attributes"], point["timeUnixNano"])
							require.NotContains(t, out, key, "two points of one series and time")
							out[key] = point
						}
					}
				}
			}
		}
	}
	return out
}

func listIn(v any, key string) []any {
	object, _ := v.(map[string]any)
	list, _ := object[key].([]any)
	return list
}

// asSet sorts what has no order.
func asSet(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, inside := range v {
			v[k] = asSet(inside)
			if list, is := v[k].([]any); is && slices.Contains([]string{"attributes", "filteredAttributes", "metadata", "exemplars", "values"}, k) {
				slices.SortFunc(list, func(a, b any) int { return slices.Compare([]string{fmt.Sprint(a)}, []string{fmt.Sprint(b)}) })
			}
		}
	case []any:
		for i := range v {
			v[i] = asSet(v[i])
		}
	}
	return v
}

// requireAlike compares: doubles within 1e-9 relative, all else exactly.
func requireAlike(t require.TestingT, want, got any, where string) {
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		require.Equal(t, slices.Sorted(maps.Keys(w)), slices.Sorted(maps.Keys(g)), where)
		for k := range w {
			requireAlike(t, w[k], g[k], where+"."+k)
		}
	case []any:
		g, _ := got.([]any)
		require.Len(t, g, len(w), where)
		for i := range w {
			requireAlike(t, w[i], g[i], fmt.Sprint(where, "[", i, "]"))
		}
	case float64:
		require.InDelta(t, w, got, 1e-9*max(1, math.Abs(w)), where)
	default:
		require.Equal(t, want, got, where)
	}
}

// play sends the inputs of a case one by one, each after what the one before must give has arrived.
func (c *guardCase) play(t *testing.T, p *collector.Process) {
	t.Helper()
	var want []pmetric.Metrics
	for i, in := range c.in {
		exportMetrics(t, c.endpoint, in)
		want = append(want, c.want[i])
		points := casePoints(t, want...)
		require.EventuallyWithT(t, func(t *assert.CollectT) {
			got := casePoints(t, c.sink.Metrics()...)
			require.Equal(t, slices.Sorted(maps.Keys(points)), slices.Sorted(maps.Keys(got)), "step %d", i+1)
		}, resultWithin, 20*time.Millisecond)
		requireAlike(t, any(points), any(casePoints(t, c.sink.Metrics()...)), fmt.Sprint("step ", i+1))
	}
	const flushes = "otelcol_cardinality_guard_flush_duration"
	own := map[string]string{"processor": c.processor}
	p.WaitMetric(flushes, own, p.Metrics().Sum(flushes, own)+2, resultWithin)
	require.Len(t, casePoints(t, c.sink.Metrics()...), len(casePoints(t, want...)), "and nothing else")
}

// guardCasesConfig gives each case a pipeline.
func guardCasesConfig(t *testing.T, cases []*guardCase, policies map[string]map[string]any) string {
	t.Helper()
	receivers, processors, exporters, pipelines := map[string]any{}, map[string]any{}, map[string]any{}, map[string]any{}
	for i, c := range cases {
		id := "/" + strconv.Itoa(i)
		receivers["otlp"+id] = map[string]any{"protocols": map[string]any{"grpc": map[string]any{"endpoint": c.endpoint}}}
		c.processor = "cardinality_guard" + id
		processors[c.processor] = map[string]any{"flush_interval": "1s", "max_future_skew": "10m", "policy": policies[c.name]}
		exporters["otlp_grpc"+id] = map[string]any{"endpoint": c.sink.Endpoint(), "tls": map[string]any{"insecure": true}}
		pipelines["metrics"+id] = map[string]any{
			"receivers": []string{"otlp" + id}, "processors": []string{c.processor}, "exporters": []string{"otlp_grpc" + id},
		}
	}
	text, err := yaml.Marshal(map[string]any{
		"receivers": receivers, "processors": processors, "exporters": exporters, "service": map[string]any{"pipelines": pipelines},
	})
	require.NoError(t, err)
	return string(text)
}

// TestWorkedCasesThroughTheBinary sends the guard's worked cases over OTLP, forwards, with everything in a batch reversed, and their own output again.
// T(0) is when the binary is ready, and an input follows as soon as the flush behind the one before has arrived. A case lasts up to 71 s; so that no
// one waits for that, its points are ahead of the clock, by less than max_future_skew. All cases run like that: none of them asks for a time that
// passes (gauge_staleness, source_expiry, the warm-up). What depends on when a point arrives needs the clock of the component's own tests, which
// play the same cases with the arrivals that they name.
func TestWorkedCasesThroughTheBinary(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob(filepath.Join(collector.Root(t), "processor/cardinalityguardprocessor/testdata/cases/*/policy.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, dirs)
	var cases []*guardCase
	policies := map[string]map[string]any{}
	for _, file := range dirs {
		dir := filepath.Dir(file)
		policies[dir] = policyOf(t, dir)
		for range 3 {
			cases = append(cases, &guardCase{name: dir, endpoint: ports.Free(t), sink: otlpsink.Start(t, otlpsink.Accept)})
		}
	}
	p := collector.Start(t, collector.Options{YAML: guardCasesConfig(t, cases, policies)})
	zero := time.Now()
	for i, c := range cases {
		how := []string{"as it is", "reversed", "its output again"}[i%3]
		c.in, c.want = stepsOf(t, c.name, zero)
		switch how {
		case "reversed":
			for i := range c.in {
				c.in[i] = turned(t, c.in[i])
			}
		case "its output again":
			c.in = c.want
		}
		t.Run(filepath.Base(c.name)+" "+how, func(t *testing.T) {
			t.Parallel()
			c.play(t, p)
		})
	}
}

// turned is a batch with everything in it reversed.
func turned(t *testing.T, md pmetric.Metrics) pmetric.Metrics {
	t.Helper()
	text, err := (&pmetric.JSONMarshaler{}).MarshalMetrics(md)
	require.NoError(t, err)
	var tree any
	require.NoError(t, json.Unmarshal(text, &tree))
	turn(tree)
	text, err = json.Marshal(tree)
	require.NoError(t, err)
	out, err := (&pmetric.JSONUnmarshaler{}).UnmarshalMetrics(text)
	require.NoError(t, err)
	return out
}

func turn(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, inside := range v {
			turn(inside)
			if list, is := inside.([]any); is && slices.Contains([]string{"resourceMetrics", "scopeMetrics", "metrics", "dataPoints", "attributes"}, k) {
				slices.Reverse(list)
			}
		}
	case []any:
		for i := range v {
			turn(v[i])
		}
	}
}
