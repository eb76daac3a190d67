package trainjsonlreceiver

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

// A uid says where a line stands in its file, not in which of the texts that the file had. Each text but the first at a path has a number, which
// goes with its records, and says which of the texts before are gone: those of a file that was written anew, or is not there any more. A file that
// was renamed still has its text.

// saveFor is how long a turn waits until the number of a text is stored, before anything of the text is delivered.
const saveFor = time.Second

// next is the number of the text after this one, of which nothing may have been read.
func (m mark) next() int64 {
	if m.Offset == 0 && m.Begun == 0 {
		return m.Text
	}
	return m.Text + 1
}

// resumed is a mark as the next life takes it up: lines of a text may have been delivered although none is said to be, and the text may be
// another one by now.
func (m mark) resumed() mark {
	if m.Text > 0 && m.Offset == 0 {
		m.Text++
	}
	return m
}

// nextText is the mark of a file that was written anew, read from its start.
func (t *tailer) nextText(s *stream, m mark) mark {
	t.mu.Lock()
	newest := t.texts[m.Path]
	t.mu.Unlock()
	if newest != nil && newest != s { // the inode of a file that is gone: it took the place of what is read here, not of that file
		again := t.firstMark(m.Path)
		again.Text = max(again.Text, m.next())
		return again
	}
	again := mark{Path: m.Path, Origin: m.Path, Torn: noTorn, Text: m.next(), From: m.From}
	was := fileKey{}
	if before := s.before.Swap(0); s.key.path != "" && before != 0 {
		was = fileKey{dev: s.device.Load(), ino: before}
	}
	if t.isBeside(m, m.Path, was) {
		again.From = again.Text
	}
	return again
}

// firstMark is the mark of a file that is new at a path.
func (t *tailer) firstMark(path string) mark {
	first := mark{Path: path, Origin: path, Torn: noTorn}
	t.mu.Lock()
	var old *stream
	for _, other := range []*stream{t.texts[path], t.orphans[path]} {
		if other == nil {
			continue
		}
		if m, _ := other.get(); m.next() > first.Text {
			old, first.Text, first.From = other, m.next(), m.From
		}
	}
	t.mu.Unlock()
	if old == nil {
		return first
	}
	m, _ := old.get()
	was := old.key
	if was.path != "" {
		was = fileKey{}
	}
	if m.Path != path && !old.isGone() || t.isBeside(m, path, was) {
		first.From = first.Text
	}
	return first
}

// packedEndings are the endings of files that another program packed. What is in them is not looked at.
var packedEndings = []string{gzipSuffix, ".zst", ".xz", ".bz2", ".lz4"}

// isBeside says that a text may still be in the folder of its path: in the file that it was in, where that is known, under whichever name; or under
// a rotated name in a file that has its bytes, or that was packed since the text began. A folder that cannot be read may have it.
func (t *tailer) isBeside(m mark, path string, was fileKey) bool {
	entries, err := t.fs.ReadDir(filepath.Dir(path))
	if err != nil {
		return !isMissing(err)
	}
	for _, e := range entries {
		name := filepath.Join(filepath.Dir(path), e.Name())
		switch {
		case name == path:
		case was != (fileKey{}) && t.isFile(name, was, m.Born):
			return true
		case !rotated(m, name):
		case slices.Contains(packedEndings, filepath.Ext(name)):
			if born := t.fs.Born(name); born == 0 || born >= m.Born {
				return true
			}
		case t.hasBytes(name, m):
			return true
		}
	}
	return false
}

func (t *tailer) isFile(name string, key fileKey, born int64) bool {
	fi, err := t.fs.Stat(name)
	if err != nil || keyOf(fi) != key {
		return false
	}
	now := t.fs.Born(name)
	return born == 0 || now == 0 || born == now
}

func (t *tailer) hasBytes(name string, m mark) bool {
	fi, err := t.fs.Stat(name)
	if err != nil || !fi.Mode().IsRegular() || m.HeadLen == 0 {
		return false
	}
	f, err := t.fs.Open(name)
	if err != nil {
		return false
	}
	same, err := holds(f, m)
	return errors.Join(err, f.Close()) == nil && same
}

// number stores the number of a text before anything of it is delivered: should the collector be killed, the text after it has another one.
func (t *tailer) number(ctx context.Context, s *stream, m mark) {
	if s.numbered || m.Text == 0 || m.Offset > 0 || t.cfg.Storage == nil {
		return
	}
	s.numbered = true
	stored := make(chan error, 1)
	go func() { stored <- t.client.Batch(ctx, storage.SetOperation(s.key.storageKey(), encodeMark(m, 0))) }()
	tell := func(err error) {
		if err != nil && ctx.Err() == nil {
			t.warn("save", "Offsets were not saved and will be again; a restart now reads some records twice", zap.Error(err))
		}
	}
	wait := time.NewTimer(saveFor)
	defer wait.Stop()
	select {
	case err := <-stored:
		tell(err)
	case <-wait.C: // it is saved with the next offsets, and once more when this is over: it may be written behind them
		go func() {
			tell(<-stored)
			s.saveAgain()
		}()
	}
}

// newText notes that a stream begins at its path; it is called with the lock.
func (t *tailer) newText(s *stream) {
	m, _ := s.get()
	if old := t.texts[m.Origin]; old != nil {
		if was, _ := old.get(); was.Text > m.Text {
			return
		}
	}
	t.texts[m.Origin] = s
}
