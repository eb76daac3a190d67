package dvcresultexporter

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type artifact struct {
	Role, Path, Status, Source, SHA256, MD5 string
	Reported                                string `json:"reported_sha256"`
	Size                                    int
}

func (r *rig) artifacts(run string) map[string]artifact {
	r.t.Helper()
	var doc struct{ Artifacts []artifact }
	require.NoError(r.t, json.Unmarshal([]byte(r.files(run)["result.json"]), &doc))
	out := map[string]artifact{}
	for _, a := range doc.Artifacts {
		out[a.Path] = a
	}
	return out
}

// savedRun names a best checkpoint, whose digest it tells, a last one and a report.
func savedRun(id string) []line {
	return stream(
		record(id, 0, "run.start", `"planned_epochs":2`),
		epoch(id, 0),
		record(id, 60, "checkpoint.save", `"path":"/ckpt/best.pt","kind":"best","epoch":0,"sha256":"00ff","size":12`),
		epoch(id, 1),
		record(id, 120, "checkpoint.save", `"path":"/ckpt/last.pt","kind":"last","epoch":1`),
		record(id, 130, "artifact", `"role":"report","path":"/elsewhere/report.html"`),
		record(id, 140, "run.end", `"outcome":"success"`),
	)
}

// withFiles gives a rig a folder that it may read.
func (r *rig) withFiles(files map[string]string) string {
	r.t.Helper()
	root := filepath.Join(r.dir, "ckpt")
	require.NoError(r.t, os.MkdirAll(root, 0o755))
	for name, text := range files {
		require.NoError(r.t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	r.cfg.Artifacts.AllowedRoots = []string{root}
	r.cfg.Artifacts.PathMap = []PathMapping{{From: "/ckpt", To: root}}
	return root
}

func TestFinalResultHasTheDigestsOfItsFiles(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		root := r.withFiles(map[string]string{"best.pt": "best", "last.pt": "last"})
		r.start()
		r.feed(savedRun("x")...)
		pass(11 * time.Second)
		got := r.artifacts("x")
		assert.Equal(t, artifact{Role: "best", Path: "/ckpt/best.pt", Source: "reported", SHA256: "00ff", Size: 12}, got["/ckpt/best.pt"])
		last := artifact{
			Role: "last", Path: "/ckpt/last.pt", Status: "ok", Source: "computed", Size: 4,
			SHA256: "3547cb112ac4489af2310c0626cdba6f3097a2ad5a3b42ddd3b59c76c7a079a3", MD5: "98bd1c45684cf587ac2347a92dd7bb51",
		}
		assert.Equal(t, last, got["/ckpt/last.pt"])
		assert.Equal(t, "refused_outside_roots", got["/elsewhere/report.html"].Status)
		assert.Equal(t, "1", r.metric(`otelcol_dvc_result_digests{status="ok"}`))
		want := r.files("x")

		// What is at the path later is another file.
		require.NoError(t, os.WriteFile(filepath.Join(root, "last.pt"), []byte("later"), 0o600))
		r.kill()
		r.start()
		pass(time.Minute)
		assert.Equal(t, want, r.files("x"))
		r.feed(line{record("x", 150, "heartbeat", ""), 90_000})
		pass(time.Minute)
		assert.Equal(t, last, r.artifacts("x")["/ckpt/last.pt"])
		// A newer checkpoint at the same path is another one as well.
		r.feed(line{record("x", 160, "checkpoint.save", `"path":"/ckpt/last.pt","kind":"last","epoch":1`), 91_000})
		pass(time.Minute)
		assert.Equal(t, 5, r.artifacts("x")["/ckpt/last.pt"].Size)
		r.stop()
	})
}

func TestAToldDigestIsVerified(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.withFiles(map[string]string{"best.pt": "best"})
		r.cfg.Artifacts.Verify = true
		r.start()
		r.feed(savedRun("x")...)
		pass(11 * time.Second)
		got := r.artifacts("x")["/ckpt/best.pt"]
		assert.Equal(t, []string{"ok", "computed", "00ff"}, []string{got.Status, got.Source, got.Reported})
		assert.Equal(t, 4, got.Size)
		assert.Equal(t, "missing", r.artifacts("x")["/ckpt/last.pt"].Status)
		r.stop()
	})
}

// A result waits for digests, but not longer than digest_wait; it is written once more when they are there.
func TestAResultDoesNotWaitLongForDigests(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.withFiles(map[string]string{"last.pt": strings.Repeat("x", 200<<10)}) // 200 s at 1 KiB/s
		r.cfg.Artifacts.MaxBytesPerSecond = 1 << 10
		r.start()
		r.feed(savedRun("x")...)
		pass(60 * time.Second)
		assert.Nil(t, r.files("x"), "it waits")
		pass(11 * time.Second)
		assert.Equal(t, "pending", r.artifacts("x")["/ckpt/last.pt"].Status)
		assert.Equal(t, "pending", r.artifacts("x")["/elsewhere/report.html"].Status, "it is the next")
		pass(160 * time.Second)
		assert.Equal(t, "ok", r.artifacts("x")["/ckpt/last.pt"].Status)

		r.feed(savedRun("y")...)
		pass(time.Minute)
		r.stop() // a stop does not wait for the file
	})
}

// A digest may be there while the result that says pending is being written.
func TestADigestThatComesWhileAResultIsWrittenIsInTheNext(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.withFiles(map[string]string{"last.pt": strings.Repeat("x", 62<<10)}) // there 72 s after the end, at 1 KiB/s
		r.cfg.Artifacts.MaxBytesPerSecond = 1 << 10
		r.start()
		defer r.stop()
		slow := sync.OnceFunc(func() { time.Sleep(5 * time.Second) })
		r.fs.fail(func(op, _ string) error {
			if op == "rename" {
				slow()
			}
			return nil
		})
		r.feed(savedRun("x")...)
		pass(76 * time.Second)
		assert.Equal(t, "1", r.metric(`otelcol_dvc_result_digests{status="ok"}`))
		pass(time.Minute)
		assert.Equal(t, "ok", r.artifacts("x")["/ckpt/last.pt"].Status)
	})
}

// startBusy starts with runs that name so many files each, which take a second each.
func (r *rig) startBusy(runs, named int) (root string) {
	r.t.Helper()
	files := map[string]string{"last.pt": "last", "new.pt": "new"}
	for i := range named {
		files[fmt.Sprint(i)] = strings.Repeat("x", 1<<10)
	}
	root = r.withFiles(files)
	r.cfg.Artifacts.MaxBytesPerSecond = 1 << 10
	r.start()
	for i := range runs {
		id := fmt.Sprintf("run%02d", i)
		lines := []string{record(id, 0, "run.start", `"planned_epochs":1`), epoch(id, 0)}
		for n := range named {
			lines = append(lines, record(id, 100, "artifact", fmt.Sprintf(`"role":"r%d","path":"/ckpt/%d"`, n, n)))
		}
		r.feed(stream(append(lines, record(id, 140, "run.end", `"outcome":"success"`))...)...)
	}
	return root
}

// A run that goes on while it waits for its turn has no file read before it is over again: its trainer still writes them.
func TestARunThatGoesOnHasNoTurn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.LateGrace = time.Minute
		root := r.startBusy(40, 6)
		defer r.stop()
		pass(126 * time.Second)
		again := func(id string, n int, event, body string) line {
			return line{record(id, n, event, body, `"attempt":2`), int64(n) * 1000}
		}
		var on []string
		for i := range 40 {
			id := fmt.Sprintf("run%02d", i)
			if r.artifacts(id)["/ckpt/5"].Status != "pending" {
				continue
			}
			on = append(on, id)
			r.feed(again(id, 200, "run.start", `"planned_epochs":2`), again(id, 210, "epoch.end", `"epoch":0,"measurements":{"val/loss":1}`),
				again(id, 220, "checkpoint.save", `"path":"/ckpt/new.pt","kind":"last","epoch":0`))
		}
		assert.Greater(t, len(on), 20)
		pass(5 * time.Minute)
		require.NoError(t, os.WriteFile(filepath.Join(root, "new.pt"), []byte("written to its end"), 0o600))
		for _, id := range on {
			r.feed(again(id, 300, "run.end", `"outcome":"success"`))
		}
		pass(5 * time.Minute)
		for _, id := range on {
			assert.Equal(t, len("written to its end"), r.artifacts(id)["/ckpt/new.pt"].Size, id)
		}
	})
}

// What one attempt waited in vain for does not count against the next one: its result waits for its own digests.
func TestEachAttemptWaitsForItsDigests(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.withFiles(map[string]string{"last.pt": strings.Repeat("x", 100<<10), "new.pt": strings.Repeat("x", 20<<10)}) // a second for each KiB
		r.cfg.Artifacts.MaxBytesPerSecond = 1 << 10
		r.start()
		defer r.stop()
		r.feed(savedRun("x")...)
		pass(75 * time.Second)
		assert.Equal(t, "pending", r.artifacts("x")["/ckpt/last.pt"].Status)
		again := func(n int, event, body string) line {
			return line{record("x", n, event, body, `"attempt":2`), int64(n) * 1000}
		}
		r.feed(again(200, "run.start", `"planned_epochs":2`), again(210, "epoch.end", `"epoch":0,"measurements":{"val/loss":1}`))
		pass(time.Minute)
		r.feed(again(220, "checkpoint.save", `"path":"/ckpt/new.pt","kind":"last","epoch":0`), again(300, "run.end", `"outcome":"success"`))
		pass(15 * time.Second)
		assert.False(t, r.result("x").Final, "it waits")
		pass(30 * time.Second)
		r.says("x", "success", true, false)
		assert.Equal(t, "ok", r.artifacts("x")["/ckpt/new.pt"].Status)
	})
}

// The queue is bounded: runs that find it full have their turn, in their order, and none is forgotten.
func TestManyRunsHaveTheirDigests(t *testing.T) {
	t.Parallel()
	const runs, named = 40, 6
	inBubble(t, func(t *testing.T, r *rig) {
		r.startBusy(runs, named)
		defer r.stop()
		pass(75 * time.Second)
		waiting := 0
		for i := range runs {
			for _, a := range r.artifacts(fmt.Sprintf("run%02d", i)) {
				if a.Status == "pending" {
					waiting++
				}
			}
		}
		assert.Greater(t, waiting, 150, "no result waits longer than digest_wait")
		pass(runs * named * time.Second)
		for i := range runs {
			id := fmt.Sprintf("run%02d", i)
			for path, a := range r.artifacts(id) {
				assert.Equal(t, "ok", a.Status, "%s %s", id, path)
			}
		}
		assert.Equal(t, fmt.Sprint(runs*named), r.metric(`otelcol_dvc_result_digests{status="ok"}`))
	})
}

func TestNoFileIsReadUnlessAllowed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.withFiles(map[string]string{"last.pt": "last"})
		r.cfg.Artifacts.AllowedRoots = nil
		r.start()
		r.feed(savedRun("x")...)
		pass(11 * time.Second)
		assert.Equal(t, artifact{Role: "last", Path: "/ckpt/last.pt"}, r.artifacts("x")["/ckpt/last.pt"])
		r.stop()
	})
}
