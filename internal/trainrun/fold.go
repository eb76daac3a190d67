package trainrun

// New gives the empty fold of a run.
func New(runID string) *Fold { return &Fold{runID: runID} }

// Fold is the state of one run.
type Fold struct{ runID string }

// Apply adds a record. It answers false when nothing changed: a duplicate.
func (f *Fold) Apply(e Entry) bool { return false }

// State computes what the records prove.
func (f *Fold) State() *State { return &State{RunID: f.runID} }

// SizeBytes estimates the memory that the fold holds.
func (f *Fold) SizeBytes() int64 { return 0 }

// Snapshot gives the fold's bytes: equal sets of records give equal bytes.
func (f *Fold) Snapshot() []byte { return nil }

// Restore makes a fold from a snapshot.
func Restore(b []byte) (*Fold, error) { return nil, nil }

// AppendEntry appends the encoding of one entry.
func AppendEntry(dst []byte, e *Entry) []byte { return dst }

// DecodeEntry reads an entry from the beginning of b and says how many bytes it took.
func DecodeEntry(b []byte) (e Entry, n int, err error) { return Entry{}, 0, nil }

// AppendEntries appends the encoding of a batch, whose entries share their strings.
func AppendEntries(dst []byte, entries []Entry) []byte { return dst }

// DecodeEntries reads what AppendEntries wrote.
func DecodeEntries(b []byte) ([]Entry, error) { return nil, nil }
