package trainjsonlreceiver

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRotationWhileTheCollectorIsDown: each line is delivered, and under no other uid if it comes again; by inode it comes once.
func TestRotationWhileTheCollectorIsDown(t *testing.T) {
	t.Parallel()
	const a, a1, a2 = "a/train.jsonl", "a/train.jsonl.1", "a/train.jsonl.2"
	for name, c := range map[string]struct {
		down  func(r *rig)
		lines int
	}{
		"renamed once": {func(r *rig) { r.append(a, rows(30, 5)); r.rename(a, a1); r.write(a, rows(35, 5)) }, 40},
		"renamed twice": {func(r *rig) {
			r.append(a, rows(30, 5))
			r.rename(a1, a2)
			r.rename(a, a1)
			r.write(a, rows(35, 5))
		}, 40},
		"renamed twice, with lines between": {func(r *rig) {
			r.rename(a1, a2)
			r.rename(a, a1)
			r.write(a, rows(30, 40))
			r.remove(a2)
			r.rename(a1, a2)
			r.rename(a, a1)
			r.append(a1, rows(70, 5))
			r.write(a, rows(75, 1))
		}, 76},
		"packed": {func(r *rig) { r.append(a, rows(30, 5)); r.rename(a, a1); r.packAway(a1); r.write(a, rows(35, 5)) }, 40},
		"packed, renamed behind another": {func(r *rig) {
			r.append(a, rows(30, 5))
			r.rename(a1, a2)
			r.packAway(a2)
			r.rename(a, a1)
			r.packAway(a1)
			r.write(a, rows(35, 5))
		}, 40},
		"copied and cut": {func(r *rig) {
			r.append(a, rows(30, 5))
			r.remove(a1)
			r.write(a1, r.contents(a))
			r.write(a, rows(35, 5))
		}, 40},
	} {
		for _, identity := range []string{identityInode, identityPath} {
			t.Run(name+" "+identity, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.cfg.Identity = identity
				r.cfg.Include = []string{filepath.Join(r.dir, "*", "*.jsonl*")}
				r.write(a1, rows(0, 20))
				r.write(a, rows(20, 10))
				r.overRestart(30, c.down)
				texts, uids := r.distinct()
				assert.Equal(t, c.lines, texts)
				assert.Equal(t, c.lines, uids)
				if identity == identityInode && name != "copied and cut" {
					assert.Equal(t, c.lines, len(r.sink.got()), "each comes once")
				}
			})
		}
	}
}

// overRestart reads what is there, so many lines, and again after what happens while the collector is down.
func (r *rig) overRestart(before int, down func(r *rig)) {
	ctx := context.Background()
	tl := r.open()
	tl.step(ctx)
	require.NoError(r.t, tl.saveLast(ctx))
	require.NoError(r.t, tl.close(ctx))
	require.Len(r.t, r.sink.got(), before)
	down(r)
	tl = r.open()
	for range 3 {
		tl.step(ctx)
	}
	require.NoError(r.t, tl.close(ctx))
}

// packAway has a packed file in the place of one.
func (r *rig) packAway(name string) {
	text := r.contents(name)
	r.pack(name+".gz", packed(r.t, text))
	r.remove(name)
}

// distinct counts the texts and the uids that came.
func (r *rig) distinct() (texts, uids int) {
	byText, byUID := map[string]bool{}, map[string]bool{}
	for _, g := range r.sink.got() {
		byText[g.text], byUID[g.uid] = true, true
	}
	return len(byText), len(byUID)
}

func (r *rig) contents(name string) string {
	text, err := os.ReadFile(r.path(name))
	require.NoError(r.t, err)
	return string(text)
}

func TestAStreamThatIsPackedWhileTheCollectorIsDownIsNotLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		packed string
		lost   int
	}{
		"all that was seen":      {rows(0, 10), 0},
		"less":                   {rows(0, 6), len(rows(6, 2))},
		"of another training":    {rows(20, 10), len(rows(5, 3))},
		"and cannot be unpacked": {"", len(rows(5, 3))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			r := newPackedRig(t)
			r.write("a/train.jsonl", rows(0, 5))
			tl := r.open()
			tl.step(ctx)
			require.NoError(t, tl.save(ctx))
			r.append("a/train.jsonl", rows(5, 3))
			tl.poll(ctx, time.Now().Add(time.Minute))
			require.NoError(t, tl.saveLast(ctx))
			require.NoError(t, tl.close(ctx))
			r.pack("a/train.jsonl.1.gz", packed(t, c.packed)) // as gzip does: else it may get the inode of what it packed
			if c.packed == "" {
				r.pack("a/train.jsonl.1.gz", "no gzip")
			}
			r.remove("a/train.jsonl")
			tl = r.open()
			for i := range 4 {
				tl.later(ctx, time.Duration(i)*time.Minute)
			}
			require.NoError(t, tl.saveLast(ctx))
			require.NoError(t, tl.close(ctx))
			tl = r.open() // nor after another start
			for i := range 4 {
				tl.later(ctx, time.Duration(i)*time.Minute)
			}
			require.NoError(t, tl.close(ctx))
			if c.lost > 0 {
				r.telemetry(lost(c.lost), `otelcol_train_jsonl_vanished_files{receiver="train_jsonl"} 1`)
				return
			}
			told := strings.Join(r.lines(), "\n")
			assert.NotContains(t, told, "vanished_files")
			assert.NotContains(t, told, "lost_bytes")
		})
	}
}
