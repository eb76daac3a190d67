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
)

// The layout of the storage:
//
//	index    version, number of pieces of the snapshot, number of the first part of the journal
//	s/<n>    a piece of the snapshot
//	j/<n>    a part of the journal: the records of one call, or a tick
//
// Each value ends with its checksum. What is told follows from the snapshot and the journal after it alone.
const (
	storeVersion = 1
	indexKey     = "index"
	snapshotKey  = "s/"
	journalKey   = "j/"
	pieceBytes   = 4 << 20
	minJournal   = 1 << 20
)

// Reasons of storage errors.
const (
	storageRead    = "read"
	storageWrite   = "write"
	storageDamaged = "damaged"
)

var storageReasons = []string{storageRead, storageWrite, storageDamaged}

var (
	errDamaged = errors.New("damaged")
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// store is the journal and the snapshot in the storage extension.
type store struct {
	client   storage.Client
	pieces   uint64 // of the snapshot
	first    uint64 // part of the journal
	next     uint64
	size     int64 // bytes of the journal
	snapshot int64 // bytes of the snapshot
	least    int64 // bytes of the journal below which no snapshot is worth it
	broken   bool  // something is not in the journal: only a snapshot mends it
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
func partKey(n uint64) string  { return journalKey + strconv.FormatUint(n, 10) }

// openStore opens the client of the connector.
func openStore(ctx context.Context, host component.Host, id component.ID, ext component.ID) (*store, error) {
	found, ok := host.GetExtensions()[ext]
	if !ok {
		return nil, fmt.Errorf("storage: extension %s is not configured; add it to extensions and to service::extensions", ext)
	}
	st, ok := found.(storage.Extension)
	if !ok {
		return nil, fmt.Errorf("storage: extension %s is no storage, want one such as file_storage", ext)
	}
	client, err := st.GetClient(ctx, component.KindConnector, id, "")
	if err != nil {
		return nil, fmt.Errorf("storage: open the client of %s; if another process has it, stop that or use another id: %w", id, err)
	}
	return &store{client: client, least: minJournal}, nil
}

// append writes a part of the journal. While something is missing there, nothing is written.
func (s *store) append(ctx context.Context, part []byte) error {
	if s.broken {
		return nil
	}
	part = seal(part)
	if err := s.client.Set(ctx, partKey(s.next), part); err != nil {
		s.broken = true
		return err
	}
	s.next++
	s.size += int64(len(part))
	return nil
}

// due says that a snapshot is worth it.
func (s *store) due() bool {
	return s.broken || s.size > max(s.least, 2*s.snapshot)
}

// replace writes a snapshot, which makes the journal so far unneeded, and what goes on from it, if anything, in one operation.
func (s *store) replace(ctx context.Context, snapshot, rest []byte) error {
	var ops []*storage.Operation
	n := uint64(0)
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
	ops = append(ops, storage.SetOperation(indexKey, seal(index)))
	next := s.next
	if len(rest) > 0 {
		rest = seal(rest)
		ops = append(ops, storage.SetOperation(partKey(next), rest))
		next++
	}
	if err := s.client.Batch(ctx, ops...); err != nil {
		s.broken = true
		return err
	}
	s.pieces, s.first, s.size, s.snapshot, s.broken = n, s.next, int64(len(rest)), int64(len(snapshot)), false
	s.next = next
	return nil
}

// read gives the snapshot, nil when there is none.
func (s *store) read(ctx context.Context) ([]byte, error) {
	b, err := s.client.Get(ctx, indexKey)
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
		piece, err := s.client.Get(ctx, pieceKey(n))
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
	b, err := s.client.Get(ctx, partKey(s.next))
	if err != nil || b == nil {
		return nil, err
	}
	s.next++
	s.size += int64(len(b))
	return unseal(b)
}
