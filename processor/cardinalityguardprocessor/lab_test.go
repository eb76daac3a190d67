package cardinalityguardprocessor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.uber.org/zap"
	"go.yaml.in/yaml/v3"

	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/metadata"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

func newLab(t require.TestingT, began int64, r *policy.Policy, edit ...func(*Config)) *lab {
	l := &lab{sink: &consumertest.MetricsSink{}}
	l.at(began)
	cfg := createDefaultConfig().(*Config)
	for _, e := range edit {
		e(cfg)
	}
	require.NoError(t, cfg.Validate())
	set := processortest.NewNopSettings(metadata.Type)
	set.ID = component.NewID(metadata.Type)
	l.telemetry = componenttest.NewTelemetry()
	set.TelemetrySettings = l.telemetry.NewTelemetrySettings()
	set.Logger = zap.NewNop()
	g, err := newGuard(cfg, r, set, l.sink, &componentkit.Claims{}, func() time.Time { return l.clock })
	require.NoError(t, err)
	l.guard = g
	return l
}

func ctxOf(t require.TestingT) context.Context {
	if t, ok := t.(interface{ Context() context.Context }); ok {
		return t.Context()
	}
	return context.Background()
}

// policy reads the sketch of a case: its keys are the policy's own, but that exempt stands beside.
func (c *shared) policy(t *testing.T) *policy.Policy {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, "policy.yaml"))
	require.NoError(t, err)
	var file struct {
		Guard  map[string]any `yaml:"cardinality_guard"`
		Exempt any            `yaml:"exempt"`
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	if file.Exempt != nil {
		file.Guard["exempt"] = file.Exempt
	}
	p, err := policy.FromMap(file.Guard)
	require.NoError(t, err)
	return p
}

// flatSeries lists points by series and time, as JSON values, with attributes as sets. Two points of one series and time fail the test.
func flatSeries(t require.TestingT, md pmetric.Metrics) map[string]any {
	out := map[string]any{}
	for _, rm := range md.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				for i := range pointCount(m) {
					one := pmetric.NewMetrics()
					r := one.ResourceMetrics().AppendEmpty()
					rm.Resource().CopyTo(r.Resource())
					s := r.ScopeMetrics().AppendEmpty()
					sm.Scope().CopyTo(s.Scope())
					only := s.Metrics().AppendEmpty()
					m.CopyTo(only)
					keepPoint(only, i)
					key, value := flatOne(t, one)
					require.NotContains(t, out, key, "two points of one series and time")
					out[key] = value
				}
			}
		}
	}
	return out
}

func keepPoint(m pmetric.Metric, i int) {
	at := -1
	gone := func() bool { at++; return at != i }
	switch m.Type() {
	case pmetric.MetricTypeGauge, pmetric.MetricTypeSum:
		numbers(m).RemoveIf(func(pmetric.NumberDataPoint) bool { return gone() })
	case pmetric.MetricTypeHistogram:
		m.Histogram().DataPoints().RemoveIf(func(pmetric.HistogramDataPoint) bool { return gone() })
	case pmetric.MetricTypeExponentialHistogram:
		m.ExponentialHistogram().DataPoints().RemoveIf(func(pmetric.ExponentialHistogramDataPoint) bool { return gone() })
	case pmetric.MetricTypeSummary:
		m.Summary().DataPoints().RemoveIf(func(pmetric.SummaryDataPoint) bool { return gone() })
	}
}

func flatOne(t require.TestingT, md pmetric.Metrics) (string, any) {
	text, err := (&pmetric.JSONMarshaler{}).MarshalMetrics(md)
	require.NoError(t, err)
	var tree any
	require.NoError(t, json.Unmarshal(text, &tree))
	tree = asSets(tree)
	rm := tree.(map[string]any)["resourceMetrics"].([]any)[0].(map[string]any)
	sm := rm["scopeMetrics"].([]any)[0].(map[string]any)
	m := sm["metrics"].([]any)[0].(map[string]any)
	var point map[string]any
	key := fmt.Sprint(rm["resource"], sm["scope"], m["name"], m["unit"], m["metadata"])
	for _, kind := range []string{"gauge", "sum", "histogram", "exponentialHistogram", "summary"} {
		data, is := m[kind].(map[string]any)
		if !is {
			continue
		}
		point = data["dataPoints"].([]any)[0].(map[string]any)
		key += fmt.Sprint(kind, data["aggregationTemporality"], data["isMonotonic"], point["attributes"], point["timeUnixNano"])
	}
	return key, point
}

// asSets sorts lists of attributes and of exemplars.
func asSets(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = asSets(v[k])
			list, is := v[k].([]any)
			if is && (k == "attributes" || k == "filteredAttributes" || k == "metadata" || k == "exemplars" || k == "values") {
				slices.SortFunc(list, func(a, b any) int { return slices.Compare([]string{fmt.Sprint(a)}, []string{fmt.Sprint(b)}) })
			}
		}
	case []any:
		for i := range v {
			v[i] = asSets(v[i])
		}
	}
	return v
}

// reverseAll turns everything in a batch around: resources, scopes, metrics, points and attributes.
func reverseAll(md pmetric.Metrics) pmetric.Metrics {
	out := clone(md)
	reverse(out)
	return out
}
