package trainjsonlreceiver

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// link makes a symbolic link in the folder, or points it elsewhere.
func (r *rig) link(target, name string) {
	r.t.Helper()
	path := r.path(name)
	_ = os.Remove(path)
	require.NoError(r.t, os.Symlink(target, path))
}

// runsOf gives the runs of what was delivered, with the number of records of each.
func (k *sink) runsOf() map[string]int {
	out := map[string]int{}
	for _, g := range k.got() {
		out[g.run]++
	}
	return out
}

func TestLinksThatPointUpwardsEndNoSearch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cfg.Include = []string{filepath.Join(r.dir, "**", "*.jsonl")}
	r.cfg.PollInterval = 10 * time.Millisecond
	r.write("runs/a/train.jsonl", rows(0, 3))
	r.write("runs/b/train.jsonl", rows(0, 4))
	r.link("..", "runs/a/project")
	r.link("..", "runs/b/project")
	r.link("/", "runs/x")
	r.start()
	require.Eventually(t, func() bool { return len(r.sink.got()) == 7 }, time.Minute, time.Millisecond)
	r.write("runs/c/train.jsonl", rows(0, 5))
	require.Eventually(t, func() bool { return len(r.sink.got()) == 12 }, time.Minute, time.Millisecond)
	r.stop()
	assert.Equal(t, map[string]int{"a": 3, "b": 4, "c": 5}, r.sink.runsOf())
}

// TestALinkThatLeadsToItselfIsCountedOnce, whatever part of a glob it matches, and also where a file was before.
func TestALinkThatLeadsToItselfIsCountedOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	skipped := func(n int) string {
		return fmt.Sprintf(`otelcol_train_jsonl_skipped_files{reason="link_loop",receiver="train_jsonl"} %d`, n)
	}
	for name, glob := range map[string]string{
		"a name": "*/train.jsonl", "a pattern": "*/t*.jsonl", "any depth": "**/train.jsonl", "braces": "{a,loop}/{train,other}.jsonl",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cfg.Include = []string{filepath.Join(r.dir, glob)}
			r.write("a/train.jsonl", rows(0, 1))
			r.link("train.jsonl", "loop/train.jsonl")
			r.link("folder", "folder")
			tl := r.open()
			for range 3 {
				tl.step(ctx)
				r.telemetry(skipped(1))
			}
			r.rename("a/train.jsonl", "a/kept")
			r.link("train.jsonl", "a/train.jsonl")
			tl.step(ctx) // its file is gone
			for range 3 {
				tl.step(ctx)
				r.telemetry(skipped(2))
			}
			r.link("kept", "a/train.jsonl")
			r.append("a/kept", rows(1, 1))
			tl.step(ctx)
			r.link("train.jsonl", "a/train.jsonl")
			tl.step(ctx)
			tl.step(ctx)
			r.telemetry(skipped(3))
			require.NoError(t, tl.close(ctx))
			assert.Equal(t, []string{"0", "1"}, r.sink.textsOf("a"))
			assert.Equal(t, 2, r.logs.FilterMessageSnippet("no regular file").Len(), "once a minute a path")
			for _, line := range r.lines() {
				assert.NotRegexp(t, `discovery_errors.* [1-9]`, line)
			}
		})
	}
}

// textsOf gives the texts of a run.
func (k *sink) textsOf(run string) []string {
	var out []string
	for _, g := range k.got() {
		if g.run == run {
			out = append(out, g.text)
		}
	}
	return out
}

func TestALinkToTheLatestRunMixesNoRuns(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, include := range map[string][]string{
		"star":             {"runs/*/train.jsonl"},
		"both, link first": {"runs/latest/train.jsonl", "runs/*/train.jsonl"},
		"braces":           {"runs/{latest,run1,run2,run3}/train.jsonl"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cfg.Include = nil
			for _, glob := range include {
				r.cfg.Include = append(r.cfg.Include, filepath.Join(r.dir, glob))
			}
			for i, run := range []string{"run1", "run2", "run3"} {
				r.write("runs/"+run+"/train.jsonl", rows(0, i+1))
			}
			r.link("run1", "runs/latest")
			tl := r.open()
			for _, run := range []string{"run1", "run2", "run3"} {
				r.link(run, "runs/latest")
				r.append("runs/"+run+"/train.jsonl", rows(10, 2))
				tl.step(ctx)
				tl.step(ctx)
			}
			require.NoError(t, tl.close(ctx))
			assert.Equal(t, map[string]int{"run1": 3, "run2": 4, "run3": 5}, r.sink.runsOf())
			for _, g := range r.sink.got() {
				assert.Equal(t, g.run+"/train.jsonl", g.path)
			}
		})
	}
}

func TestABaseFolderThatIsALinkKeepsItsName(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.write("real/run1/train.jsonl", rows(0, 2))
	r.link("run1", "real/latest")
	r.link("real", "base")
	r.cfg.Include = []string{filepath.Join(r.dir, "base", "*", "train.jsonl")}
	tl := r.open()
	tl.step(ctx)
	assert.EqualValues(t, len(rows(0, 2)), r.offset(tl, "base/run1/train.jsonl"))
	require.NoError(t, tl.close(ctx))
	assert.Equal(t, map[string]int{"run1": 2}, r.sink.runsOf())
}

func TestLinkFarmsKeepTheNamesOfTheirLinks(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.write("scratch/x.jsonl", rows(0, 2))
	r.write("scratch/y.jsonl", rows(100, 3))
	r.write("scratch/deep/train.jsonl", rows(0, 4))
	r.cfg.Include = []string{filepath.Join(r.dir, "runs", "*", "train.jsonl")}
	r.link(filepath.Join(r.dir, "scratch/x.jsonl"), "runs/first/train.jsonl")
	r.link(filepath.Join(r.dir, "scratch/deep"), "runs/folder") // * enters it
	tl := r.open()
	tl.step(ctx)
	assert.Equal(t, map[string]int{"first": 2, "folder": 4}, r.sink.runsOf())
	r.link(filepath.Join(r.dir, "scratch/y.jsonl"), "runs/first/train.jsonl")
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Equal(t, append(rowsAt(rows(0, 2), 0), rowsAt(rows(100, 3), 100)...), r.sink.of("first/train.jsonl"))
}

func TestAFileMovedToARealNameKeepsTheRunOfWhatWasDelivered(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, c := range map[string]struct {
		before string
		want   map[string]int
	}{
		"delivered":         {rows(0, 2), map[string]int{"alias": 5}},
		"nothing delivered": {"", map[string]int{"run1": 3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cfg.Include = []string{filepath.Join(r.dir, "runs", "*", "train.jsonl")}
			r.write("scratch/x", c.before)
			r.link(filepath.Join(r.dir, "scratch/x"), "runs/alias/train.jsonl")
			tl := r.open()
			tl.step(ctx)
			r.rename("scratch/x", "runs/run1/train.jsonl")
			r.link(filepath.Join(r.dir, "runs/run1/train.jsonl"), "runs/alias/train.jsonl")
			r.append("runs/run1/train.jsonl", rows(2, 3))
			tl.search(ctx, time.Now())
			tl.step(ctx)
			r.offset(tl, "runs/run1/train.jsonl")
			require.NoError(t, tl.close(ctx))
			assert.Equal(t, c.want, r.sink.runsOf())
		})
	}
}

// endlessFiles is a tree without end, below a folder.
type endlessFiles struct {
	osFiles
	listed *atomic.Int64
}

func (f endlessFiles) ReadDir(string) ([]fs.DirEntry, error) {
	f.listed.Add(1)
	return os.ReadDir("testdata/..") // whatever it has, it has a folder
}

func (endlessFiles) Stat(string) (fs.FileInfo, error) { return os.Stat("testdata") }

func TestShutdownEndsASearchWithoutEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cfg.Include = []string{filepath.Join(r.dir, "**", "*.never")}
	tl := r.open()
	tl.spawn = func(f func()) { go f() }
	var listed atomic.Int64
	tl.fs = endlessFiles{listed: &listed}
	ctx, cancel := context.WithCancel(context.Background())
	tl.start(ctx)
	require.Eventually(t, func() bool { return listed.Load() > 100 }, time.Minute, time.Millisecond)
	cancel()
	require.NoError(t, tl.waitFor(context.Background()))
	assert.False(t, tl.searching, "the search itself ended")
	require.NoError(t, tl.close(context.Background()))
}

// slowFiles takes its time to list a folder.
type slowFiles struct{ osFiles }

func (f slowFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	time.Sleep(searchPatience - time.Second) // of the bubble
	return f.osFiles.ReadDir(name)
}

func TestNothingWaitsForASearch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 2))
	for i := range 40 {
		r.path(fmt.Sprintf("empty%02d/x", i))
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		tl := r.open()
		tl.step(ctx)
		tl.fs, tl.spawn = slowFiles{}, func(f func()) { go f() }
		tl.start(ctx)
		time.Sleep(slowSearch - time.Second) // of the bubble
		assert.Empty(t, r.logs.FilterMessageSnippet("takes long").All())
		r.append("a/train.jsonl", rows(2, 3))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		assert.Len(t, r.sink.got(), 5, "known files are read")
		assert.Len(t, r.logs.FilterMessageSnippet("takes long").All(), 2)
		r.telemetry(`otelcol_train_jsonl_discovery_errors{reason="slow",receiver="train_jsonl"} 1`)
		began := time.Now()
		cancel()
		require.NoError(t, tl.waitFor(context.Background()))
		assert.LessOrEqual(t, time.Since(began), graceTime)
		assert.True(t, tl.stopped())
		time.Sleep(searchPatience)
		require.NoError(t, tl.close(context.Background()))
	})
}
