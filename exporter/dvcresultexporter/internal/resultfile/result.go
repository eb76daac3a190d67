package resultfile

import (
	"encoding/hex"
	"time"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/digest"
	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/gpuuse"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

const (
	// Schema is the format of result.json; result.schema.json describes it.
	Schema = "train-result/1"

	coveragePartial = "partial"

	maxResultSize = 512 << 10
	maxText       = 4 << 10
	maxFailures   = 20
	maxArtifacts  = 64
)

// result makes result.json. Its keys are there when their value is known.
type result struct {
	state   *trainrun.State
	verdict Verdict
	metrics []*metric
	cut     *cuts
	params  Params
	files   object
	dir     string // of the run
	gpus    *gpuuse.Report
	digests map[string]digest.Digest
}

// encode writes the result, and leaves out the end of its largest list until it has a bearable size.
func (r *result) encode() []byte {
	root, lists := r.build()
	for {
		root["truncated"] = r.cut.object()
		b := encodeJSON(root)
		if len(b) <= maxResultSize || !lists.shrink(root, r.cut) {
			return b
		}
	}
}

func (r *result) build() (object, sections) {
	st := r.state
	root := object{
		"schema": Schema, "run_id": cutText(st.RunID, maxText), "final": r.verdict.Final, "provisional": r.verdict.Provisional,
		"records": recordsObject(st.Records), "files": r.files, "metrics": object{}, "names": object{}, "non_finite": object{},
	}
	put(root, "outcome", r.verdict.Outcome)
	put(root, "outcome_from", r.verdict.From)
	put(root, "stop_reason", st.StopReason)
	put(root, "started_at", clock(st.StartedAt))
	put(root, "ended_at", clock(st.EndedAt))
	put(root, "last_record_at", clock(st.LastRecordAt))
	put(root, "durations", durationsObject(st.Durations))
	put(root, "epochs", epochsObject(st.Epochs))
	put(root, "steps", stepsObject(st.Steps))
	put(root, "objective", objectiveObject(st.Objective))
	put(root, "best", bestObject(st.Best, st.Checkpoints))
	put(root, "params_digest", r.params.Digest)
	put(root, "source", sourceObject(st))
	put(root, "where", whereObject(st.Where))
	put(root, "resources", resourcesObject(r.gpus))
	put(root, "task_family", st.TaskFamily)
	if st.TraceID != [16]byte{} {
		root["trace_id"] = hex.EncodeToString(st.TraceID[:])
	}
	if plannedReached(st) {
		root["planned_reached"] = true
	}
	if st.Sampled {
		root["sampled"] = true
	}
	if st.Partial {
		root["coverage"] = coveragePartial
	}
	if len(st.Notes) > 0 {
		root["notes"] = notesList(st.Notes)
	}
	if st.Masked > 0 {
		root["masked"] = st.Masked
	}
	if st.FailuresTotal > 0 {
		root["failures_total"] = st.FailuresTotal
	}
	if st.Conflict != nil {
		root["conflict"] = true
		put(root, "conflict_host", st.Conflict.Host)
	}
	lists := r.sections()
	lists.fill(root)
	return root, lists
}

// plannedReached says that the work was done even if nobody said so.
func plannedReached(st *trainrun.State) bool {
	if st.Epochs.Planned != nil && *st.Epochs.Planned > 0 {
		return st.Epochs.Completed != nil && *st.Epochs.Completed >= *st.Epochs.Planned
	}
	return st.Steps.Done()
}

// put sets a key unless its value is empty.
func put(o object, key string, v any) {
	switch v := v.(type) {
	case string:
		if v != "" {
			o[key] = cutText(v, maxText)
		}
	case object:
		if len(v) > 0 {
			o[key] = v
		}
	case *int64:
		if v != nil {
			o[key] = *v
		}
	case *float64:
		if v != nil {
			o[key] = *v
		}
	case *bool:
		if v != nil {
			o[key] = *v
		}
	}
}

// clock writes an event time, "" for none.
func clock(nanos int64) string {
	if nanos == 0 {
		return ""
	}
	return time.Unix(0, nanos).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

func seconds(nanos int64) float64 { return float64(nanos) / 1e9 }

func recordsObject(rec trainrun.Records) object {
	events := object{}
	for _, e := range rec.ByEvent {
		events[e.Event] = e.Count
	}
	o := object{"count": rec.Count, "by_event": events, "gaps": rec.Gaps, "rejected": rec.Rejected}
	if rec.FirstSeq > 0 {
		o["first_seq"], o["last_seq"] = rec.FirstSeq, rec.LastSeq
	}
	if rec.Streams > 1 {
		o["streams"] = rec.Streams
	}
	if rec.NoTime > 0 {
		o["no_time"] = rec.NoTime
	}
	return o
}

func notesList(notes []trainrun.Note) []any {
	out := make([]any, 0, len(notes))
	for _, n := range notes {
		o := object{"what": n.What}
		put(o, "value", n.Value)
		out = append(out, o)
	}
	return out
}

func durationsObject(d trainrun.Durations) object {
	o, phases := object{}, object{}
	if d.Run > 0 {
		o["run_seconds"] = seconds(d.Run)
	}
	if d.RunReported > 0 {
		o["run_seconds_reported"] = seconds(d.RunReported)
	}
	for _, p := range d.Phases {
		phases[p.Phase] = seconds(p.Nanos)
	}
	put(o, "phase_seconds", phases)
	return o
}

func epochsObject(e trainrun.Epochs) object {
	o := object{}
	put(o, "planned", e.Planned)
	put(o, "completed", e.Completed)
	put(o, "last", e.Last)
	put(o, "reported", e.Reported)
	return o
}

func stepsObject(s trainrun.Steps) object {
	o := object{}
	put(o, "planned", s.Planned)
	put(o, "last", s.Last)
	if s.FromZero {
		o["from_zero"] = true
	}
	return o
}

func objectiveObject(ob *trainrun.Objective) object {
	if ob == nil {
		return nil
	}
	o := object{}
	put(o, "metric", ob.Metric)
	put(o, "mode", ob.Mode)
	put(o, "from", ob.From)
	return o
}

// bestObject names the best point and the role under which artifacts list its checkpoint.
func bestObject(b *trainrun.Best, c trainrun.Checkpoints) object {
	if b == nil {
		return nil
	}
	o := object{"value": b.Value, "step": b.X, "axis": b.Axis.String()}
	put(o, "metric", b.Metric)
	put(o, "mode", b.Mode)
	put(o, "at", clock(b.Time))
	if b.Checkpoint != nil {
		put(o, "checkpoint", roleOf(b.Checkpoint, c))
		put(o, "checkpoint_path", b.Checkpoint.Path)
	}
	return o
}
