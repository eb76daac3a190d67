package resultfile

import (
	"math"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

func ptr[T any](v T) *T { return &v }

// curve is a series over epochs.
func curve(part, name string, values ...float64) trainrun.Series {
	s := trainrun.Series{Part: part, Name: name, Axis: trainrun.AxisEpoch}
	for i, v := range values {
		p := trainrun.Point{X: int64(i), V: v}
		s.Points, s.Last = append(s.Points, p), p
		if !isFinite(v) {
			if s.NonFinite++; s.FirstNonFinite == nil {
				s.FirstNonFinite = ptr(p.X)
			}
			continue
		}
		s.Count++
		if s.Min == nil || v < s.Min.V {
			s.Min = ptr(p)
		}
		if s.Max == nil || v > s.Max.V {
			s.Max = ptr(p)
		}
	}
	return s
}

const second = int64(1e9)

// fullState is a run with everything in it.
func fullState() *trainrun.State {
	start := int64(1795687200) * second
	best := &trainrun.Checkpoint{Path: "runs/7f3a9c/best.pt", Kind: "best", SHA256: "ab12", Size: ptr[int64](52428800), Epoch: ptr[int64](1)}
	last := &trainrun.Checkpoint{Path: "runs/7f3a9c/last.pt", Kind: "last", Epoch: ptr[int64](2)}
	steps := curve("", "train/loss", 2, 1)
	steps.Axis, steps.Shared, steps.Thinned, steps.OtherRanks = trainrun.AxisStep, true, true, 3
	return &trainrun.State{
		RunID: "7f3a9c", Outcome: "success", OutcomeFrom: "end", StopReason: "early_stopping",
		StartedAt: start, EndedAt: start + 6127512*second/1000, LastRecordAt: start + 6127512*second/1000, Attempt: 2,
		Attempts: []trainrun.Attempt{
			{Number: 1, Host: "gpu-01", StartedAt: start, EndedAt: start + 60*second, Outcome: "failed", FirstEpoch: ptr[int64](0), LastEpoch: ptr[int64](1), SupersededEpochs: 1},
			{Number: 2, Host: "gpu-02", StartedAt: start + 90*second, EndedAt: start + 6127*second, Outcome: "success", FirstEpoch: ptr[int64](1), LastEpoch: ptr[int64](2), FirstStep: ptr[int64](0), LastStep: ptr[int64](9), SupersededSteps: 2},
		},
		Epochs: trainrun.Epochs{Planned: ptr[int64](3), Completed: ptr[int64](3), Last: ptr[int64](2), Reported: ptr[int64](3)},
		Steps:  trainrun.Steps{Planned: ptr[int64](30), Last: ptr[int64](29)},
		Parts: []trainrun.Part{{
			Name: "fold=0", Outcome: "success", Epochs: trainrun.Epochs{Last: ptr[int64](1)},
			Objective: &trainrun.Objective{Metric: "val/loss", Mode: "min", From: "inferred"},
			Best:      &trainrun.Best{Metric: "val/loss", Mode: "min", Value: 0.3, X: 1},
		}},
		Series: []trainrun.Series{
			curve("", "grad.norm", 1, math.NaN(), math.Inf(1)),
			curve("", "loss", 1), curve("", "loss/aux", 0.125),
			curve("", "step", 1, 2, 3),
			curve("", "train/loss", 2.5, 1e-5, 0.5), steps,
			curve("", "val/loss", 0.5, 0.25, 0.375), curve("", "val/mAP50(B)", 0.1, 0.5, 0.75),
			curve("fold=0", "val/loss", 0.4, 0.3),
		},
		Finals:        []trainrun.Final{{Name: "test/acc", Value: 0.9}, {Name: "val/loss", Value: 0.26}},
		Objective:     &trainrun.Objective{Metric: "val/loss", Mode: "min", From: "record"},
		Best:          &trainrun.Best{Metric: "val/loss", Mode: "min", Value: 0.25, X: 1, Checkpoint: best, Time: start + 30*second},
		Durations:     trainrun.Durations{Run: 6127512 * second / 1000, RunReported: 6000 * second, Phases: []trainrun.PhaseTotal{{Phase: "data_wait", Nanos: 1207 * second / 10}, {Phase: "train", Nanos: 5210 * second}}},
		Failures:      []trainrun.Failure{{Attempt: 1, Rank: 1, At: start + 60*second, Type: "torch.OutOfMemoryError", Message: "CUDA out of memory", Stack: "a\nb", Epoch: ptr[int64](1)}},
		FailuresTotal: 1,
		Params:        map[string]any{"lr": 1e-5, "betas": []any{0.9, 0.999}, "optim": "AdamW", "seed": "18446744073709551615", "token": "***", "resume": nil},
		ParamsChanges: []trainrun.ParamsChange{{Attempt: 2, Key: "lr", Old: 1e-4, New: 1e-5}, {Attempt: 2, Key: "resume", Old: trainrun.Absent{}, New: nil}},
		Masked:        1,
		Artifacts:     []trainrun.Artifact{{Role: "report", Path: "report.html", Size: ptr[int64](12)}},
		Checkpoints:   trainrun.Checkpoints{Last: last, Best: best, Count: 5},
		Git:           &trainrun.Git{Commit: "c0ffee", Branch: "main", Dirty: ptr(false)},
		Command:       "train.py --lr 1e-5",
		Versions:      []trainrun.Pair{{Name: "cuda", Value: "13.0"}, {Name: "lightning", Value: "2.6"}, {Name: "numpy", Value: "2.3"}, {Name: "python", Value: "3.12"}, {Name: "torch", Value: "2.9"}},
		Framework:     "lightning", TaskFamily: "detection",
		Where:     trainrun.Where{Host: "gpu-01", Service: "trainer", Namespace: "training", Job: "gpu-job-7f3a9c", Pod: "gpu-job-7f3a9c-x8k2p", Container: "trainer"},
		TraceID:   [16]byte{1, 2, 3},
		Records:   trainrun.Records{Count: 42, ByEvent: []trainrun.EventCount{{Event: "epoch.end", Count: 5}, {Event: "run.end", Count: 1}}, FirstSeq: 1, LastSeq: 44, Gaps: 2, Rejected: 1, NoTime: 3},
		Conflict:  &trainrun.Conflict{Host: "gpu-01", Attempt: 2, Records: 20, Hosts: []trainrun.HostSpan{{Host: "gpu-01", First: start, Last: start + 60*second}, {Host: "gpu-02", First: start + 30*second, Last: start + 90*second}}},
		Truncated: []trainrun.Truncation{{What: "identities", Count: 7, Digest: "d1"}},
		Sampled:   true,
	}
}
