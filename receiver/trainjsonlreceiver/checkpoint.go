package trainjsonlreceiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

const (
	checkpointVersion = 1
	keyPrefix         = "file/"
	goneFor           = 24 * time.Hour
)

// Reasons why a checkpoint is not used.
const (
	checkpointDamaged    = "damaged"    // its file is read from the start
	checkpointVersioned  = "version"    // likewise: another version wrote it
	checkpointKey        = "key"        // the key names no file
	checkpointUnreadable = "unreadable" // the storage refuses it now; the file waits
)

var errCheckpointVersion = errors.New("checkpoint: another version than " + strconv.Itoa(checkpointVersion))

// checkpoint is a mark as it is stored. Paths are bytes: JSON text would change those that are no UTF-8.
type checkpoint struct {
	Version int    `json:"v"`
	Path    []byte `json:"path"`
	Origin  []byte `json:"origin"`
	Born    int64  `json:"born,omitempty"`
	Offset  int64  `json:"offset"`
	Before  uint64 `json:"before"`
	HeadLen int    `json:"head_len"`
	Head    uint64 `json:"head"`
	FileID  uint32 `json:"file_id"`
	HasFile bool   `json:"has_file_id"`
	Torn    int64  `json:"torn"`
	Ended   bool   `json:"ended,omitempty"`
	Run     []byte `json:"run,omitempty"`
	Gone    int64  `json:"gone,omitempty"`
	// Of a packed file.
	PackedSize   int64 `json:"packed_size,omitempty"`
	PackedTime   int64 `json:"packed_time,omitempty"`
	UnpackedSize int64 `json:"unpacked_size,omitempty"`
}

func encodeMark(m mark) []byte {
	text, err := json.Marshal(checkpoint{
		Version: checkpointVersion, Path: []byte(m.Path), Origin: []byte(m.Origin), Born: m.Born,
		Offset: m.Offset, Before: m.Before, HeadLen: m.HeadLen, Head: m.Head, FileID: m.FileID, HasFile: m.HasFile,
		Torn: m.Torn, Ended: m.Ended, Run: []byte(m.Run), Gone: m.GoneTime,
		PackedSize: m.Packed.of.size, PackedTime: m.Packed.of.mod, UnpackedSize: m.Packed.size,
	})
	if err != nil { // numbers, booleans and bytes always encode
		return nil
	}
	return text
}

func decodeMark(text []byte) (mark, error) {
	var c checkpoint
	if err := json.Unmarshal(text, &c); err != nil {
		return mark{}, fmt.Errorf("checkpoint: %w", err)
	}
	if c.Version != checkpointVersion {
		return mark{}, fmt.Errorf("%w: %d", errCheckpointVersion, c.Version)
	}
	if c.Offset < 0 || c.HeadLen < 0 || c.HeadLen > headBytes || int64(c.HeadLen) > c.Offset {
		return mark{}, errors.New("checkpoint: offset and head length do not fit")
	}
	return mark{
		Path: string(c.Path), Origin: string(c.Origin), Born: c.Born, Offset: c.Offset, Before: c.Before,
		HeadLen: c.HeadLen, Head: c.Head, FileID: c.FileID, HasFile: c.HasFile,
		Torn: c.Torn, Ended: c.Ended, Run: string(c.Run), GoneTime: c.Gone,
		Packed: unpackedSize{of: version{size: c.PackedSize, mod: c.PackedTime}, size: c.UnpackedSize},
	}, nil
}

// load makes a stream of every checkpoint, if the storage can list them. All count as gone until they are found.
func (t *tailer) load(ctx context.Context) error {
	walker, ok := t.client.(storage.Walker)
	if !ok {
		return nil
	}
	err := walker.Walk(ctx, func(key string, value []byte) ([]*storage.Operation, error) {
		name, ok := strings.CutPrefix(key, keyPrefix)
		if !ok {
			return nil, nil
		}
		var k fileKey
		if _, err := fmt.Sscanf(name, "%x-%x", &k.dev, &k.ino); err != nil {
			t.ignored(ctx, key, checkpointKey, err)
			return nil, nil
		}
		m, err := decodeMark(value)
		if err != nil {
			t.ignored(ctx, key, damage(err), err)
			return nil, nil
		}
		s := t.newStream(k, m)
		s.gone, s.revision, s.saved = true, 1, 1
		t.streams[k] = s
		return nil, nil
	})
	if err != nil {
		return fmt.Errorf("storage: read the checkpoints: %w", err)
	}
	return nil
}

// recall reads one checkpoint from a storage that cannot list them.
func (t *tailer) recall(ctx context.Context, k fileKey) (mark, bool, error) {
	if _, ok := t.client.(storage.Walker); ok {
		return mark{}, false, nil // load has them all
	}
	value, err := t.client.Get(ctx, k.storageKey())
	if err != nil {
		t.tel.CheckpointErrors.Add(ctx, 1, t.tel.Reason(checkpointUnreadable))
		return mark{}, false, err
	}
	if value == nil {
		return mark{}, false, nil
	}
	m, err := decodeMark(value)
	if err != nil {
		t.ignored(ctx, k.storageKey(), damage(err), err)
		return mark{}, false, nil
	}
	return m, true, nil
}

func damage(err error) string {
	if errors.Is(err, errCheckpointVersion) {
		return checkpointVersioned
	}
	return checkpointDamaged
}

// ignored counts and logs a checkpoint that cannot be used.
func (t *tailer) ignored(ctx context.Context, key, reason string, err error) {
	t.tel.CheckpointErrors.Add(ctx, 1, t.tel.Reason(reason))
	t.warn("checkpoint", "Ignored a checkpoint, its file is read from the start",
		zap.String("key", key), zap.String("reason", reason), zap.Error(err))
}

// save writes what changed since the last save, in one batch, and forgets files that are gone for long.
func (t *tailer) save(ctx context.Context) error {
	ops, written, expired := t.unsaved(time.Now())
	if len(ops) == 0 {
		return nil
	}
	if err := t.client.Batch(ctx, ops...); err != nil {
		t.tel.CheckpointFailures.Add(ctx, 1, t.tel.Self())
		return fmt.Errorf("write the checkpoints: %w", err)
	}
	if t.cfg.Storage != nil {
		t.tel.CheckpointWrites.Add(ctx, int64(len(ops)), t.tel.Self())
	}
	for s, revision := range written {
		s.mu.Lock()
		s.saved = revision
		s.mu.Unlock()
	}
	t.forget(expired)
	return nil
}

func (t *tailer) unsaved(now time.Time) (ops []*storage.Operation, written map[*stream]int, expired []*stream) {
	written = map[*stream]int{}
	for _, s := range t.list() {
		s.mu.Lock()
		switch {
		case s.gone && t.searched.Load() && s.mark.GoneTime != 0 && now.Sub(time.Unix(s.mark.GoneTime, 0)) >= goneFor:
			expired = append(expired, s)
			ops = append(ops, storage.DeleteOperation(s.key.storageKey()))
		case s.unsaved():
			written[s] = s.revision
			ops = append(ops, storage.SetOperation(s.key.storageKey(), encodeMark(s.mark)))
		}
		s.mu.Unlock()
	}
	return ops, written, expired
}

// saveLoop saves until the context ends. It never waits for a file or a consumer.
func (t *tailer) saveLoop(ctx context.Context) {
	tick := time.NewTicker(t.cfg.CheckpointInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := t.save(ctx); err != nil && ctx.Err() == nil {
				t.warn("save", "Offsets were not saved and will be again; a restart now reads some records twice", zap.Error(err))
			}
		}
	}
}
