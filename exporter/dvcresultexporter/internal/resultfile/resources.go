package resultfile

import "github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/gpuuse"

// resourcesObject says what the run did with GPUs. What no sample told is left out, never zero.
func resourcesObject(r *gpuuse.Report) object {
	if r == nil {
		return nil
	}
	o := object{"attribution": r.Attribution}
	if r.Interval > 0 {
		o["interval_seconds"] = r.Interval
	}
	gpus := make([]any, 0, len(r.GPUs))
	for i := range r.GPUs {
		gpus = append(gpus, gpuObject(&r.GPUs[i]))
	}
	if len(gpus) > 0 {
		o["gpus"] = gpus
	}
	return o
}

func gpuObject(g *gpuuse.GPU) object {
	o := object{"uuid": cutText(g.UUID, maxText), "samples": g.Samples, "covered_seconds": g.Covered}
	put(o, "model", g.Model)
	put(o, "host", g.Host)
	put(o, "mig_instance", g.Instance)
	put(o, "mig_profile", g.Profile)
	if g.Shared {
		o["shared"] = true
	}
	put(o, "energy_joules", g.Energy)
	put(o, "energy_method", g.EnergyMethod)
	put(o, "fb_used_peak_mib", g.MemoryPeak)
	put(o, "fb_used_mean_mib", g.MemoryMean)
	put(o, "gpu_util_mean_percent", g.UtilMean)
	put(o, "temperature_max_celsius", g.TemperatureMax)
	throttle := object{}
	for _, t := range g.Throttled {
		throttle[t.Reason+"_seconds"] = t.Seconds
	}
	put(o, "throttle", throttle)
	put(o, "throttle_method", g.ThrottleMethod)
	if g.XIDs != nil {
		codes := make([]any, len(g.XIDs))
		for i, code := range g.XIDs {
			codes[i] = code
		}
		o["xid"] = codes
	}
	return o
}
