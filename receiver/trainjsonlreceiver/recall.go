package trainjsonlreceiver

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

// recallBatch is how many checkpoints are asked for at a time: file_storage writes to its disk for each request.
const recallBatch = 1000

// recalled is what the storage answered about a file.
type recalled struct {
	key    fileKey
	known  bool
	mark   mark
	unread int64
}

// load makes a stream of every checkpoint, if the storage can list them. All count as gone until they are found.
func (t *tailer) load(ctx context.Context) error {
	walker, ok := t.client.(storage.Walker)
	if !ok {
		return nil
	}
	err := walker.Walk(ctx, func(key string, value []byte) ([]*storage.Operation, error) {
		m, unread, err := decodeMark(value)
		k, ours, keyErr := parseKey(key, m.Path)
		if err != nil && strings.HasPrefix(key, pathPrefix) {
			keyErr = nil // it is the value that tells no path
		}
		switch {
		case !ours:
		case keyErr != nil:
			t.ignored(ctx, key, checkpointKey, keyErr)
		case err != nil:
			t.ignored(ctx, key, damage(err), err)
		default:
			s := t.newStream(k, m.resumed())
			s.gone, s.revision, s.saved = true, 1, 1
			s.size, s.unsure = m.Offset+unread, unread
			s.due.Store(never)
			t.add(ctx, s)
			t.orphans[m.Path] = s
		}
		return nil, nil
	})
	if err != nil {
		return fmt.Errorf("storage: read the checkpoints: %w", err)
	}
	return nil
}

// recallsSingly says whether the storage cannot list what it has.
func (t *tailer) recallsSingly() bool {
	_, ok := t.client.(storage.Walker)
	return !ok && t.cfg.Storage != nil
}

// recallAll asks such a storage about files that were found, many at a time.
func (t *tailer) recallAll(ctx context.Context, files []candidate) {
	ops := make([]*storage.Operation, 0, recallBatch)
	asked := make([]*candidate, 0, recallBatch)
	keys := make([]fileKey, 0, recallBatch)
	flush := func() {
		if len(ops) == 0 || ctx.Err() != nil {
			return
		}
		if err := t.client.Batch(ctx, ops...); err == nil { // else each file is asked about alone, when it is taken up
			for i, c := range asked {
				r := t.read1(ctx, keys[i], ops[i].Value)
				c.recalled = &r
			}
		}
		ops, asked, keys = ops[:0], asked[:0], keys[:0]
	}
	for i := range files {
		c := &files[i]
		if c.key == (fileKey{}) || t.byKey(c.key) != nil {
			continue
		}
		ops, asked, keys = append(ops, storage.GetOperation(c.key.storageKey())), append(asked, c), append(keys, c.key)
		if len(ops) == recallBatch {
			flush()
		}
	}
	flush()
}

// read1 reads the answer of a storage.
func (t *tailer) read1(ctx context.Context, k fileKey, value []byte) recalled {
	r := recalled{key: k}
	if value == nil {
		return r
	}
	var err error
	if r.mark, r.unread, err = decodeMark(value); err != nil {
		t.ignored(ctx, k.storageKey(), damage(err), err)
		return recalled{key: k}
	}
	r.known = true
	return r
}

// remembered gives the stream of a file that is not known: with what the storage has of it, or what is kept of a file that
// was at the same path and may be the same, or from its start.
func (t *tailer) remembered(ctx context.Context, k fileKey, c candidate) (*stream, error) {
	r := c.recalled
	if t.recallsSingly() && (r == nil || r.key != k) {
		value, err := t.client.Get(ctx, k.storageKey())
		if err != nil {
			t.tel.CheckpointErrors.Add(ctx, 1, t.tel.Reason(checkpointUnreadable))
			return nil, err
		}
		one := t.read1(ctx, k, value)
		r = &one
	}
	if r != nil && r.known {
		s := t.newStream(k, r.mark.resumed())
		s.revision, s.saved, s.unsure = 1, 1, r.unread
		s.size = r.mark.Offset + r.unread
		return s, nil
	}
	if old := t.orphan(c.path, k); old != nil {
		return t.adopt(k, old), nil
	}
	return t.newStream(k, t.firstMark(c.path)), nil
}

// orphan gives the file that was at a path, if it may be the one that is there now: the device has another number since it
// was mounted again, or files are known by their paths now, or no more.
func (t *tailer) orphan(path string, k fileKey) *stream {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.orphans[path]
	if old == nil || t.streams[old.key] != old || old.key == k {
		return nil
	}
	samePlace := (old.key.path == "") == (k.path == "")
	if samePlace && (k.path != "" || old.key.ino != k.ino) {
		return nil
	}
	return old
}

// adopt goes on with a file under another key. Its first turn finds out if it is another file.
func (t *tailer) adopt(k fileKey, old *stream) *stream {
	m, _ := old.get()
	m.GoneTime = 0
	s := t.newStream(k, m)
	s.revision = 1
	old.mu.Lock()
	s.size = old.size
	old.mu.Unlock()
	t.forget([]*stream{old})
	t.mu.Lock()
	t.dropped = append(t.dropped, old.key.storageKey())
	t.mu.Unlock()
	t.logger.Debug("Went on with a file whose device or identity changed", zap.String("file", m.Path))
	return s
}
