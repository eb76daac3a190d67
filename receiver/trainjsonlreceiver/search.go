package trainjsonlreceiver

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

const (
	maxSearch = 5 * time.Second // between two searches for files, unless one takes longer
	// slowSearch is how long a search may take before that is told.
	slowSearch = 10 * time.Second
	// searchShare is the part of the time that searching for files may take, as 1/n.
	searchShare = 20
)

// found is what a search found.
type found struct {
	began  time.Time
	took   time.Duration
	files  []candidate // that were not known
	denied bool        // some place may not be looked at
}

// search begins to look for files by the globs. It is a goroutine of its own: nothing waits for a slow file system or a
// large tree.
func (t *tailer) search(ctx context.Context, now time.Time) {
	t.searching, t.searchBegan, t.slow = true, now, false
	known, files := t.paths(), t.fs
	t.spawn(func() {
		clock := time.Now()
		f := t.find(ctx, files, known)
		f.began, f.took = now, time.Since(clock)
		t.found <- f
	})
}

// find is the search itself.
func (t *tailer) find(ctx context.Context, files fileSystem, known map[string]bool) found {
	var denied atomic.Bool
	paths, err := t.globs.find(ctx, files, func(path string, err error) {
		if isDenied(err) {
			denied.Store(true)
		}
		t.cannotLook(ctx, path, err)
	})
	f := found{denied: denied.Load()}
	if err != nil {
		return f
	}
	names := t.globs.namer(files)
	seen := map[string]bool{}
	for _, path := range paths {
		if known[path] || ctx.Err() != nil {
			continue
		}
		c := names.name(path)
		if !known[c.path] && !seen[c.path] {
			seen[c.path] = true
			f.files = append(f.files, c)
		}
	}
	slices.SortFunc(f.files, func(a, b candidate) int {
		if a.real != b.real {
			if a.real {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.path, b.path)
	})
	return f
}

// takeUp ends a search: the poll takes up what it found.
func (t *tailer) takeUp(ctx context.Context, f found, now time.Time) {
	t.searching = false
	if ctx.Err() != nil {
		return
	}
	t.denied, t.searchedAt = f.denied, f.began
	t.nextSearch = now.Add(min(max(t.cfg.PollInterval, searchShare*f.took), max(maxSearch, f.took)))
	known := t.paths()
	for _, c := range f.files {
		if !known[c.path] {
			t.admit(ctx, c, now)
		}
	}
	t.unskip(f.files)
	if !t.searched.Load() { // what the checkpoints name and is not there
		for _, s := range t.list() {
			if s.isGone() {
				s.leave(now)
			}
		}
		t.searched.Store(true)
	}
}

// reportSlow counts a search that takes long, and logs it while it does.
func (t *tailer) reportSlow(ctx context.Context, now time.Time) {
	took := now.Sub(t.searchBegan)
	if !t.searching || took < slowSearch {
		return
	}
	if !t.slow {
		t.slow = true
		t.tel.DiscoveryErrors.Add(ctx, 1, t.tel.Reason(discoverySlow))
	}
	t.warn("slow", "Looking for files takes long, new ones are found late; narrow include, ** most of all",
		zap.Duration("so_far", took), zap.String("include", strings.Join(t.cfg.Include, ", ")))
}

// awaitSearch lets a search end that the context stopped. One that hangs in the file system is left behind.
func (t *tailer) awaitSearch() {
	if !t.searching {
		return
	}
	select {
	case <-t.found:
		t.searching = false
	case <-time.After(searchGrace):
	}
}

// paths gives where the known files are.
func (t *tailer) paths() map[string]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := make(map[string]bool, len(t.streams))
	for _, s := range t.streams {
		s.mu.Lock()
		if !s.gone {
			known[s.mark.Path] = true
		}
		s.mu.Unlock()
	}
	return known
}

// skip counts and logs, once, a path that matches and is a pipe, a device or a socket: reading one could block for ever.
func (t *tailer) skip(ctx context.Context, path string, mode fs.FileMode) {
	if t.skipped[path] {
		return
	}
	t.skipped[path] = true
	t.tel.SkippedFiles.Add(ctx, 1, t.tel.Reason(skipNotRegular))
	t.warn("skip:"+path, "Left out what is no regular file; narrow include or name it in exclude",
		zap.String("file", path), zap.Stringer("mode", mode.Type()))
}

// unskip forgets the skipped paths that are not there any more.
func (t *tailer) unskip(files []candidate) {
	if len(t.skipped) == 0 {
		return
	}
	there := make(map[string]bool, len(t.skipped))
	for _, c := range files {
		if t.skipped[c.path] {
			there[c.path] = true
		}
	}
	t.skipped = there
}
