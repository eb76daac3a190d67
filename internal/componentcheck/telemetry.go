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
)

// instrumentPrefix is what upstream's generator puts before the names of metadata.yaml.
const instrumentPrefix = "otelcol_"

// checkTelemetry compares the instruments that a started component made with metadata.yaml, both ways.
func (s *suite) checkTelemetry(t testing.TB) []error {
	made := map[instrument]bool{}
	for _, sig := range s.target.signals {
		tel := componenttest.NewTelemetry()
		rec := newRecorder(tel.NewTelemetrySettings().MeterProvider)
		set := tel.NewTelemetrySettings()
		set.MeterProvider = rec
		err := s.session(t, sig, set, func(context.Context, component.Component) error { return nil })
		if err = errors.Join(err, tel.Shutdown(t.Context())); err != nil {
			return []error{fmt.Errorf("%s: %w", sig.name, err)}
		}
		for _, i := range rec.instruments() {
			made[i] = true
		}
	}
	return diffInstruments(s.module, s.factory.Type().String(), s.meta.Telemetry.Metrics, slices.Collect(maps.Keys(made)))
}

func diffInstruments(scope, typ string, specs map[string]metricSpec, made []instrument) []error {
	own := instrumentPrefix + typ + "_"
	var errs []error
	byName := map[string][]instrument{}
	for _, i := range made {
		switch {
		case i.scope == scope:
			byName[i.name] = append(byName[i.name], i)
		case strings.HasPrefix(i.name, own):
			errs = append(errs, fmt.Errorf("telemetry: %s is made in scope %q, want %q", i.name, i.scope, scope))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		_, declared := specs[strings.TrimPrefix(name, instrumentPrefix)]
		switch {
		case !strings.HasPrefix(name, own):
			errs = append(errs, fmt.Errorf("telemetry: name %s: want %s<noun>", name, own))
		case !declared:
			errs = append(errs, fmt.Errorf("telemetry: the code makes %s, metadata.yaml does not declare it", name))
		case len(byName[name]) > 1:
			errs = append(errs, fmt.Errorf("telemetry: %s is made in %d different ways", name, len(byName[name])))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		if strings.HasPrefix(name, instrumentPrefix) {
			errs = append(errs, fmt.Errorf("metadata.yaml: telemetry.metrics: write %s without %s", name, instrumentPrefix))
			continue
		}
		got := byName[instrumentPrefix+name]
		if len(got) == 0 {
			errs = append(errs, fmt.Errorf("telemetry: metadata.yaml declares %s, the code does not make it", name))
			continue
		}
		errs = append(errs, diffInstrument(name, specs[name], got[0])...)
	}
	return errs
}

func diffInstrument(name string, spec metricSpec, got instrument) []error {
	kind, valueType, async, err := spec.kind()
	if err != nil {
		return []error{fmt.Errorf("metadata.yaml: telemetry.metrics: %s: %w", name, err)}
	}
	var errs []error
	differ := func(what string, declared, made any) {
		if declared != made {
			errs = append(errs, fmt.Errorf("telemetry: %s: %s: metadata.yaml says %q, the code %q", name, what, fmt.Sprint(declared), fmt.Sprint(made)))
		}
	}
	differ("kind", kind, got.kind)
	differ("value_type", valueType, got.valueType)
	differ("async", async, got.async)
	differ("unit", spec.Unit, got.unit)
	differ("description", sentence(spec.Description), sentence(got.description))
	if spec.Unit == "" || spec.Description == "" {
		errs = append(errs, fmt.Errorf("metadata.yaml: telemetry.metrics: %s: give it a unit and a description", name))
	}
	return errs
}

// sentence is a description without its end: generators append the stability.
func sentence(text string) string {
	if at := strings.LastIndex(text, " ["); at > 0 && strings.HasSuffix(text, "]") {
		text = text[:at]
	}
	return strings.TrimSuffix(strings.TrimSpace(text), ".")
}

func (m metricSpec) kind() (kind, valueType string, async bool, err error) {
	switch {
	case m.Sum != nil && m.Gauge == nil && m.Histogram == nil:
		if m.Sum.Monotonic {
			return kindCounter, m.Sum.ValueType, m.Sum.Async, nil
		}
		return kindUpDown, m.Sum.ValueType, m.Sum.Async, nil
	case m.Gauge != nil && m.Sum == nil && m.Histogram == nil:
		return kindGauge, m.Gauge.ValueType, m.Gauge.Async, nil
	case m.Histogram != nil && m.Sum == nil && m.Gauge == nil:
		return kindHistogram, m.Histogram.ValueType, m.Histogram.Async, nil
	default:
		return "", "", false, errors.New("want exactly one of sum, gauge, histogram")
	}
}
