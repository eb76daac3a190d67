package signals

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.yaml.in/yaml/v3"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/series"
)

// netdata charts points as Netdata's plugin does: one chart for everything that identifies a series but the attribute that its mapping makes the
// dimension; of a counter the first point is a baseline that is never shown, later ones are differences; a slot is closed once a later one
// was seen, and what comes for it then is gone; values have three decimals; a request makes at most so many new charts.
type netdata struct {
	interval  int64 // nanoseconds
	perOne    int   // new charts a request
	dimension map[string]string

	charts    map[string]bool
	counters  map[string]counter
	shown     map[string]map[string]float64 // by metric and dimension: the sum of what counters show, the last value of the rest
	discarded int
	refused   int
	bad       []string
}

type counter struct {
	value float64
	start int64
	slot  int64
}

// mapping reads the shipped file as the plugin does.
func mapping(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(collector.Shipped(t, "netdata/otel.d/v1/metrics/train.yaml"))
	require.NoError(t, err)
	var file struct {
		Metrics map[string][]struct {
			Dimension string `yaml:"dimension_attribute_key"`
		}
	}
	require.NoError(t, yaml.Unmarshal(data, &file))
	dimensions := map[string]string{}
	for name, list := range file.Metrics {
		require.Len(t, list, 1, name)
		dimensions[name] = list[0].Dimension
	}
	return dimensions
}

func newNetdata(t *testing.T, interval time.Duration) *netdata {
	t.Helper()
	return &netdata{
		interval: int64(interval), perOne: 100, dimension: mapping(t), charts: map[string]bool{}, counters: map[string]counter{}, shown: map[string]map[string]float64{},
	}
}

// take charts a request.
func (n *netdata) take(md pmetric.Metrics) {
	fresh := 0
	for _, p := range series.Points(md) {
		id := p.Identity
		dimension := "value"
		if key, ok := n.dimension[p.Name]; ok {
			if p.Type == "Histogram" {
				n.bad = append(n.bad, p.Name+": a dimension on a histogram merges series")
			}
			dimension = fmt.Sprint(id.Attributes[key])
			rest := map[string]any{}
			for k, v := range id.Attributes {
				if k != key {
					rest[k] = v
				}
			}
			id.Attributes = rest
		}
		if strings.ContainsAny(dimension+p.Name, " \t\n") {
			n.bad = append(n.bad, p.Name+": white space breaks the line")
		}
		chart := id.Key()
		if !n.charts[chart] {
			cost := 1
			if p.Type == "Histogram" {
				cost = 3
			}
			if fresh+cost > n.perOne {
				n.refused++
				continue
			}
			fresh += cost
			n.charts[chart] = true
		}
		n.point(p, chart+dimension, dimension)
	}
}

func (n *netdata) point(p series.Point, key, dimension string) {
	slot := int64(p.Time) / n.interval
	last, known := n.counters[key]
	if known && slot <= last.slot {
		n.discarded++
		return
	}
	var value float64
	_, _ = fmt.Sscan(strings.Fields(p.Value)[0], &value)
	if p.Type == "Histogram" { // the value is sum and count
		_, _ = fmt.Sscan(strings.Fields(p.Value)[len(strings.Fields(p.Value))-1], &value)
	}
	n.counters[key] = counter{value, int64(p.Start), slot}
	if n.shown[p.Name] == nil {
		n.shown[p.Name] = map[string]float64{}
	}
	switch {
	case p.Type == "Sum" && !p.Monotonic:
		n.shown[p.Name][dimension] = thousandths(value)
	case !known || last.start != int64(p.Start) || value < last.value:
		// a baseline: nothing is shown
	default:
		n.shown[p.Name][dimension] += thousandths(value - last.value)
	}
}

// thousandths cuts a value as the plugin's protocol does.
func thousandths(x float64) float64 { return float64(int64(x*1000)) / 1000 }

// TestNetdataShowsShortRuns writes runs that end before anybody sees them start, and wants each on its charts.
func TestNetdataShowsShortRuns(t *testing.T) {
	t.Parallel()
	sink := otlpsink.Start(t, otlpsink.Accept)
	f := newFolders(t)
	env := f.env(t)
	env["NETDATA_OTLP_ENDPOINT"], env["SIGNALS_INTERVAL"] = sink.Endpoint(), "1s"
	collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, "host-training.yaml")}, Env: env, YAML: "processors: {batch: {timeout: 100ms}}\n",
	})
	outcomes := []string{"success", "failed", "success", "aborted"}
	for i, outcome := range outcomes {
		write(t, f, fmt.Sprint("short-", i), outcome)
		wait(t, 500*time.Millisecond)
	}
	chart := func() *netdata {
		n := newNetdata(t, time.Second)
		for _, md := range sink.Metrics() {
			n.take(onlyTraining(md))
		}
		return n
	}
	const ns = trainrecord.Namespace + "."
	require.Eventually(t, func() bool {
		n := chart()
		return n.shown[ns+"run.outcomes"]["success"] == 2 && n.shown[ns+"run.duration"]["value"] >= 4
	}, 60*time.Second, 200*time.Millisecond)
	n := chart()
	assert.Equal(t, map[string]float64{"success": 2, "failed": 1, "aborted": 1, "unknown": 0}, n.shown[ns+"run.outcomes"])
	assert.Equal(t, map[string]float64{"running": 0, "stalled": 0}, n.shown[ns+"run.active"])
	assert.InDelta(t, 4*128, n.shown[ns+"sample.processed"]["train"], 0)
	assert.InDelta(t, 4.0, n.shown[ns+"phase.time"]["train"], 0.02)
	assert.InDelta(t, 2.0, n.shown[ns+"phase.time"]["validation"], 0.02)
	assert.Zero(t, n.discarded, "points came for slots that were closed")
	assert.Zero(t, n.refused, "more new charts than a request may make")
	assert.Empty(t, n.bad)
	assert.LessOrEqual(t, len(n.charts), 12, "charts of one resource, framework and family")
}

func onlyTraining(md pmetric.Metrics) pmetric.Metrics {
	out := pmetric.NewMetrics()
	md.CopyTo(out)
	for _, rm := range out.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			sm.Metrics().RemoveIf(func(m pmetric.Metric) bool { return !strings.HasPrefix(m.Name(), trainrecord.Namespace+".") })
		}
	}
	return out
}
