package trainjsonlreceiver

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRotationWhileTheCollectorIsDown: each line is delivered, and under no other uid if it comes again; by inode it comes once.
func TestRotationWhileTheCollectorIsDown(t *testing.T) {
	t.Parallel()
	const a, a1, a2 = "a/train.jsonl", "a/train.jsonl.1", "a/train.jsonl.2"
	pack := func(r *rig, from string) {
		text := r.contents(from)
		r.pack(from+".gz", packed(r.t, text))
		r.remove(from)
	}
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
		"packed": {func(r *rig) { r.append(a, rows(30, 5)); r.rename(a, a1); pack(r, a1); r.write(a, rows(35, 5)) }, 40},
		"packed, renamed behind another": {func(r *rig) {
			r.append(a, rows(30, 5))
			r.rename(a1, a2)
			pack(r, a2)
			r.rename(a, a1)
			pack(r, a1)
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
				ctx := context.Background()
				r := newRig(t)
				r.cfg.Identity = identity
				r.cfg.Include = []string{filepath.Join(r.dir, "*", "*.jsonl*")}
				r.write(a1, rows(0, 20))
				r.write(a, rows(20, 10))
				tl := r.open()
				tl.step(ctx)
				require.NoError(t, tl.saveLast(ctx))
				require.NoError(t, tl.close(ctx))
				require.Len(t, r.sink.got(), 30)
				c.down(r)
				tl = r.open()
				for range 3 {
					tl.step(ctx)
				}
				require.NoError(t, tl.close(ctx))
				times, uids := map[string]int{}, map[string]bool{}
				for _, g := range r.sink.got() {
					times[g.text]++
					uids[g.uid] = true
				}
				assert.Len(t, times, c.lines)
				assert.Len(t, uids, c.lines)
				if identity == identityInode && name != "copied and cut" {
					assert.Equal(t, c.lines, len(r.sink.got()), "each comes once")
				}
			})
		}
	}
}

func (r *rig) contents(name string) string {
	text, err := os.ReadFile(r.path(name))
	require.NoError(r.t, err)
	return string(text)
}
