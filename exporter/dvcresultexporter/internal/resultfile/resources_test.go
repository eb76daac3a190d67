package resultfile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/gpuuse"
)

// drawGPUs makes what a tracker may report.
func drawGPUs(t *rapid.T) *gpuuse.Report {
	r := &gpuuse.Report{Attribution: gpuuse.Ambiguous}
	switch rapid.IntRange(0, 3).Draw(t, "resources") {
	case 0:
		return nil
	case 1:
		return r
	}
	number := func(name string) *float64 {
		if rapid.Bool().Draw(t, name+" seen") {
			return nil
		}
		v := rapid.Float64Range(0, 1e12).Draw(t, name)
		return &v
	}
	r.Attribution, r.Interval = gpuuse.ByHost, rapid.Float64Range(0, 60).Draw(t, "interval")
	for range rapid.IntRange(1, 3).Draw(t, "gpus") {
		g := gpuuse.GPU{
			UUID: rapid.StringN(1, 10, -1).Draw(t, "uuid"), Model: drawText(t, "model"), Samples: 1, Shared: rapid.Bool().Draw(t, "shared"),
			Energy: number("energy"), MemoryPeak: number("peak"), MemoryMean: number("mean"), UtilMean: number("util"), TemperatureMax: number("heat"),
		}
		if g.Energy != nil {
			g.EnergyMethod = gpuuse.MethodPower
		}
		if rapid.Bool().Draw(t, "xid") {
			g.XIDs, g.Throttled, g.ThrottleMethod = []int64{31}, []gpuuse.Throttle{{Reason: "power", Seconds: 2}}, gpuuse.MethodReasons
		}
		r.GPUs = append(r.GPUs, g)
	}
	return r
}

func TestUnseenValuesOfAGPUAreAbsent(t *testing.T) {
	t.Parallel()
	peak := 3.0
	got := resourcesObject(&gpuuse.Report{Attribution: gpuuse.ByPod, Interval: 10, GPUs: []gpuuse.GPU{{UUID: "g", Samples: 2, MemoryPeak: &peak, XIDs: []int64{}}}})
	assert.Equal(t, object{"attribution": "pod", "interval_seconds": 10.0, "gpus": []any{
		object{"uuid": "g", "samples": int64(2), "covered_seconds": 0.0, "fb_used_peak_mib": 3.0, "xid": []any{}},
	}}, got)
	assert.Nil(t, resourcesObject(nil))
}
