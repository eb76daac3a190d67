package trainjsonlreceiver

import (
	"slices"
	"sync"
	"time"
)

// maxRewritten is how many marks of rewritten files are kept.
const maxRewritten = 1000

// rewritten are the marks of files that turned out to be others, for as long as files are remembered: what was delivered of
// them may come back in a packed file, whose next writer got the inode or the path.
type rewritten struct {
	mu  sync.Mutex
	all []mark // the oldest first
}

func (r *rewritten) add(m mark, now time.Time) {
	if m.HeadLen == 0 {
		return
	}
	m.GoneTime = now.Unix()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, m)
	r.all = slices.Delete(r.all, 0, max(len(r.all)-maxRewritten, 0))
}

func (r *rewritten) list(now time.Time) []mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := slices.IndexFunc(r.all, func(m mark) bool { return now.Sub(time.Unix(m.GoneTime, 0)) < goneFor })
	if n < 0 {
		n = len(r.all)
	}
	r.all = slices.Delete(r.all, 0, n)
	return slices.Clone(r.all)
}
