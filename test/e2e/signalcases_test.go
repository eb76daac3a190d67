package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
)

const (
	casesBegin   = 1795168800 // the clock of all cases: 2026-11-20T10:00:00Z
	caseLasts    = 2 * time.Minute
	caseInterval = 10 * time.Second
)

// signalEvent is a line of a case's timeline.
type signalEvent struct {
	At     string
	Record map[string]any
	UID    string
}

// signalWant is what a case wants, by its own clock.
type signalWant struct {
	Resource map[string]any
	Flushes  []struct {
		Flush   string
		Metrics []map[string]any
		Spans   []map[string]any
	}
	SelfMetrics map[string]float64 `json:"self_metrics"`
}

// TestSignalCasesByTheClockOfTheHost plays the worked cases of the connector on the binary, whose clock nobody can move: shifted to now, at their own speed, with
// points and spans compared one by one. Those that last longer, or have settings of their own, are played by the connector's own test only, which has a clock of its
// own: durations-only takes eight minutes. SIGNAL_CASES names a folder of further ones.
func TestSignalCasesByTheClockOfTheHost(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("SIGNAL_CASES")
	if dir == "" {
		dir = filepath.Join(collector.Root(t), "connector", "trainingsignalsconnector", "testdata")
	}
	found, err := filepath.Glob(filepath.Join(dir, "*", "timeline.jsonl"))
	require.NoError(t, err)
	played := 0
	for _, path := range found {
		events := readSignalEvents(t, path)
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), "config.json")); err == nil || sinceBegin(t, events[len(events)-1].At) > caseLasts {
			continue
		}
		played++
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			t.Parallel()
			playSignals(t, filepath.Dir(path), events)
		})
	}
	assert.NotZero(t, played)
}

func readSignalEvents(t *testing.T, path string) (events []signalEvent) {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range bytes.Lines(data) {
		var e signalEvent
		require.NoError(t, json.Unmarshal(line, &e))
		require.Empty(t, e.UID, "the receiver gives its own")
		events = append(events, e)
	}
	return events
}

// sinceBegin is a case's time from its beginning on.
func sinceBegin(t *testing.T, nanos string) time.Duration {
	n, err := strconv.ParseInt(nanos, 10, 64)
	require.NoError(t, err)
	return time.Unix(0, n).Sub(time.Unix(casesBegin, 0))
}

func playSignals(t *testing.T, dir string, events []signalEvent) {
	var want signalWant
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &want))
	sink := otlpsink.Start(t, otlpsink.Accept)
	f := newFolders(t)
	c := collector.Start(t, collector.Options{Configs: []string{collector.Shipped(t, "quickstart.yaml")}, Env: f.env(t), YAML: fmt.Sprintf(`
connectors: {training_signals: {storage: file_storage}}
exporters: {otlp_grpc: {endpoint: '%s', tls: {insecure: true}, sending_queue: {enabled: false}}}
service: {pipelines: {logs: {exporters: [training_signals]}, metrics: {receivers: [training_signals], exporters: [otlp_grpc]},
  traces: {receivers: [training_signals], exporters: [otlp_grpc]}}}`, sink.Endpoint())})
	begin := time.Now().Add(2 * time.Second).Truncate(caseInterval).Add(caseInterval) // a tick of the collector
	shift := begin.Sub(time.Unix(casesBegin, 0))
	for _, e := range events {
		if e.Record == nil {
			continue
		}
		ts, err := time.Parse(time.RFC3339Nano, e.Record["ts"].(string))
		require.NoError(t, err)
		e.Record["ts"] = ts.Add(shift).UTC().Format(time.RFC3339Nano)
		line, err := json.Marshal(e.Record)
		require.NoError(t, err)
		pause(t, time.Until(begin.Add(sinceBegin(t, e.At)-900*time.Millisecond))) // the receiver reads it by then, and no tick is so near before it
		newTrainer(t, f, e.Record["run_id"].(string)).lines(string(line))
	}
	for name, n := range want.SelfMetrics {
		name, label, _ := strings.Cut(strings.TrimSuffix(name, "}"), "{")
		key, value, _ := strings.Cut(label, "=")
		c.WaitMetric("otelcol_training_signals_"+name, map[string]string{key: value}, n, 2*caseInterval)
	}
	ticks, points, spans := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, fl := range want.Flushes {
		ticks[fl.Flush] = true
		for _, p := range fl.Metrics {
			points[fmt.Sprint(p["name"], p["unit"], text(t, p["attributes"]), text(t, want.Resource), p["start"], p["time"], p["monotonic"], p["value"], p["count"], p["sum"], p["bounds"], p["buckets"])] = true
		}
		for _, s := range fl.Spans {
			delete(s, "links")
			if s["name"] != "training.run" && s["name"] != "training.start" {
				delete(s, "span_id") // made of the time of its record
			}
			spans[text(t, s)] = true
		}
	}
	last := begin.Add(sinceBegin(t, want.Flushes[len(want.Flushes)-1].Flush))
	pause(t, time.Until(last.Add(5*time.Second)))
	c.Stop()
	assert.ElementsMatch(t, slices.Collect(maps.Keys(points)), gotPoints(t, sink.Metrics(), shift, ticks))
	assert.ElementsMatch(t, slices.Collect(maps.Keys(spans)), gotSpans(t, sink.Spans(), shift))
}

// text is a value as comparable JSON.
func text(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// gotPoints spells the points of ticks as the case does.
func gotPoints(t *testing.T, all []pmetric.Metrics, shift time.Duration, ticks map[string]bool) (list []string) {
	back := func(at time.Time) string { return strconv.FormatInt(at.Add(-shift).UnixNano(), 10) }
	floats := func(of any) (out []any) { require.NoError(t, json.Unmarshal([]byte(text(t, of)), &out)); return out }
	for _, md := range all {
		for _, rm := range md.ResourceMetrics().All() {
			resource := text(t, rm.Resource().Attributes().AsRaw())
			for _, m := range rm.ScopeMetrics().At(0).Metrics().All() {
				if m.Type() == pmetric.MetricTypeHistogram {
					for _, dp := range m.Histogram().DataPoints().All() {
						if at := back(dp.Timestamp().AsTime()); ticks[at] {
							list = append(list, fmt.Sprint(m.Name(), m.Unit(), text(t, dp.Attributes().AsRaw()), resource, back(dp.StartTimestamp().AsTime()), at, nil, nil,
								float64(dp.Count()), dp.Sum(), floats(dp.ExplicitBounds().AsRaw()), floats(dp.BucketCounts().AsRaw())))
						}
					}
					continue
				}
				for _, dp := range m.Sum().DataPoints().All() {
					if at := back(dp.Timestamp().AsTime()); ticks[at] {
						list = append(list, fmt.Sprint(m.Name(), m.Unit(), text(t, dp.Attributes().AsRaw()), resource, back(dp.StartTimestamp().AsTime()), at,
							m.Sum().IsMonotonic(), dp.DoubleValue()+float64(dp.IntValue()), nil, nil, nil, nil))
					}
				}
			}
		}
	}
	return list
}

// gotSpans spells spans as the case does.
func gotSpans(t *testing.T, all []otlpsink.Span, shift time.Duration) (list []string) {
	ids := map[string]bool{}
	for _, s := range all {
		back := func(at time.Time) string { return strconv.FormatInt(at.Add(-shift).UnixNano(), 10) }
		require.False(t, ids[s.SpanID().String()], "two spans have one id")
		ids[s.SpanID().String()] = true
		got := map[string]any{
			"name": s.Name(), "kind": strings.ToLower(s.Kind().String()), "trace_id": s.TraceID().String(), "parent_span_id": s.ParentSpanID().String(),
			"start": back(s.StartTimestamp().AsTime()), "end": back(s.EndTimestamp().AsTime()), "attributes": s.Attributes().AsRaw(), "status": strings.ToLower(s.Status().Code().String()),
		}
		if s.Status().Message() != "" {
			got["status_message"] = s.Status().Message()
		}
		if s.Name() == "training.run" || s.Name() == "training.start" {
			got["span_id"] = s.SpanID().String()
		}
		list = append(list, text(t, got))
	}
	return list
}
