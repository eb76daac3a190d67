package dvcresultexporter

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/faults"
	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/metadata"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// The layout of the storage:
//
//	f/<key>  the snapshot of a run's fold
//	h/<key>  JSON: what the engine knows of the run besides
//	index    JSON: the version, the number of the first journal part, the keys of the runs that snapshots took out of the journal
//	j/<n>    a part of the journal: one call's entries with the time of their arrival
//
// Each value ends with its checksum. A snapshot and the journal parts after it may overlap: the fold takes an entry once. A run that the
// index does not name is in the journal, so the index changes with the journal's beginning alone, not with each run.
//
// A storage in a B+ tree, as file_storage is, writes a value together with its neighbours in the order of the keys, however large these
// are: up to four values are a page. So the journal is at the end of the order, small values are between it and the snapshots, and the
// next part never is a large part's neighbour: gaps are.
const (
	storageVersion = 4
	foldPrefix     = "f/"
	metaPrefix     = "h/"
	indexKey       = "index"
	journalPrefix  = "j/"
	journalGaps    = "wxyz"  // each a key behind that of a part, without a value
	smallPart      = 1 << 10 // bytes of a part that may as well be written again
	journalHeader  = 8       // Unix nanoseconds of the arrival
	minJournal     = 1 << 20 // bytes

	// maxPending is the number of entries from which on no call is taken while the storage refuses: whoever gives up and
	// sends something else would have the state grow without end, and each call encodes all that is pending. The call
	// that reaches it is still taken as a whole.
	maxPending = 1024
	// maxPendingBytes is the same in memory: an entry may hold a tree of parameters, or thousands of values.
	maxPendingBytes = 16 << 20
)

var errStorageVersion = errors.New("written by another version of dvc_result")

// index is the entry point of the storage.
type index struct {
	Version  int      `json:"version"`
	Encoding int      `json:"encoding"` // of snapshots and of what the journal has
	First    uint64   `json:"first"`
	Runs     []string `json:"runs"`
}

// store is the journal and the snapshots in the storage extension. Without a client it does nothing. The engine's lock
// guards it.
type store struct {
	client    storage.Client
	telemetry *metadata.TelemetryBuilder

	pending []trainrun.Entry // applied, not in the journal yet
	waiting int64            // bytes of memory that they take
	first   uint64           // number of the first part of the journal
	next    uint64           // number of the next part
	size    int64            // bytes of the journal
	least   int64            // bytes of the journal below which no snapshot is worth it
	limit   int64            // the same after a snapshot that failed
	indexed bool             // there is an index
}

func storageKey(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

func (s *store) add(e trainrun.Entry) {
	if s.client != nil {
		s.pending = append(s.pending, e)
		s.waiting += e.SizeBytes()
	}
}

// full says that nothing more may be applied before the storage takes what is pending.
func (s *store) full() bool { return len(s.pending) >= maxPending || s.waiting >= maxPendingBytes }

// flush appends the pending entries in one operation.
func (s *store) flush(ctx context.Context, now time.Time) error {
	if s.client == nil || len(s.pending) == 0 {
		return nil
	}
	part := make([]byte, 0, journalHeader+s.waiting/4) // about what an entry takes of its size in memory
	part = binary.BigEndian.AppendUint64(part, uint64(now.UnixNano()))
	part = seal(trainrun.AppendEntries(part, s.pending))
	faults.Point("append")
	ops := []*storage.Operation{storage.SetOperation(journalKey(s.next), part)}
	if len(part) > smallPart {
		for _, gap := range journalGaps {
			ops = append(ops, storage.SetOperation(journalKey(s.next)+string(gap), []byte{}))
		}
	}
	if err := s.client.Batch(ctx, ops...); err != nil {
		s.failed(ctx, "append")
		return err
	}
	faults.Point("appended")
	clear(s.pending)
	s.pending, s.waiting = s.pending[:0], 0
	s.next++
	s.size += int64(len(part))
	return nil
}

// pendingRuns counts the runs of which something is pending.
func (s *store) pendingRuns() int {
	ids := map[string]struct{}{}
	for i := range s.pending {
		ids[s.pending[i].RunID] = struct{}{}
	}
	return len(ids)
}

// journalKey gives the key of a part, in the order of the numbers.
func journalKey(n uint64) string { return fmt.Sprintf("%s%016x", journalPrefix, n) }

// dropOperations remove the journal.
func (s *store) dropOperations() []*storage.Operation {
	ops := make([]*storage.Operation, 0, (s.next-s.first)*uint64(1+len(journalGaps)))
	for n := s.first; n < s.next; n++ {
		ops = append(ops, storage.DeleteOperation(journalKey(n)))
		for _, gap := range journalGaps {
			ops = append(ops, storage.DeleteOperation(journalKey(n)+string(gap)))
		}
	}
	return ops
}

func (s *store) failed(ctx context.Context, operation string) {
	s.telemetry.StorageErrors.Add(ctx, 1, s.telemetry.With("operation", operation))
}

// batch applies operations, counted as one.
func (s *store) batch(ctx context.Context, ops ...*storage.Operation) error {
	if s.client == nil || len(ops) == 0 {
		return nil
	}
	faults.Point("store")
	if err := s.client.Batch(ctx, ops...); err != nil {
		s.failed(ctx, "snapshot")
		return err
	}
	faults.Point("stored")
	return nil
}

// get reads a value; nil when there is none.
func (s *store) get(ctx context.Context, key string) ([]byte, error) {
	b, err := s.client.Get(ctx, key)
	if err != nil {
		s.failed(ctx, "load")
		return nil, fmt.Errorf("storage: read %s: %w", key, err)
	}
	return b, nil
}

// replaced notes that snapshots hold everything before the journal part first.
func (s *store) replaced() {
	s.first, s.size, s.limit, s.indexed = s.next, 0, 0, true
}

func (s *store) indexOperation(first uint64, runs []string) *storage.Operation {
	b, _ := json.Marshal(index{Version: storageVersion, Encoding: trainrun.Encoding, First: first, Runs: runs}) // numbers and texts only
	return storage.SetOperation(indexKey, seal(b))
}

// readIndex gives an empty index for an empty storage. With a damaged one runs are found again by their keys.
func (s *store) readIndex(ctx context.Context) (index, error) {
	ix := index{Version: storageVersion, Encoding: trainrun.Encoding}
	b, err := s.get(ctx, indexKey)
	if s.indexed = b != nil; err != nil || b == nil {
		return ix, err
	}
	text, damage := unseal(b)
	if damage != nil {
		text = b // another version may have had no checksum
	}
	ix.Encoding = 0
	if err := json.Unmarshal(text, &ix); err != nil || damage != nil && ix.Version == storageVersion {
		return index{}, errors.Join(errDamaged, damage, err)
	}
	if ix.Version != storageVersion {
		return ix, fmt.Errorf("storage: version %d: %w, want %d; use that one, or another storage", ix.Version, errStorageVersion, storageVersion)
	}
	if ix.Encoding != trainrun.Encoding {
		return ix, fmt.Errorf("storage: encoding %d: %w, want %d; use that one, or another storage", ix.Encoding, errStorageVersion, trainrun.Encoding)
	}
	return ix, nil
}

// readJournal calls apply for each part from first on, and damaged for one that cannot be read.
func (s *store) readJournal(ctx context.Context, first uint64, apply func(arrived int64, entries []trainrun.Entry) error, damaged func(key string, err error)) error {
	s.first, s.next = first, first
	for {
		key := journalKey(s.next)
		part, err := s.get(ctx, key)
		if err != nil || part == nil {
			return err
		}
		s.next++
		s.size += int64(len(part))
		arrived, entries, err := decodePart(part)
		if errors.Is(err, trainrun.ErrVersion) { // where no index says it
			return fmt.Errorf("storage: %s: %w: %w; use that one, or another storage", key, errStorageVersion, err)
		}
		if err != nil {
			damaged(key, err)
			continue
		}
		if err := apply(arrived, entries); err != nil {
			return err
		}
	}
}

func decodePart(part []byte) (arrived int64, entries []trainrun.Entry, err error) {
	if part, err = unseal(part); err != nil {
		return 0, nil, err
	}
	if len(part) < journalHeader {
		return 0, nil, fmt.Errorf("%w: %d bytes", errDamaged, len(part))
	}
	if entries, err = trainrun.DecodeEntries(part[journalHeader:]); err != nil {
		return 0, nil, err
	}
	if slices.ContainsFunc(entries, func(e trainrun.Entry) bool { return e.RunID == "" }) {
		return 0, nil, fmt.Errorf("%w: no run id", errDamaged)
	}
	return int64(binary.BigEndian.Uint64(part)), entries, nil
}

// close appends what is pending and closes the client.
func (s *store) close(ctx context.Context) error {
	if s.client == nil {
		return nil
	}
	err := errors.Join(s.flush(ctx, time.Now()), s.client.Close(ctx))
	s.client = nil
	return err
}
