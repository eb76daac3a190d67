package trainjsonlreceiver

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// maxRewritten is how many marks of rewritten files are kept.
const maxRewritten = 1000

// rewritten are the marks of files that turned out to be others, for as long as files are remembered: what was delivered of
// them may come back in a packed file, whose next writer got the inode or the path. Over a restart the checkpoint of that one
// keeps the last of them.
type rewritten struct {
	mu    sync.Mutex
	all   []mark    // the oldest first
	began time.Time // of the first look for what is lost
}

// ranADay says whether the collector has run for as long as files are remembered.
func (r *rewritten) ranADay(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.began.IsZero() {
		r.began = now
	}
	return now.Sub(r.began) >= goneFor
}

// put takes a mark, once; those of a start come in any order. It gives those that are too many.
func (r *rewritten) put(m mark) (out []mark) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.all, m) {
		return nil
	}
	at, _ := slices.BinarySearchFunc(r.all, m.GoneTime+1, func(other mark, gone int64) int { return cmp.Compare(other.GoneTime, gone) })
	r.all = slices.Insert(r.all, at, m)
	n := max(len(r.all)-maxRewritten, 0)
	out = slices.Clone(r.all[:n])
	r.all = slices.Delete(r.all, 0, n)
	return out
}

// settle notes that so many bytes of a file are still not delivered, and gives the mark that says so.
func (r *rewritten) settle(m mark, unread int64) mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	settled := m
	settled.Unread = unread
	if i := slices.Index(r.all, m); i >= 0 {
		r.all[i] = settled
	}
	return settled
}

// list forgets those that were rewritten long ago, unless bytes of them are still to be counted as lost.
func (r *rewritten) list(now time.Time) []mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = slices.DeleteFunc(r.all, func(m mark) bool { return m.Unread == 0 && m.isOld(now) })
	return slices.Clone(r.all)
}

func (m mark) isOld(now time.Time) bool { return now.Sub(time.Unix(m.GoneTime, 0)) >= goneFor }

// leaveRewritten keeps the mark of a file that was rewritten now; it gives what its next checkpoints are to keep of it, nil for
// nothing. What was seen of it and not delivered is lost, unless a packed file may give it.
func (t *tailer) leaveRewritten(ctx context.Context, m mark, now time.Time) *mark {
	was := m.Was
	m.GoneTime, m.Was = now.Unix(), nil
	if m.Unread > 0 && !t.packs {
		t.loseOf(ctx, m)
		m.Unread = 0
	}
	if m.HeadLen == 0 && m.Unread == 0 {
		return was
	}
	t.keepRewritten(ctx, m)
	if m.HeadLen == 0 && was != nil {
		return was
	}
	return &m
}

// keepRewritten keeps a mark. What is still unread of those that are too many then is lost, also for the checkpoints that keep them.
func (t *tailer) keepRewritten(ctx context.Context, m mark) {
	for _, out := range t.rewritten.put(m) {
		t.given(out, 0)
		t.loseOf(ctx, out)
	}
}

// loseRewritten counts, once, the bytes of files that were rewritten and that no packed file gives. As with files that went away, it
// takes a search to know.
func (t *tailer) loseRewritten(ctx context.Context, now time.Time) {
	t.mu.Lock()
	searched := t.searchedAt
	t.mu.Unlock()
	packed := t.awaited(now)
	for _, m := range t.rewritten.list(now) {
		since := time.Unix(m.GoneTime, 0)
		if m.Unread > 0 && now.Sub(since) > lostAfter && searched.After(since) && !packed.has(&m) {
			t.given(m, 0)
			t.loseOf(ctx, m)
		}
	}
}

// loseLeft counts, at the end, what no checkpoint keeps to be counted later.
func (t *tailer) loseLeft(ctx context.Context, now time.Time) {
	kept := map[mark]bool{}
	for _, s := range t.list() {
		if m, _ := s.get(); m.Was != nil {
			kept[*m.Was] = true
		}
	}
	for _, m := range t.rewritten.list(now) {
		if m.Unread > 0 && (!kept[m] || t.cfg.Storage == nil) {
			t.given(m, 0)
			t.loseOf(ctx, m)
		}
	}
}

// given notes that so many bytes of a file that was rewritten are still not delivered, also where checkpoints keep it.
func (t *tailer) given(m mark, unread int64) {
	if unread == m.Unread {
		return
	}
	settled := t.rewritten.settle(m, unread)
	for _, s := range t.list() {
		s.mu.Lock()
		if was := s.mark.Was; was != nil && *was == m {
			s.mark.Was = &settled
			s.revision++
		}
		s.mu.Unlock()
	}
}

func (t *tailer) loseOf(ctx context.Context, m mark) {
	t.lose(ctx, m.Unread, m.Path, m.Offset, "A file was rewritten before it was read to its end; append to streams, and copy them only when they are read")
}
