package dvcresultexporter

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
)

const inPod = `"resource":{"k8s.namespace.name":"training","k8s.pod.name":"job-7f3a9c-0"},"host":"gpu-01"`

// podRun is a run of five minutes in a pod.
func podRun(id string) []line {
	return inFile(1, stream(
		record(id, 0, "run.start", `"planned_epochs":4`, inPod),
		epoch(id, 0, inPod), epoch(id, 1, inPod), epoch(id, 2, inPod), epoch(id, 3, inPod),
		record(id, 300, "run.end", `"outcome":"success"`),
	))
}

// scrapeOf is a scrape of the pod's GPU and of an idle one, n seconds after the start of the run.
func scrapeOf(n int) pmetric.Metrics {
	md := pmetric.NewMetrics()
	ms := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
	add := func(name string, v float64) {
		m := ms.AppendEmpty()
		m.SetName(name)
		points := m.SetEmptyGauge().DataPoints()
		for _, uuid := range []string{"GPU-0", "GPU-1"} {
			p := points.AppendEmpty()
			p.SetDoubleValue(v)
			p.SetTimestamp(pcommon.NewTimestampFromTime(began.Add(time.Duration(n) * time.Second)))
			p.Attributes().PutStr("UUID", uuid)
			p.Attributes().PutStr("hostname", "gpu-01")
			if uuid == "GPU-0" {
				p.Attributes().PutStr("pod", "job-7f3a9c-0")
				p.Attributes().PutStr("namespace", "training")
			}
		}
	}
	add("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 1e12+float64(n)*400_000)
	add("DCGM_FI_DEV_FB_USED", 1000+float64(n))
	add("node_load1", 3)
	return md
}

type resources struct {
	Attribution string
	Interval    float64 `json:"interval_seconds"`
	GPUs        []struct {
		UUID    string
		Samples int
		Energy  float64 `json:"energy_joules"`
		Peak    float64 `json:"fb_used_peak_mib"`
	}
}

func (r *rig) resources(run string) *resources {
	r.t.Helper()
	var doc struct{ Resources *resources }
	require.NoError(r.t, json.Unmarshal([]byte(r.files(run)["result.json"]), &doc))
	return doc.Resources
}

// play delivers a run and the scrapes of its time as they happen, and calls between after each.
func (r *rig) play(lines []line, between func(second int)) {
	r.t.Helper()
	at := map[int]line{0: lines[0], 70: lines[1], 130: lines[2], 190: lines[3], 250: lines[4], 300: lines[5]}
	for n := 0; n <= 400; n += 10 {
		require.NoError(r.t, r.exp.consumeMetrics(r.t.Context(), scrapeOf(n)))
		if l, ok := at[n]; ok {
			r.feed(l)
		}
		pass(10 * time.Second)
		if between != nil {
			between(n)
		}
	}
}

func TestResultSaysWhatTheGPUsDid(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.play(podRun("x"), nil)
		got := r.resources("x")
		require.NotNil(t, got)
		assert.Equal(t, "pod", got.Attribution)
		assert.InDelta(t, 10, got.Interval, 0)
		require.Len(t, got.GPUs, 1)
		g := got.GPUs[0]
		assert.Equal(t, "GPU-0", g.UUID)
		assert.Equal(t, 31, g.Samples)
		assert.InDelta(t, 120_000, g.Energy, 0)
		assert.InDelta(t, 1300, g.Peak, 0)
		assert.Equal(t, "82", r.metric("otelcol_dvc_result_gpu_readings"))
		require.NoError(t, r.exp.consumeMetrics(t.Context(), scrapeOf(400)))
		assert.Equal(t, "2", r.metric(`otelcol_dvc_result_ignored_gpu_readings{reason="duplicate"}`))
		md := scrapeOf(410)
		for _, m := range md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
			m.Gauge().DataPoints().RemoveIf(func(p pmetric.NumberDataPoint) bool { return !p.Attributes().Remove("UUID") })
		}
		require.NoError(t, r.exp.consumeMetrics(t.Context(), md))
		assert.Equal(t, "1", r.metric(`otelcol_dvc_result_ignored_gpu_readings{reason="no_uuid"}`), "of one host, without an index")
		r.stop()
	})
}

func TestNoResourcesWithoutReadings(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.feed(podRun("x")...)
		pass(time.Minute)
		assert.Nil(t, r.resources("x"))
		r.stop()
	})
}

// Kills at any time change no byte; late records and restarts after the end neither.
func TestResourcesSurviveKills(t *testing.T) {
	t.Parallel()
	var want map[string]string
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.play(podRun("x"), nil)
		want = r.files("x")
		r.stop()
	})
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.play(podRun("x"), func(n int) {
			if n%70 == 0 {
				r.kill()
				r.start()
			}
		})
		pass(time.Minute)
		assert.Equal(t, want, r.files("x"))
		r.kill()
		r.start()
		for n := 410; n < 1500; n += 10 { // everything is joined, the ring is of later times
			require.NoError(t, r.exp.consumeMetrics(t.Context(), scrapeOf(n)))
			pass(10 * time.Second)
		}
		r.feed(line{record("x", 301, "artifact", `"role":"report","path":"r.html"`), 1<<fileShift | 9000})
		pass(time.Minute)
		assert.NotEqual(t, want["result.json"], r.files("x")["result.json"])
		assert.Equal(t, 31, r.resources("x").GPUs[0].Samples)
		r.stop()
	})
}

func TestReadingsWaitForNoStorage(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.host.Fail(func(call componentcheck.StorageCall) error {
			if call.Op == "batch" {
				return errors.New("no space left")
			}
			return nil
		})
		for n := range 100 {
			require.NoError(t, r.exp.consumeMetrics(t.Context(), scrapeOf(n*10)))
			synctest.Wait()
		}
		pass(time.Minute)
		assert.NotEmpty(t, r.metric(`otelcol_dvc_result_storage_errors{operation="gpu"}`))
		r.host.Fail(nil)
		pass(time.Minute)
		r.stop()
		r.start()
		assert.Equal(t, 2, r.exp.engine.meter.tracker.GPUs())
		r.stop()
	})
}

// Two runs of one host: while it is not known that they were not there at once, nothing is said; the result is written again when it is.
func TestARivalThatWasNoneIsTakenBack(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.IdleTimeout = 10 * time.Minute
		r.start()
		r.feed(inFile(1, stream(record("crashed", -100, "epoch.end", `"epoch":0`, `"host":"gpu-01"`)))...)
		second := inFile(2, stream(record("x", 0, "run.start", "", `"host":"gpu-01"`), record("x", 300, "run.end", `"outcome":"success"`)))
		r.feed(second[0])
		for n := 0; n <= 300; n += 10 {
			require.NoError(t, r.exp.consumeMetrics(t.Context(), scrapeOf(n)))
			pass(10 * time.Second)
		}
		r.feed(second[1])
		pass(time.Minute)
		assert.Equal(t, "ambiguous", r.resources("x").Attribution)
		pass(10 * time.Minute)
		r.says("crashed", "stalled", true, true)
		got := r.resources("x")
		assert.Equal(t, "host", got.Attribution)
		assert.Equal(t, "GPU-1", got.GPUs[0].UUID)
		r.stop()
	})
}
