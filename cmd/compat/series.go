package main

import (
	"encoding/json"
	"maps"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// series is all that a backend such as Netdata tells series apart by; times and values are no part of it.
type series struct {
	Name        string         `json:"metric"`
	Attributes  map[string]any `json:"attributes,omitempty"`
	Type        string         `json:"type"`
	Temporality string         `json:"temporality,omitempty"`
	Monotonic   bool           `json:"monotonic,omitempty"`
	Unit        string         `json:"unit,omitempty"`
	Description string         `json:"description,omitempty"`
	Bounds      []float64      `json:"bounds,omitempty"`
	Scope       string         `json:"scope,omitempty"`
	Version     string         `json:"scope_version,omitempty"`
	ScopeAttrs  map[string]any `json:"scope_attributes,omitempty"`
	ScopeSchema string         `json:"scope_schema_url,omitempty"`
	Resource    map[string]any `json:"resource,omitempty"`
	Schema      string         `json:"schema_url,omitempty"`
}

// seriesSet holds series by their spelling, which has sorted keys.
type seriesSet map[string]series

func (s seriesSet) add(one series) error {
	line, err := json.Marshal(one)
	if err != nil {
		return err
	}
	s[string(line)] = one
	return nil
}

// minus lists what s has and other has not.
func (s seriesSet) minus(other seriesSet) []string {
	var out []string
	for _, line := range slices.Sorted(maps.Keys(s)) {
		if _, both := other[line]; !both {
			out = append(out, line)
		}
	}
	return out
}

// without gives the set as it is when a part of the identity is left out.
func (s seriesSet) without(clear func(*series)) (seriesSet, error) {
	out := seriesSet{}
	for _, one := range s {
		clear(&one)
		if err := out.add(one); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// versions are those of the scopes of the set.
func (s seriesSet) versions() []string {
	set := map[string]bool{}
	for _, one := range s {
		set[one.Version] = true
	}
	return slices.Sorted(maps.Keys(set))
}

func (s seriesSet) addMetrics(md pmetric.Metrics) error {
	for _, rm := range md.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				one := series{
					Name: m.Name(), Type: m.Type().String(), Unit: m.Unit(), Description: m.Description(),
					Scope: sm.Scope().Name(), Version: sm.Scope().Version(), ScopeAttrs: sm.Scope().Attributes().AsRaw(), ScopeSchema: sm.SchemaUrl(),
					Resource: rm.Resource().Attributes().AsRaw(), Schema: rm.SchemaUrl(),
				}
				if err := s.addPoints(one, m); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (s seriesSet) addPoints(one series, m pmetric.Metric) error {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		return s.addNumbers(one, m.Gauge().DataPoints())
	case pmetric.MetricTypeSum:
		one.Temporality, one.Monotonic = m.Sum().AggregationTemporality().String(), m.Sum().IsMonotonic()
		return s.addNumbers(one, m.Sum().DataPoints())
	case pmetric.MetricTypeHistogram:
		one.Temporality = m.Histogram().AggregationTemporality().String()
		for _, p := range m.Histogram().DataPoints().All() {
			one.Bounds = p.ExplicitBounds().AsRaw()
			if err := s.addPoint(one, p.Attributes()); err != nil {
				return err
			}
		}
	case pmetric.MetricTypeExponentialHistogram:
		one.Temporality = m.ExponentialHistogram().AggregationTemporality().String()
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			if err := s.addPoint(one, p.Attributes()); err != nil {
				return err
			}
		}
	case pmetric.MetricTypeSummary:
		for _, p := range m.Summary().DataPoints().All() {
			if err := s.addPoint(one, p.Attributes()); err != nil {
				return err
			}
		}
	case pmetric.MetricTypeEmpty:
		return s.add(one)
	}
	return nil
}

func (s seriesSet) addNumbers(one series, points pmetric.NumberDataPointSlice) error {
	for _, p := range points.All() {
		if err := s.addPoint(one, p.Attributes()); err != nil {
			return err
		}
	}
	return nil
}

func (s seriesSet) addPoint(one series, attributes pcommon.Map) error {
	one.Attributes = attributes.AsRaw()
	return s.add(one)
}
