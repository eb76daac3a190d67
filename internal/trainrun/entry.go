package trainrun

import (
	"unsafe"

	"github.com/pathologize/otelcol-train/internal/trainrun/secret"
)

// Entry is the reduced form of a record: what the fold needs and nothing more.
type Entry struct {
	RunID     string
	Event     Event
	ID        ID
	Attempt   int64  // >= 1
	Rank      int64  // >= 0
	Seq       int64  // 0 = none
	Offset    int64  // place in the stream when the identity has none, -1 = none
	Text      int64  // of the file at its path, 0 = the first
	Replaces  int64  // how many of the texts before it are gone
	Path      uint32 // of the file, as a hash, on whichever host; 0 = unknown
	Time      int64  // event time in Unix nanoseconds, 0 = none
	Part      string
	Framework string
	Where     Where
	TraceID   [16]byte
	Sampled   bool
	Rejected  bool // the line was no record

	Epoch, Step   Int
	Progress      float64 // epoch_progress; negative = none
	PlannedEpochs Int
	PlannedSteps  Int

	Values    []Value    // measurements by name
	Durations []Duration // by phase

	Detail *Detail // of the rarer events
	Masked int64   // secrets masked in this entry
	Cut    int64   // values left out: beyond a bound, or not of their type or range
	Misfit int64   // attributes that were no value of their type or range; for whoever counts them, a journal has none
}

// SizeBytes estimates the memory that the entry holds.
func (e *Entry) SizeBytes() int64 {
	n := int64(unsafe.Sizeof(*e)) + int64(len(e.RunID)+len(e.ID.RunID)+len(e.Part)+len(e.Framework)) +
		int64(cap(e.Values))*int64(unsafe.Sizeof(Value{})) + int64(cap(e.Durations))*int64(unsafe.Sizeof(Duration{}))
	for i := range e.Values {
		n += int64(len(e.Values[i].Name))
	}
	w := &e.Where
	n += int64(len(w.Host) + len(w.Service) + len(w.Namespace) + len(w.Job) + len(w.Pod) + len(w.Container))
	if d := e.Detail; d != nil {
		n += int64(unsafe.Sizeof(*d)) + treeSize(d.Params) + int64(len(d.Command)+len(d.StopReason)+len(d.Said)+len(d.ErrorType)+len(d.Message)+len(d.Stack))
		for _, v := range d.Versions {
			n += int64(unsafe.Sizeof(v)) + int64(len(v.Name)+len(v.Value))
		}
		for i := range d.Artifacts {
			n += int64(unsafe.Sizeof(d.Artifacts[i])) + int64(len(d.Artifacts[i].Role)+len(d.Artifacts[i].Path)+len(d.Artifacts[i].SHA256))
		}
		if c := d.Checkpoint; c != nil {
			n += int64(unsafe.Sizeof(*c)) + int64(len(c.Path)+len(c.Kind)+len(c.SHA256)+len(c.Metric))
		}
	}
	return n
}

// Int is an optional integer.
type Int struct {
	V   int64
	Set bool
}

// Value is a measurement.
type Value struct {
	Name string
	V    float64
}

// Duration is the time of a phase.
type Duration struct {
	Phase string // train, validation, test, checkpoint, data_load, data_wait, epoch, run or other
	Nanos int64
}

// Detail is the payload of the rarer events.
type Detail struct {
	// run.start
	Params       Tree
	Objective    *Objective
	ResumedEpoch Int
	Git          *Git
	Command      string
	Versions     []Pair
	TaskFamily   string
	// run.end
	Outcome, StopReason string
	Said                string // an outcome, or of a log record an event, that is none
	EpochsCompleted     Int
	Artifacts           []Artifact // also of the event artifact
	// run.failure
	ErrorType, Message, Stack string
	// checkpoint.save, epoch.end
	Checkpoint *Checkpoint // Epoch, Step, Attempt and At are those of the entry
	Best       *Objective  // best of an epoch.end
	Habit      *Objective  // what the framework aims at by itself; of any row
}

// ID is the identity of a record. Kind says which of the others count.
type ID struct {
	Kind  IDKind
	RunID string // of the uid, when it is not that of the record
	File  uint32
	CRC   uint32
	Index uint32
	Place int64    // byte offset
	Hash  [16]byte // of an identity that is no uid
}

// IDKind is a kind of identity.
type IDKind uint8

// Kinds of identities: a uid; (attempt, rank, event, seq); a hash.
const (
	IDHash IDKind = iota
	IDSeq
	IDUID
)

// Tree is a value of parameters: nil, bool, int64, float64, string, []any or map[string]any.
type Tree = any

// Mask stands in place of a secret.
const Mask = secret.Mask

// Absent stands for a parameter that is not there.
type Absent struct{}
