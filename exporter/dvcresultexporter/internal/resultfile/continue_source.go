package resultfile

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/gpuuse"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// source takes over where and what ran, as far as the state does not say.
func (c *continuation) source() {
	p, st := &c.p.Source, &c.st
	if st.Git == nil && p.Git != nil {
		st.Git = &trainrun.Git{Commit: p.Git.Commit, Branch: p.Git.Branch, Dirty: p.Git.Dirty}
	}
	st.Command = cmp.Or(st.Command, p.Command)
	st.Framework = cmp.Or(st.Framework, p.Framework.Name)
	st.TaskFamily = cmp.Or(st.TaskFamily, c.p.TaskFamily)
	if len(st.Versions) == 0 {
		versions := maps.Clone(p.Versions)
		if versions == nil {
			versions = map[string]string{}
		}
		versions[p.Framework.Name], versions["python"], versions["torch"], versions["cuda"] = p.Framework.Version, p.Python, p.Torch, p.CUDA
		for _, name := range slices.Sorted(maps.Keys(versions)) {
			if versions[name] != "" {
				st.Versions = append(st.Versions, trainrun.Pair{Name: name, Value: versions[name]})
			}
		}
	}
	w := c.p.Where
	if st.Where == (trainrun.Where{}) {
		st.Where = trainrun.Where{Host: w.Host, Service: w.Service, Namespace: w.K8s.Namespace, Job: w.K8s.Job, Pod: w.K8s.Pod, Container: w.K8s.Container}
	}
}

// records stay as the disk has them: which of them the state has seen too, nobody can tell.
func (c *continuation) records() {
	p := &c.p.Records
	out := trainrun.Records{
		Count: p.Count, FirstSeq: p.FirstSeq, LastSeq: p.LastSeq, Gaps: p.Gaps, Rejected: p.Rejected, Streams: p.Streams, NoTime: p.NoTime,
	}
	for _, event := range slices.Sorted(maps.Keys(p.ByEvent)) {
		out.ByEvent = append(out.ByEvent, trainrun.EventCount{Event: event, Count: p.ByEvent[event]})
	}
	c.st.Records = out
}

// previousGPUs are the resources of a result.
type previousGPUs struct {
	Attribution string
	Interval    float64 `json:"interval_seconds"`
	GPUs        []previousGPU
}

type previousGPU struct {
	UUID, Model, Host string
	Instance          string `json:"mig_instance"`
	Profile           string `json:"mig_profile"`
	Shared            bool
	Samples           int64
	Covered           float64            `json:"covered_seconds"`
	Energy            *float64           `json:"energy_joules"`
	EnergyMethod      string             `json:"energy_method"`
	Peak              *float64           `json:"fb_used_peak_mib"`
	Mean              *float64           `json:"fb_used_mean_mib"`
	Util              *float64           `json:"gpu_util_mean_percent"`
	Heat              *float64           `json:"temperature_max_celsius"`
	Throttle          map[string]float64 `json:"throttle"`
	ThrottleMethod    string             `json:"throttle_method"`
	XID               []int64            `json:"xid"`
}

// GPUsOf gives what a result on disk says of GPUs when it rests on more samples than what is known now: readings do not come twice. An
// ambiguous report stays.
func GPUsOf(b []byte, id string, now *gpuuse.Report) *gpuuse.Report {
	p, ok := readPrevious(b)
	if !ok || p.RunID != cutText(id, maxText) || p.Resources == nil || now != nil && now.Attribution == gpuuse.Ambiguous {
		return now
	}
	out := &gpuuse.Report{Attribution: p.Resources.Attribution, Interval: p.Resources.Interval}
	for _, g := range p.Resources.GPUs {
		gpu := gpuuse.GPU{
			UUID: g.UUID, Model: g.Model, Host: g.Host, Instance: g.Instance, Profile: g.Profile, Shared: g.Shared, Samples: g.Samples,
			Covered: g.Covered, Energy: g.Energy, EnergyMethod: g.EnergyMethod, MemoryPeak: g.Peak, MemoryMean: g.Mean, UtilMean: g.Util,
			TemperatureMax: g.Heat, ThrottleMethod: g.ThrottleMethod, XIDs: g.XID,
		}
		for _, reason := range slices.Sorted(maps.Keys(g.Throttle)) {
			gpu.Throttled = append(gpu.Throttled, gpuuse.Throttle{Reason: strings.TrimSuffix(reason, "_seconds"), Seconds: g.Throttle[reason]})
		}
		out.GPUs = append(out.GPUs, gpu)
	}
	if samples(now) >= samples(out) {
		return now
	}
	return out
}

func samples(r *gpuuse.Report) (n int64) {
	if r != nil {
		for i := range r.GPUs {
			n += r.GPUs[i].Samples
		}
	}
	return n
}
