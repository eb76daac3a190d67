package trainjsonlreceiver

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
)

const (
	maxSearch = 5 * time.Second // between two searches for files, unless one takes longer
	// maxWatchedSearch is likewise, when the operating system tells of new files.
	maxWatchedSearch = time.Minute
	// slowSearch is how long a search may take before that is told.
	slowSearch = 10 * time.Second
	// settleAfter is how long looks at what the first search found are waited for.
	settleAfter = time.Minute
	// searchShare is the part of the time that searching for files may take, as 1/n.
	searchShare = 20
)

// found is what a search found.
type found struct {
	began     time.Time
	took      time.Duration
	files     []candidate // that were not known
	denied    bool        // some place may not be looked at
	abandoned bool        // it hangs; nothing was found
}

// search begins to look for files by the globs. It is a goroutine of its own: nothing waits for a slow file system or a
// large tree. One that hangs is left behind, and the next one goes around the place.
func (t *tailer) search(ctx context.Context, now time.Time) {
	t.searching, t.searchBegan, t.slow = true, now, false
	t.watch.quiet()
	known := t.paths()
	t.spawn(func() {
		files := t.detours.tree(ctx, t, func() { t.found <- found{began: now, abandoned: true} })
		clock := time.Now()
		f := t.find(files, known)
		if files.end() {
			return // it was left behind
		}
		if t.recallsSingly() {
			t.recallAll(ctx, f.files)
		}
		f.began, f.took = now, time.Since(clock)
		t.found <- f
	})
}

// find is the search itself.
func (t *tailer) find(files *tree, known map[string]bool) found {
	ctx := files.ctx
	paths, err := t.globs.find(ctx, files, func(path string, err error) {
		files.denied = files.denied || isDenied(err)
		t.watch.see(path, false)
		if !errors.Is(err, errHung) { // that was counted when it began
			t.cannotLook(ctx, path, err)
		}
	})
	f := found{denied: files.denied}
	if err != nil {
		return f
	}
	t.tellSpellings(files)
	t.tellFolders(files)
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
	f.files = t.distinct(files, f.files)
	return f
}

// distinct notes what the files are known by, and leaves out what is another name of one that goes before.
func (t *tailer) distinct(files *tree, all []candidate) []candidate {
	seen := map[fileKey]bool{}
	kept := all[:0]
	for _, c := range all {
		fi, err := files.Stat(c.path)
		if errors.Is(err, errHung) {
			continue // a look at it would hang too
		}
		if err == nil && fi.Mode().IsRegular() { // else the look at it tells
			c.key = t.keyFor(fi, c.path)
			if seen[c.key] {
				continue
			}
			seen[c.key] = true
		}
		kept = append(kept, c)
	}
	return kept
}

// searchDue is when to search next.
func (t *tailer) searchDue() time.Time {
	if !t.watch.all() || t.watch.news() {
		return t.nextSearch
	}
	return t.watchedSearch
}

// takeUp ends a search: what it found is looked at.
func (t *tailer) takeUp(ctx context.Context, f found, now time.Time) {
	t.searching = false
	if ctx.Err() != nil {
		return
	}
	if f.abandoned {
		t.nextSearch = now
		return
	}
	t.watch.searched()
	t.denied.Store(f.denied)
	t.mu.Lock()
	t.searchedAt = f.began
	t.mu.Unlock()
	t.nextSearch = now.Add(min(max(t.cfg.PollInterval, searchShare*f.took), max(maxSearch, f.took)))
	t.watchedSearch = now.Add(max(maxWatchedSearch, t.cfg.PollInterval))
	known := t.paths()
	for _, c := range f.files {
		if !known[c.path] {
			t.ask(ctx, job{found: c, now: now})
		}
	}
	t.unskip(f.files)
	if t.firstFound.IsZero() {
		t.firstFound = now
	}
}

// settle notes, when the first search is over and all that it found was looked at, or hangs, what the checkpoints name and
// is not there.
func (t *tailer) settle(ctx context.Context, now time.Time) {
	if t.firstFound.IsZero() || t.settled.Load() || !t.lookers.awaitsNone() && now.Sub(t.firstFound) < settleAfter {
		return
	}
	t.settled.Store(true)
	for _, s := range t.list() {
		if s.isGone() {
			t.wentMissing(ctx, s, now)
		}
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
	all := t.list()
	known := make(map[string]bool, len(all))
	for _, s := range all {
		s.mu.Lock()
		if !s.gone {
			known[s.mark.Path] = true
		}
		s.mu.Unlock()
	}
	return known
}

// skip counts and logs, once, a path that matches and is a pipe, a device or a socket: reading one could block for ever. Or
// it is a link that leads to itself.
func (t *tailer) skip(ctx context.Context, path, reason string) {
	t.mu.Lock()
	before := t.skipped[path]
	t.skipped[path] = true
	t.mu.Unlock()
	if before {
		return
	}
	t.tel.SkippedFiles.Add(ctx, 1, t.tel.Reason(reason))
	t.warn("skip:"+path, "Left out what is no regular file; narrow include or name it in exclude",
		zap.String("file", path), zap.String("reason", reason))
}

// unskip forgets the skipped paths that are not there any more.
func (t *tailer) unskip(files []candidate) {
	t.mu.Lock()
	defer t.mu.Unlock()
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
