package dvcresultexporter

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
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
