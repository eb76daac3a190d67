package trainingsignalsconnector

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/componentkit"
)

// The layout of the storage:
//
//	index    version, number of pieces of the snapshot, number of the first part of the journal
//	s/<n>    a piece of the snapshot
//	t/<n>    a part of the journal: the records of one call, or a tick
//
// Each value ends with its checksum. What is told follows from the snapshot and the journal after it alone. A new part has the last of all keys: a storage that keeps
// them in a tree, as file_storage does, writes with each key its neighbours, too, and those of another order would be the snapshot.
const (
	storeVersion = 2
	indexKey     = "index"
	snapshotKey  = "s/"
	journalKey   = "t/"
	pieceBytes   = 256 << 10
	minJournal   = 1 << 20
)

// Reasons of storage errors.
const (
	storageRead     = "read"
	storageWrite    = "write"
	storageSlow     = "slow"
	storageOverflow = "overflow"
	storageDamaged  = "damaged"
)

var storageReasons = []string{storageRead, storageWrite, storageSlow, storageOverflow, storageDamaged}

var (
	errDamaged = errors.New("damaged")
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// store is the journal and the snapshot in the storage extension. Its fields are the core's, but for those of the writer.
type store struct {
	writer
	next     uint64 // part of the journal
	size     int64  // bytes of the journal
	snapshot int64  // bytes of the snapshot
	least    int64  // bytes of the journal below which no snapshot is worth it

	// What is in the storage, which the writer's lock guards.
	pieces uint64 // of the snapshot
	first  uint64 // part of the journal
}

func seal(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func unseal(b []byte) ([]byte, error) {
	n := len(b) - 4
	if n < 0 || crc32.Checksum(b[:n], castagnoli) != binary.LittleEndian.Uint32(b[n:]) {
		return nil, errDamaged
	}
	return b[:n], nil
}

func pieceKey(n uint64) string { return snapshotKey + strconv.FormatUint(n, 10) }
func partKey(n uint64) string  { return fmt.Sprintf("%s%016x", journalKey, n) }

// newStore finds the storage, and opens nothing yet.
func newStore(host component.Host, ext component.ID, report func(string, error)) (*store, storage.Extension, error) {
	st, err := componentkit.FindStorage(host, ext)
	if err != nil {
		return nil, nil, err
	}
	return &store{writer: writer{report: report}, least: minJournal}, st, nil
}

// open opens the client of the connector. One that cannot be opened is not asked again.
func (s *store) open(ctx context.Context, st storage.Extension, logger *zap.Logger, id component.ID) error {
	return s.ask(ctx, func(ctx context.Context) error {
		client, err := componentkit.OpenClient(ctx, st, logger, component.KindConnector, id, "")
		if err == nil {
			s.client = client
			return nil
		}
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		return fmt.Errorf("open the client of %s: %w", id, err)
	})
}

// get reads a value at the start.
func (s *store) get(ctx context.Context, key string) ([]byte, error) {
	var b []byte
	if err := s.ask(ctx, func(ctx context.Context) (err error) {
		b, err = s.client.Get(ctx, key)
		return err
	}); err != nil {
		return nil, err
	}
	return b, nil
}

// anew leaves what is stored: the next snapshot begins a journal whose parts have numbers that no earlier one had.
func (s *store) anew(number uint64) {
	s.mu.Lock()
	s.broken, s.stuck = true, s.busy
	s.pieces, s.first = 0, number
	s.mu.Unlock()
	s.next, s.size, s.snapshot = number, 0, 0
	s.put(&job{do: func(ctx context.Context) error {
		w, ok := s.client.(storage.Walker)
		if !ok {
			return nil // it stays, and nobody reads it
		}
		return w.Walk(ctx, func(key string, _ []byte) ([]*storage.Operation, error) {
			return []*storage.Operation{storage.DeleteOperation(key)}, nil
		})
	}})
}

// append queues a part of the journal, unless it is given up.
func (s *store) append(part []byte) *job {
	part = seal(part)
	j := s.put(&job{part: len(part), set: storage.SetOperation(partKey(s.next), part)})
	if j != nil {
		s.next++
		s.size += int64(len(part))
	}
	return j
}

// due says that a snapshot is worth it, and nothing is on its way.
func (s *store) due() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.busy && !s.closed && (s.broken || s.size > max(s.least, 2*s.snapshot))
}

// replace queues a snapshot, which makes the journal so far unneeded, and what goes on from it, if anything, in one operation.
func (s *store) replace(snapshot, rest []byte) *job {
	s.mu.Lock()
	ops, n := s.operations(snapshot)
	first := s.next
	s.broken = false
	s.mu.Unlock()
	if len(rest) > 0 {
		rest = seal(rest)
		ops = append(ops, storage.SetOperation(partKey(s.next), rest))
		s.next++
	}
	s.size, s.snapshot = int64(len(rest)), int64(len(snapshot))
	return s.put(&job{
		do:      func(ctx context.Context) error { return s.client.Batch(ctx, ops...) },
		written: func() { s.pieces, s.first = n, first },
	})
}

// operations write a snapshot in pieces, and remove what it stands for. The caller holds the writer's lock.
func (s *store) operations(snapshot []byte) (ops []*storage.Operation, n uint64) {
	for left := snapshot; len(left) > 0; n++ {
		piece := left[:min(len(left), pieceBytes)]
		left = left[len(piece):]
		ops = append(ops, storage.SetOperation(pieceKey(n), seal(append([]byte{}, piece...))))
	}
	for old := n; old < s.pieces; old++ {
		ops = append(ops, storage.DeleteOperation(pieceKey(old)))
	}
	for old := s.first; old < s.next; old++ {
		ops = append(ops, storage.DeleteOperation(partKey(old)))
	}
	index := binary.AppendUvarint([]byte{storeVersion}, n)
	index = binary.AppendUvarint(index, s.next)
	return append(ops, storage.SetOperation(indexKey, seal(index))), n
}

// close waits for what is on its way and ends the use of the storage.
func (s *store) close(ctx context.Context) error {
	var err error
	j := s.put(&job{last: true, do: func(ctx context.Context) error {
		if s.client != nil { // it was opened
			err = s.client.Close(ctx)
		}
		return nil
	}})
	if j != nil && !s.reach(ctx, j) {
		return errNoAnswer
	}
	return err
}

// read gives the snapshot, nil when there is none.
func (s *store) read(ctx context.Context) ([]byte, error) {
	b, err := s.get(ctx, indexKey)
	if err != nil || b == nil {
		return nil, err
	}
	b, err = unseal(b)
	if err != nil || len(b) == 0 || b[0] != storeVersion {
		return nil, fmt.Errorf("index: %w", errDamaged)
	}
	pieces, used := binary.Uvarint(b[1:])
	if used <= 0 {
		return nil, fmt.Errorf("index: %w", errDamaged)
	}
	next, more := binary.Uvarint(b[1+used:])
	if more <= 0 {
		return nil, fmt.Errorf("index: %w", errDamaged)
	}
	s.pieces, s.first, s.next = pieces, next, next
	var snapshot []byte
	for n := range pieces {
		piece, err := s.get(ctx, pieceKey(n))
		if err != nil {
			return nil, err
		}
		if piece, err = unseal(piece); err != nil {
			return nil, fmt.Errorf("%s: %w", pieceKey(n), err)
		}
		snapshot = append(snapshot, piece...)
	}
	s.snapshot = int64(len(snapshot))
	return snapshot, nil
}

// part gives the next part of the journal, nil after the last one.
func (s *store) part(ctx context.Context) ([]byte, error) {
	b, err := s.get(ctx, partKey(s.next))
	if err != nil || b == nil {
		return nil, err
	}
	s.next++
	s.size += int64(len(b))
	return unseal(b)
}
