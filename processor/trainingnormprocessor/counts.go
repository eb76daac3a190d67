package trainingnormprocessor

import (
	"context"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func (n *logNormalizer) count(w *worker, out trainprofile.Outcome, lr plog.LogRecord) {
	if out.Kind == trainprofile.Untouched {
		return // text that is no row
	}
	profile := ""
	if out.Profile != nil {
		profile = out.Profile.Name()
	}
	if out.Ambiguous {
		w.counts[count{what: "ambiguous"}]++
	}
	if out.Kind == trainprofile.Unmapped {
		w.counts[count{what: "unmapped"}]++
		if total, due := n.unmapped.Note("", 1); due {
			n.logger.Warn("Passed on an object that no profile maps",
				zap.String("file", text(lr.Attributes(), trainrecord.AttrLogFilePath)), zap.String("profile", profile),
				zap.String("remedy", remedy(n.set, profile, lr)), zap.Int64("more_since_last", total-1))
		}
		return
	}
	w.mapped.add(w, profile)
	if out.Detected {
		w.counts[count{what: "detected", profile: profile}]++
	}
	if out.Revised {
		w.counts[count{what: "revised", profile: profile}]++
	}
	if out.Alone {
		w.counts[count{what: "alone", profile: profile}]++
	}
	if out.AsWritten {
		n.countAsWritten(w, profile, lr)
	}
	if out.Weak {
		w.counts[count{what: "weak", profile: profile}]++
	}
	for _, e := range out.Errors {
		w.counts[count{what: "field", profile: profile, reason: e.Reason}]++
		if total, due := n.malformed.Note("", 1); due {
			n.logger.Warn("Could not read a field of a training record; its value stays with the framework's details",
				zap.String("file", text(lr.Attributes(), trainrecord.AttrLogFilePath)), zap.String("profile", profile),
				zap.String("field", e.Field), zap.String("reason", e.Reason), zap.Int64("more_since_last", total-1))
		}
	}
}

// countAsWritten counts an object whose epoch is an index only as far as anybody knows.
func (n *logNormalizer) countAsWritten(w *worker, profile string, lr plog.LogRecord) {
	w.counts[count{what: "written", profile: profile}]++
	if total, due := n.asWritten.Note("", 1); due {
		n.logger.Info("Took epochs for indexes from 0: no epoch 0 or 1 at the start of the stream tells how it counts",
			zap.String("file", text(lr.Attributes(), trainrecord.AttrLogFilePath)), zap.String("profile", profile),
			zap.String("remedy", "if the loop counts from 1 and resumed in a file of its own, go on in the first file, write epochs from 0, "+
				"or give a profile with base: 1 ("+docsProfiles+")"),
			zap.Int64("more_since_last", total-1))
	}
}

// record writes a batch's counts into the self-metrics.
func (n *logNormalizer) record(ctx context.Context, w *worker) {
	counters := map[string]metric.Int64Counter{
		"mapped": n.telemetry.Mapped, "unmapped": n.telemetry.Unmapped, "detected": n.telemetry.Detections,
		"weak": n.telemetry.WeakMatches, "field": n.telemetry.FieldErrors, "forgotten": n.telemetry.StreamsForgotten,
		"ambiguous": n.telemetry.Ambiguous, "alone": n.telemetry.MappedAlone, "revised": n.telemetry.Revisions,
		"written": n.telemetry.EpochsAsWritten, "moved": n.telemetry.AttributesMoved, "attributes": n.telemetry.AttributesMapped,
	}
	for c, value := range w.counts {
		if value == 0 {
			continue
		}
		var attrs []attribute.KeyValue
		if c.profile != "" {
			attrs = append(attrs, attribute.String("profile", c.profile))
		}
		if c.reason != "" {
			attrs = append(attrs, attribute.String("reason", c.reason))
		}
		counters[c.what].Add(ctx, value, n.telemetry.With(attrs...))
	}
	clear(w.counts)
}
