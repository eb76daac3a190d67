package dvcresultexporter

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// move puts another folder in the place of the directory.
func (r *rig) move() (old string) {
	r.t.Helper()
	old = r.cfg.Directory + ".old"
	require.NoError(r.t, os.Rename(r.cfg.Directory, old))
	require.NoError(r.t, os.Mkdir(r.cfg.Directory, 0o755))
	return old
}

func TestDirectoryThatWasReplacedReceivesEveryResult(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.LiveInterval = time.Minute
		r.cfg.LateWindow = 10 * time.Minute
		r.start()
		defer r.stop()
		r.feed(wholeRun("closed")...)
		pass(time.Hour)
		r.feed(wholeRun("ended")...)
		r.feed(stream(epoch("failed", 0), record("failed", 150, "run.failure", `"message":"x"`))...)
		r.feed(wholeRun("live")[:3]...)
		pass(2 * time.Minute)
		before := map[string]map[string]string{}
		for _, id := range []string{"ended", "failed", "live"} {
			before[id] = r.files(id)
			require.Contains(t, before[id], "result.json", id)
		}
		old := r.move()
		tree := readTree(t, old)
		r.feed(wholeRun("next")...)
		pass(10 * time.Second)
		r.says("next", "success", true, false)
		pass(2 * time.Minute)
		for id, want := range before {
			assert.Equal(t, want, r.files(id), id)
		}
		assert.Nil(t, r.files("closed"), "its state is gone")
		got := readTree(t, old)
		for name := range got {
			assert.False(t, strings.HasPrefix(name, "next/"), name)
		}
		for name, text := range tree {
			if !strings.HasPrefix(name, ".dvc_result/tmp/") {
				assert.Equal(t, text, got[name], name)
			}
		}
		assert.Empty(t, r.temporary(old), "what the collector used there was not removed")
		assert.Len(t, r.temporary(r.cfg.Directory), 1)
		assert.Equal(t, 1, r.logs.FilterMessageSnippet("is another folder now").Len())
		assert.Equal(t, `1`, r.metric(`otelcol_dvc_result_runs{state="closed"}`))
	})
}

// temporary lists the folders of instances below a directory of results.
func (r *rig) temporary(dir string) []os.DirEntry {
	r.t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, ".dvc_result", "tmp"))
	require.NoError(r.t, err)
	return entries
}

func TestUnendedRunsAreWrittenAnewAfterAMove(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.feed(wholeRun("unknown")[:3]...)
		r.kill()
		time.Sleep(time.Hour)
		r.start()
		defer r.stop()
		r.feed(wholeRun("stalled")[:3]...)
		pass(time.Hour)
		r.says("unknown", "unknown", true, true)
		r.says("stalled", "stalled", true, true)
		r.move()
		r.feed(wholeRun("next")...)
		pass(time.Minute)
		r.says("unknown", "unknown", true, true)
		r.says("stalled", "stalled", true, true)
	})
}

func TestDirectoryThatMovesWhileAResultIsWrittenCountsNothingAsWritten(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		old := ""
		r.fs.fail(func(op, name string) error {
			if op == "rename" && name == "a/result.json" && old == "" {
				old = r.move()
			}
			return nil
		})
		r.feed(wholeRun("a")...)
		pass(10 * time.Second)
		r.says("a", "success", true, false)
		assert.Equal(t, `1`, r.metric(`otelcol_dvc_result_written_results{outcome="success"}`))
		outside, err := os.ReadDir(r.dir)
		require.NoError(t, err)
		var names []string
		for _, e := range outside {
			names = append(names, e.Name())
		}
		assert.Equal(t, []string{"results", "results.old"}, names, "something was written outside")
		assert.NotEmpty(t, old)
	})
}

func TestDirectoryThatBecameALinkIsFollowedAsAtTheStart(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		first, second := filepath.Join(r.dir, "1"), filepath.Join(r.dir, "2")
		require.NoError(t, os.Mkdir(first, 0o755))
		require.NoError(t, os.Mkdir(second, 0o755))
		require.NoError(t, os.Symlink(first, r.cfg.Directory))
		r.start()
		defer r.stop()
		r.feed(wholeRun("a")...)
		pass(time.Minute)
		require.NoError(t, os.Remove(r.cfg.Directory))
		require.NoError(t, os.Symlink(second, r.cfg.Directory))
		r.feed(wholeRun("b")...)
		pass(time.Minute)
		assert.Contains(t, readTree(t, second), "a/result.json")
		assert.Contains(t, readTree(t, second), "b/result.json")
		assert.NotContains(t, readTree(t, first), "b/result.json")
	})
}

func TestDirectoryThatCannotBeOpenedAfterAMoveIsTriedAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		r.feed(wholeRun("a")...)
		pass(time.Minute)
		old := r.move()
		r.fs.fail(func(op, _ string) error {
			if op == "open" {
				return syscall.EACCES
			}
			return nil
		})
		r.feed(wholeRun("b")...)
		pass(time.Minute)
		assert.NotContains(t, readTree(t, old), "b/result.json")
		r.fs.fail(nil)
		pass(10 * time.Minute)
		r.says("a", "success", true, false)
		r.says("b", "success", true, false)
		assert.Equal(t, 1, r.logs.FilterMessageSnippet("is another folder now").Len())
	})
}

func TestEveryResultComesBackWhenTheDirectoryWasRemoved(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		r.feed(wholeRun("a")...)
		pass(time.Minute)
		for _, next := range []string{"b", "c", "d", "e", "f", "g", "h"} { // a folder made anew often has the inode number of the old one
			require.NoError(t, os.RemoveAll(r.cfg.Directory))
			r.feed(wholeRun(next)...)
			pass(time.Minute)
			r.says("a", "success", true, false)
			r.says(next, "success", true, false)
		}
	})
}

// A writer may have found the folder in its place, and not have noted its result yet, when another finds that it moved.
func TestResultThatWasWrittenJustBeforeAMoveIsWrittenAnew(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		r.feed(wholeRun("a")...)
		pass(9 * time.Second)
		g := r.exp.engine
		g.mu.Lock()
		a := g.runs["a"].owner()
		a.writing = true
		g.queue = g.queue[:0]
		a.index = -1
		g.mu.Unlock()
		pass(time.Second)
		j, ok := g.decide(t.Context(), a)
		require.True(t, ok)
		g.moved()
		g.finish(t.Context(), a, j, nil)
		assert.Nil(t, r.files("a"))
		pass(10 * time.Second)
		r.says("a", "success", true, false)
	})
}
