package secretmaskprocessor

import (
	"context"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"

	"github.com/pathologize/otelcol-train/internal/trainrun/secret"
	"github.com/pathologize/otelcol-train/processor/secretmaskprocessor/internal/metadata"
)

// masker masks what passes. It may serve several calls at once.
type masker struct {
	telemetry *metadata.Telemetry
	omit      func(key string) bool
}

func newMasker(set processor.Settings, cfg *Config) (*masker, error) {
	telemetry, err := metadata.NewTelemetry(set.TelemetrySettings, set.ID)
	return &masker{telemetry: telemetry, omit: cfg.omits()}, err
}

// walker serves one call.
func (m *masker) walker() *secret.Walker { return &secret.Walker{URLs: secret.UserInfo, Omit: m.omit} }

func (m *masker) count(ctx context.Context, w *secret.Walker) {
	if w.Masked > 0 {
		m.telemetry.MaskedValues.Add(ctx, w.Masked, m.telemetry.Self())
	}
	if w.Omitted > 0 {
		m.telemetry.OmittedValues.Add(ctx, w.Omitted, m.telemetry.Self())
	}
}

// text masks a text where it stands; one without a secret is left alone.
func text(w *secret.Walker, s string, set func(string)) {
	if masked := w.Text(s); masked != s {
		set(masked)
	}
}

func scope(w *secret.Walker, s pcommon.InstrumentationScope) {
	text(w, s.Name(), s.SetName)
	text(w, s.Version(), s.SetVersion)
	w.Map(s.Attributes())
}

func (m *masker) logs(ctx context.Context, ld plog.Logs) (plog.Logs, error) {
	w := m.walker()
	for _, rl := range ld.ResourceLogs().All() {
		w.Map(rl.Resource().Attributes())
		text(w, rl.SchemaUrl(), rl.SetSchemaUrl)
		for _, sl := range rl.ScopeLogs().All() {
			scope(w, sl.Scope())
			text(w, sl.SchemaUrl(), sl.SetSchemaUrl)
			for _, lr := range sl.LogRecords().All() {
				w.Map(lr.Attributes())
				w.Value(lr.Body())
				text(w, lr.EventName(), lr.SetEventName)
				text(w, lr.SeverityText(), lr.SetSeverityText)
			}
		}
	}
	m.count(ctx, w)
	return ld, nil
}

func (m *masker) traces(ctx context.Context, td ptrace.Traces) (ptrace.Traces, error) {
	w := m.walker()
	for _, rs := range td.ResourceSpans().All() {
		w.Map(rs.Resource().Attributes())
		text(w, rs.SchemaUrl(), rs.SetSchemaUrl)
		for _, ss := range rs.ScopeSpans().All() {
			scope(w, ss.Scope())
			text(w, ss.SchemaUrl(), ss.SetSchemaUrl)
			for _, span := range ss.Spans().All() {
				maskSpan(w, span)
			}
		}
	}
	m.count(ctx, w)
	return td, nil
}

func maskSpan(w *secret.Walker, span ptrace.Span) {
	text(w, span.Name(), span.SetName)
	text(w, span.Status().Message(), span.Status().SetMessage)
	text(w, span.TraceState().AsRaw(), span.TraceState().FromRaw)
	w.Map(span.Attributes())
	for _, e := range span.Events().All() {
		text(w, e.Name(), e.SetName)
		w.Map(e.Attributes())
	}
	for _, l := range span.Links().All() {
		text(w, l.TraceState().AsRaw(), l.TraceState().FromRaw)
		w.Map(l.Attributes())
	}
}

func (m *masker) metrics(ctx context.Context, md pmetric.Metrics) (pmetric.Metrics, error) {
	w := m.walker()
	for _, rm := range md.ResourceMetrics().All() {
		w.Map(rm.Resource().Attributes())
		text(w, rm.SchemaUrl(), rm.SetSchemaUrl)
		for _, sm := range rm.ScopeMetrics().All() {
			scope(w, sm.Scope())
			text(w, sm.SchemaUrl(), sm.SetSchemaUrl)
			for _, metric := range sm.Metrics().All() {
				text(w, metric.Name(), metric.SetName)
				text(w, metric.Description(), metric.SetDescription)
				text(w, metric.Unit(), metric.SetUnit)
				w.Map(metric.Metadata())
				maskPoints(w, metric)
			}
		}
	}
	m.count(ctx, w)
	return md, nil
}

func maskPoints(w *secret.Walker, metric pmetric.Metric) {
	switch metric.Type() {
	case pmetric.MetricTypeGauge:
		numbers(w, metric.Gauge().DataPoints())
	case pmetric.MetricTypeSum:
		numbers(w, metric.Sum().DataPoints())
	case pmetric.MetricTypeHistogram:
		for _, p := range metric.Histogram().DataPoints().All() {
			w.Map(p.Attributes())
			exemplars(w, p.Exemplars())
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, p := range metric.ExponentialHistogram().DataPoints().All() {
			w.Map(p.Attributes())
			exemplars(w, p.Exemplars())
		}
	case pmetric.MetricTypeSummary:
		for _, p := range metric.Summary().DataPoints().All() {
			w.Map(p.Attributes())
		}
	case pmetric.MetricTypeEmpty: // no points
	}
}

func numbers(w *secret.Walker, points pmetric.NumberDataPointSlice) {
	for _, p := range points.All() {
		w.Map(p.Attributes())
		exemplars(w, p.Exemplars())
	}
}

func exemplars(w *secret.Walker, list pmetric.ExemplarSlice) {
	for _, e := range list.All() {
		w.Map(e.FilteredAttributes())
	}
}
