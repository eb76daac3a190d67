package componentcheck

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// checkAttributes holds the attributes of the component's own self-metrics to metadata.yaml. Every point carries the
// component's id under the name of its class, so that two instances are two series.
func (s *suite) checkAttributes(t testing.TB) []error {
	errs := s.checkDeclaredAttributes()
	for _, id := range []component.ID{component.NewID(s.factory.Type()), component.NewIDWithName(s.factory.Type(), "second")} {
		tel := componenttest.NewTelemetry()
		points := map[string][]attribute.Set{}
		for _, sig := range s.target.signals {
			err := s.sessionOf(t, id, sig, tel.NewTelemetrySettings(), func(ctx context.Context, c component.Component) error {
				return errors.Join(feed(ctx, c), s.feed(ctx, c), s.collect(ctx, tel, points))
			})
			if err != nil {
				errs = append(errs, fmt.Errorf("attributes: %s: %s: %w", id, sig.name, err))
			}
		}
		if err := tel.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			errs = append(errs, err)
		}
		for _, name := range slices.Sorted(maps.Keys(points)) {
			errs = append(errs, s.diffAttributes(name, points[name], id)...)
		}
	}
	return errs
}

// checkDeclaredAttributes says whether the metrics of metadata.yaml list the id, and only attributes that it describes.
func (s *suite) checkDeclaredAttributes() []error {
	var errs []error
	used := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(s.meta.Telemetry.Metrics)) {
		listed := s.meta.Telemetry.Metrics[name].Attributes
		if !slices.Contains(listed, s.target.class) {
			errs = append(errs, fmt.Errorf("metadata.yaml: telemetry.metrics: %s: attributes: want %s, the component's id, among %v", name, s.target.class, listed))
		}
		for _, key := range listed {
			used[key] = true
			if spec := s.meta.Attributes[key]; spec.Description == "" || spec.Type == "" {
				errs = append(errs, fmt.Errorf("metadata.yaml: attributes: %s: give it a description and a type", key))
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.meta.Attributes)) {
		if !used[key] {
			errs = append(errs, fmt.Errorf("metadata.yaml: attributes: no metric has %s", key))
		}
	}
	return errs
}

// collect adds the attributes of the points of the component's own scope.
func (s *suite) collect(ctx context.Context, tel *componenttest.Telemetry, points map[string][]attribute.Set) error {
	var rm metricdata.ResourceMetrics
	if err := tel.Reader.Collect(ctx, &rm); err != nil {
		return err
	}
	for _, sm := range rm.ScopeMetrics {
		if sm.Scope.Name != s.module {
			continue
		}
		for _, m := range sm.Metrics {
			points[m.Name] = append(points[m.Name], attributeSets(m)...)
		}
	}
	return nil
}

func (s *suite) diffAttributes(name string, sets []attribute.Set, want component.ID) []error {
	var errs []error
	spec := s.meta.Telemetry.Metrics[strings.TrimPrefix(name, instrumentPrefix)]
	wrong := map[string]bool{}
	for _, set := range sets {
		if id, _ := set.Value(attribute.Key(s.target.class)); id.AsString() != want.String() {
			wrong[fmt.Sprintf("want the attribute %s = %s, got {%s}", s.target.class, want, set.Encoded(attribute.DefaultEncoder()))] = true
		}
		for _, kv := range set.ToSlice() {
			key := string(kv.Key)
			if !slices.Contains(spec.Attributes, key) {
				wrong[fmt.Sprintf("the code gives it the attribute %s, metadata.yaml does not", key)] = true
			}
			if enum := s.meta.Attributes[key].Enum; enum != nil && !slices.Contains(enum, kv.Value.String()) {
				wrong[fmt.Sprintf("%s: %q is not in the enum of metadata.yaml", key, kv.Value.String())] = true
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(wrong)) {
		errs = append(errs, fmt.Errorf("attributes: %s: %s", name, what))
	}
	return errs
}

func attributeSets(m metricdata.Metrics) []attribute.Set {
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		return pointSets(data.DataPoints)
	case metricdata.Sum[float64]:
		return pointSets(data.DataPoints)
	case metricdata.Gauge[int64]:
		return pointSets(data.DataPoints)
	case metricdata.Gauge[float64]:
		return pointSets(data.DataPoints)
	case metricdata.Histogram[int64]:
		return countSets(data.DataPoints)
	case metricdata.Histogram[float64]:
		return countSets(data.DataPoints)
	default:
		return nil
	}
}

func pointSets[N int64 | float64](points []metricdata.DataPoint[N]) []attribute.Set {
	sets := make([]attribute.Set, 0, len(points))
	for _, p := range points {
		sets = append(sets, p.Attributes)
	}
	return sets
}

func countSets[N int64 | float64](points []metricdata.HistogramDataPoint[N]) []attribute.Set {
	sets := make([]attribute.Set, 0, len(points))
	for _, p := range points {
		sets = append(sets, p.Attributes)
	}
	return sets
}
