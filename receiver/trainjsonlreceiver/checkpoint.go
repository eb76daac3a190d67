package trainjsonlreceiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

const (
	checkpointVersion = 2
	keyPrefix         = "file/"               // device and inode follow
	pathPrefix        = "path/"               // a hash of the path follows
	firstSave         = 50 * time.Millisecond // after the first turn
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
	Text    int64  `json:"text,omitempty"`
	From    int64  `json:"from,omitempty"`
	Torn    int64  `json:"torn"`
	Ended   bool   `json:"ended,omitempty"`
	Run     []byte `json:"run,omitempty"`
	Gone    int64  `json:"gone,omitempty"`
	Begun   int    `json:"begun,omitempty"`
	Begin   uint64 `json:"begin,omitempty"`
	Unread  int64  `json:"unread,omitempty"` // bytes that were seen and not delivered
	// Of a packed file.
	PackedSize   int64 `json:"packed_size,omitempty"`
	PackedTime   int64 `json:"packed_time,omitempty"`
	UnpackedSize int64 `json:"unpacked_size,omitempty"`
	// Of the file that was there before it was rewritten, for a day, and until its unread bytes are given or count as lost.
	Was *checkpoint `json:"was,omitempty"`
}

func encodeMark(m mark, unread int64) []byte {
	c := newCheckpoint(m, unread)
	if m.Was != nil && (m.Was.Unread > 0 || !m.Was.isOld(time.Now())) {
		was := newCheckpoint(*m.Was, m.Was.Unread)
		c.Was = &was
	}
	text, err := json.Marshal(c)
	if err != nil { // numbers, booleans and bytes always encode
		return nil
	}
	return text
}

func newCheckpoint(m mark, unread int64) checkpoint {
	return checkpoint{
		Version: checkpointVersion, Path: []byte(m.Path), Origin: []byte(m.Origin), Born: m.Born,
		Offset: m.Offset, Before: m.Before, HeadLen: m.HeadLen, Head: m.Head, FileID: m.FileID, HasFile: m.HasFile,
		Text: m.Text, From: m.From, Torn: m.Torn, Ended: m.Ended, Run: []byte(m.Run), Gone: m.GoneTime, Unread: unread, Begun: m.Begun, Begin: m.Begin,
		PackedSize: m.Packed.of.size, PackedTime: m.Packed.of.mod, UnpackedSize: m.Packed.size,
	}
}

func decodeMark(text []byte) (m mark, unread int64, err error) {
	var c checkpoint
	if err := json.Unmarshal(text, &c); err != nil {
		return mark{}, 0, fmt.Errorf("checkpoint: %w", err)
	}
	if c.Version != checkpointVersion {
		return mark{}, 0, fmt.Errorf("%w: %d", errCheckpointVersion, c.Version)
	}
	if !c.fits() || c.Was != nil && !c.Was.fits() {
		return mark{}, 0, errors.New("checkpoint: offset and head length do not fit")
	}
	m = c.mark()
	if c.Was != nil {
		was := c.Was.mark()
		was.Unread = c.Was.Unread
		m.Was = &was
	}
	return m, c.Unread, nil
}

func (c *checkpoint) fits() bool {
	return c.Offset >= 0 && c.HeadLen >= 0 && c.HeadLen <= headBytes && int64(c.HeadLen) <= c.Offset && c.Unread >= 0 && c.From >= 0 && c.From <= c.Text &&
		c.Begun >= 0 && c.Begun <= headBytes
}

func (c *checkpoint) mark() mark {
	return mark{
		Path: string(c.Path), Origin: string(c.Origin), Born: c.Born, Offset: c.Offset, Before: c.Before,
		HeadLen: c.HeadLen, Head: c.Head, FileID: c.FileID, HasFile: c.HasFile,
		Text: c.Text, From: c.From, Torn: c.Torn, Ended: c.Ended, Run: string(c.Run), GoneTime: c.Gone, Begun: c.Begun, Begin: c.Begin,
		Packed: unpackedSize{of: version{size: c.PackedSize, mod: c.PackedTime}, size: c.UnpackedSize},
	}
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
func (t *tailer) save(ctx context.Context) error { return t.saveWhat(ctx, false) }

// saveLast saves also how much is unread: if the file goes away while the collector does not run, that is lost.
func (t *tailer) saveLast(ctx context.Context) error { return t.saveWhat(ctx, true) }

func (t *tailer) saveWhat(ctx context.Context, last bool) error {
	u := t.unsaved(time.Now(), last)
	if len(u.ops) == 0 {
		return nil
	}
	if err := t.client.Batch(ctx, u.ops...); err != nil {
		t.tel.CheckpointFailures.Add(ctx, 1, t.tel.Self())
		t.mu.Lock()
		t.dropped = append(t.dropped, u.dropped...)
		t.mu.Unlock()
		return fmt.Errorf("write the checkpoints: %w", err)
	}
	if t.cfg.Storage != nil {
		t.tel.CheckpointWrites.Add(ctx, int64(len(u.ops)), t.tel.Self())
	}
	for s, w := range u.written {
		s.mu.Lock()
		s.saved, s.unsure = w.revision, w.unread
		s.mu.Unlock()
	}
	for _, s := range u.expired {
		t.expire(ctx, s)
	}
	t.forget(u.expired)
	return nil
}

// unsaved is what a save has to do.
type unsaved struct {
	ops     []*storage.Operation
	written map[*stream]written
	expired []*stream
	dropped []string // keys that are not used any more
}

type written struct {
	revision int
	unread   int64
}

func (t *tailer) unsaved(now time.Time, last bool) unsaved {
	u := unsaved{written: map[*stream]written{}}
	t.mu.Lock()
	u.dropped, t.dropped = t.dropped, nil
	t.mu.Unlock()
	for _, key := range u.dropped {
		u.ops = append(u.ops, storage.DeleteOperation(key))
	}
	settled, packed := t.settled.Load(), t.awaited(now)
	for _, s := range t.list() {
		held := s.leaving() && t.holds(s) // the pipeline refuses what cannot be read again
		s.mu.Lock()
		unread := s.unread()
		switch {
		case settled && !held && s.goneSince(now) >= goneFor && !packed.has(&s.mark):
			u.expired = append(u.expired, s)
			u.ops = append(u.ops, storage.DeleteOperation(s.key.storageKey()))
		case s.unsaved(), last && !s.gone && unread != s.unsure:
			u.written[s] = written{revision: s.revision, unread: unread}
			u.ops = append(u.ops, storage.SetOperation(s.key.storageKey(), encodeMark(s.mark, unread)))
		}
		s.mu.Unlock()
	}
	return u
}

// saveLoop saves until the context ends. It never waits for a file or a consumer.
func (t *tailer) saveLoop(ctx context.Context) {
	tick := time.NewTicker(t.cfg.CheckpointInterval)
	defer tick.Stop()
	first := t.turned // a life that is shorter than the interval gets on too
	for {
		select {
		case <-ctx.Done():
			return
		case <-first:
			first = nil
			tick.Reset(min(firstSave, t.cfg.CheckpointInterval))
		case <-tick.C:
			tick.Reset(t.cfg.CheckpointInterval)
			if err := t.save(ctx); err != nil && ctx.Err() == nil {
				t.warn("save", "Offsets were not saved and will be again; a restart now reads some records twice", zap.Error(err))
			}
		}
	}
}
