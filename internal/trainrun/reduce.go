package trainrun

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun/secret"
)

// Bounds of an entry.
const (
	MaxText      = 4096            // bytes of a message, a stack, a command, a path
	maxScanned   = secret.Searched // a longer text is cut before it is searched for secrets
	maxLabel     = 512             // bytes of a part, a host, a name of a version
	maxName      = 1024            // bytes of the name of a measurement; a longer one is left out
	maxValues    = 4096            // measurements of a record
	maxVersions  = 64              // versions of a run.start
	maxListed    = 256             // artifacts of a run.end
	maxSeconds   = 1e9             // a longer duration is none
	maxAttempt   = math.MaxInt32
	maxSeq       = 1 << 62
	nanosPerSec  = 1e9
	emptyOffset  = -1
	noProgress   = -1.0
	digestLength = 16
)

// Reduce makes the entry of a record. It answers false for a record that no fold counts: stream.status, or one without
// run id, or the beginning of a line: it comes whole, of whichever run it turns out to be, or its trainer never finished it.
func Reduce(r trainrecord.Record) (Entry, bool) {
	var e Entry
	if !ReduceInto(&e, &r) {
		return Entry{}, false
	}
	return e, true
}

// ReduceInto is Reduce for whoever has an entry to overwrite, as Reducer.At is.
func ReduceInto(e *Entry, r *trainrecord.Record) bool {
	if !counts(r) {
		return false
	}
	(*Reducer)(nil).reduce(e, r, identity(r))
	return true
}

func counts(r *trainrecord.Record) bool {
	return eventOf(r.Event) != EventNone && r.RunID != "" && r.Error != trainrecord.ReasonTorn
}

// reduce overwrites an entry; the room of its lists is used again. Without a Reducer nothing is remembered.
func (rd *Reducer) reduce(e *Entry, r *trainrecord.Record, id ID) {
	*e = Entry{
		Event: eventOf(r.Event), ID: id,
		Attempt: r.Attempt, Rank: r.Rank, Seq: r.Seq, Offset: r.Offset, Text: r.Text, Replaces: r.Replaces, Time: nanos(r.Time),
		TraceID: r.TraceID, Sampled: r.Sampled, Rejected: r.Error != "", Progress: noProgress,
		Values: e.Values[:0], Durations: e.Durations[:0],
	}
	one := reducer{Reducer: rd, e: e, body: r.Body, phase: r.Phase, event: r.Original, secrets: secret.Walker{URLs: secret.UserInfo}}
	if rd != nil {
		one.secrets.Known = &rd.known
	}
	e.RunID, e.ID.RunID = one.runID(r.RunID), one.runID(e.ID.RunID)
	e.Part = one.part(r.Part)
	if !isNobodysStart(r) {
		e.Framework = one.label(r.Framework)
	}
	e.Where = one.where(r)
	e.Path = pathHash(r.File)
	one.read()
	e.Masked, e.Misfit = one.secrets.Masked, misfits(r)+one.long
	e.normalize()
}

// misfits counts the attributes of a record that are not what its identity may hold, also those that normalize brings into range.
func misfits(r *trainrecord.Record) int64 {
	n := int64(r.Misfits)
	for _, above := range [...]bool{r.Attempt > maxAttempt, r.Rank > maxAttempt, r.Seq > maxSeq} {
		if above {
			n++
		}
	}
	return n
}

func nanos(t pcommon.Timestamp) int64 {
	if t > math.MaxInt64 {
		return 0
	}
	return int64(t)
}

func identity(r *trainrecord.Record) ID {
	id := r.Identity()
	switch {
	case id.HasUID:
		out := ID{Kind: IDUID, File: id.UID.File, CRC: id.UID.CRC, Place: id.UID.Offset}
		out.Index = uint32(min(int64(id.UID.Index), math.MaxUint32))
		if id.UID.RunID != r.RunID {
			out.RunID = id.UID.RunID
		}
		return out
	case strings.HasPrefix(id.Key, "s:") && r.Seq > 0:
		return ID{Kind: IDSeq}
	default:
		sum := sha256.Sum256([]byte(id.Key + "\x00" + r.Host)) // two hosts may say the same
		out := ID{Kind: IDHash}
		copy(out.Hash[:], sum[:digestLength])
		return out
	}
}

// normalize brings an entry, also one from a journal, into the ranges that the fold relies on.
func (e *Entry) normalize() {
	e.Attempt = min(max(e.Attempt, 1), maxAttempt)
	e.Rank = min(max(e.Rank, 0), maxAttempt)
	e.Seq = min(max(e.Seq, 0), maxSeq)
	e.Offset = max(e.Offset, emptyOffset)
	e.Text = min(max(e.Text, 0), maxText)
	e.Replaces = min(max(e.Replaces, 0), e.Text)
	e.Time = max(e.Time, 0)
	e.ID.Place = max(e.ID.Place, 0)
	if e.ID.Kind == IDUID {
		e.Offset = e.ID.Place
	} else {
		e.ID.Place = 0
	}
	e.Epoch, e.PlannedEpochs = e.Epoch.upTo(trainrecord.MaxEpochs), e.PlannedEpochs.upTo(trainrecord.MaxEpochs)
	e.Step, e.PlannedSteps = e.Step.upTo(trainrecord.MaxCount), e.PlannedSteps.upTo(trainrecord.MaxCount)
	if !(e.Progress >= 0 && e.Progress <= trainrecord.MaxEpochs) {
		e.Progress = noProgress
	}
	for i := range e.Values {
		if math.IsNaN(e.Values[i].V) {
			e.Values[i].V = math.NaN() // one spelling
		}
	}
}

// upTo gives a number of a range that begins with 0, else none.
func (n Int) upTo(most int64) Int {
	if n.V < 0 || n.V > most || !n.Set {
		return Int{}
	}
	return n
}

// RunID gives the id of a run as entries have it.
func RunID(id string) string {
	r := reducer{secrets: secret.Walker{URLs: secret.UserInfo}}
	return r.runID(id)
}

// runID is the run's id without secrets; two that differ in these alone stay two.
func (r *reducer) runID(id string) string {
	if id == "" || r.Reducer != nil && id == r.run {
		return id
	}
	masked := r.secrets.Text(id)
	if masked == id {
		if r.Reducer != nil {
			r.run = id
		}
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return masked + "-" + hex.EncodeToString(sum[:6])
}

// part is the name of a part without secrets; two that are longer than a label and begin alike stay two curves.
func (r *reducer) part(name string) string {
	masked := r.secrets.Text(name)
	if len(masked) <= maxLabel {
		return masked
	}
	r.long++
	sum := sha256.Sum256([]byte(name))
	hash := "-" + hex.EncodeToString(sum[:6])
	return trainrecord.CutText([]byte(masked), maxLabel-len(hash)) + hash
}

// label is an attribute, a short text, without secrets. One that is cut is counted.
func (r *reducer) label(s string) string { return label(r.secrets.Text(s), &r.long) }

// label cuts a text without secrets, and counts that.
func label(s string, cut *int64) string {
	if len(s) <= maxLabel {
		return s
	}
	*cut++
	return trainrecord.CutText([]byte(s), maxLabel)
}

// text reads one, whatever door the record came through: what is none where a text belongs is missing.
func text(m pcommon.Map, key string, n int) string {
	v, ok := m.Get(key)
	if !ok || v.Type() == pcommon.ValueTypeEmpty || !trainrecord.BodyText(key, v) {
		return ""
	}
	s := v.AsString()
	if len(s) > n {
		return trainrecord.CutText([]byte(s), n)
	}
	return s
}

// integer reads one that is in its range, whatever door the record came through.
func integer(m pcommon.Map, key string) Int {
	if v, ok := m.Get(key); ok {
		if n, ok := trainrecord.BodyInteger(key, v); ok {
			return Int{V: n, Set: true}
		}
	}
	return Int{}
}

// integer counts one that is left out.
func (r *reducer) integer(m pcommon.Map, key string) Int {
	n := integer(m, key)
	if v, ok := m.Get(key); ok && !n.Set && v.Type() != pcommon.ValueTypeEmpty {
		r.e.Cut++
	}
	return n
}

// Resource attributes by the semantic conventions that a result names.
const (
	attrService      = "service.name"
	attrNamespace    = "k8s.namespace.name"
	attrJob          = "k8s.job.name"
	attrPod          = "k8s.pod.name"
	attrK8sContainer = "k8s.container.name"
	attrContainer    = "container.name"
	attrPID          = "process.pid"
)

func (r *reducer) where(rec *trainrecord.Record) Where {
	w := Where{Host: r.label(rec.Host)}
	for k, v := range rec.Resource.All() {
		switch k {
		case attrService:
			w.Service = r.label(v.AsString())
		case attrNamespace:
			w.Namespace = r.label(v.AsString())
		case attrJob:
			w.Job = r.label(v.AsString())
		case attrPod:
			w.Pod = r.label(v.AsString())
		case attrK8sContainer:
			w.Container = r.label(v.AsString())
		case attrContainer:
			if w.Container == "" {
				w.Container = r.label(v.AsString())
			}
		case attrPID:
			w.PID, _ = trainrecord.Integer(v)
		default: // not part of a result
		}
	}
	return w
}

// fewValues is up to how many are sorted one by one: most records have that few, and in nearly the same order.
const fewValues = 16

func sortValues(values []Value) []Value {
	if len(values) > fewValues {
		slices.SortStableFunc(values, func(a, b Value) int { return strings.Compare(a.Name, b.Name) })
	} else {
		for i := 1; i < len(values); i++ {
			for j := i; j > 0 && values[j].Name < values[j-1].Name; j-- {
				values[j], values[j-1] = values[j-1], values[j]
			}
		}
	}
	out := values[:0]
	for i, v := range values {
		if i+1 < len(values) && values[i+1].Name == v.Name {
			continue // of a doubled key the last counts
		}
		out = append(out, v)
	}
	return out
}
