package trainjsonlreceiver

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatIsPackedWhileThePipelineRefusesIsDeliveredOnce: streams are rotated and packed while the pipeline refuses what is left of them, which
// the receiver still has, in open files or in memory.
func TestWhatIsPackedWhileThePipelineRefusesIsDeliveredOnce(t *testing.T) {
	t.Parallel()
	for name, rotate := range map[string]func(r *rig, pack func(), next string){
		"renamed": func(r *rig, pack func(), next string) {
			r.rename("a/train.jsonl", "a/train.jsonl.old")
			r.write("a/train.jsonl", next)
			pack()
			r.remove("a/train.jsonl.old")
		},
		"removed, and made anew later": func(r *rig, pack func(), next string) {
			r.remove("a/train.jsonl")
			pack()
			time.Sleep(15 * time.Second)
			r.write("a/train.jsonl", next)
		},
		"copied and cut": func(r *rig, pack func(), next string) {
			r.write("a/train.jsonl", next)
			pack()
		},
	} {
		for state, prepare := range map[string]func(r *rig){
			"of some was accepted": func(*rig) {},
			"none was accepted":    func(r *rig) { r.sink.set(refuseAll) },
			"there is no memory":   func(r *rig) { r.cfg.MaxInFlightBytes, r.cfg.MaxLineSize = turnBytes, turnBytes },
		} {
			for _, identity := range []string{identityInode, identityPath} {
				t.Run(name+", "+state+", "+identity, func(t *testing.T) {
					t.Parallel()
					r := newPackedRig(t)
					r.cfg.Identity = identity
					prepare(r)
					r.rotatePacked(rotate)
					times := map[string]int{}
					for _, g := range r.sink.got() {
						if g.path != "b/train.jsonl" {
							times[g.text]++
						}
					}
					want := map[string]int{}
					for i, n := range []int{100, 60, 30, 10} {
						for j := range n {
							want[strconv.Itoa(100*i+j)] = 1
						}
					}
					assert.Equal(t, want, times)
				})
			}
		}
	}
}

// rotatePacked packs a stream three times, while the pipeline refuses all.
func (r *rig) rotatePacked(rotate func(r *rig, pack func(), next string)) {
	text := rows(0, 100)
	first := rows(0, 20)
	r.write("a/train.jsonl", first)
	synctest.Test(r.t, func(*testing.T) {
		r.start()
		time.Sleep(10 * time.Second)
		r.sink.set(refuseAll)
		r.write("b/train.jsonl", rows(5000, 5000)) // more than a turn
		time.Sleep(2 * time.Second)
		r.append("a/train.jsonl", text[len(first):])
		for i, next := range []string{rows(100, 60), rows(200, 30), rows(300, 10)} {
			time.Sleep(3 * time.Second)
			to, bytes := "a/train.jsonl."+strconv.Itoa(i+1)+".gz", packed(r.t, text)
			rotate(r, func() { r.write(to, bytes) }, next)
			text = next
		}
		time.Sleep(time.Minute)
		r.sink.set(nil)
		time.Sleep(2 * time.Minute)
		r.stop()
	})
}

// TestAFileThatWasReplacedIsReadWhenThereIsMemory: its open file has bytes that nothing else gives.
func TestAFileThatWasReplacedIsReadWhenThereIsMemory(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]string{"by a shorter one": rows(100, 3), "by a longer one": rows(100, 90)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cfg.Identity = identityPath
			r.cfg.MaxInFlightBytes, r.cfg.MaxLineSize = turnBytes, turnBytes
			r.write("a/train.jsonl", rows(0, 20))
			synctest.Test(t, func(t *testing.T) {
				r.start()
				time.Sleep(10 * time.Second)
				r.sink.set(refuseAll)
				r.write("b/train.jsonl", rows(5000, 5000)) // more than a turn
				time.Sleep(2 * time.Second)
				r.append("a/train.jsonl", rows(20, 50))
				time.Sleep(3 * time.Second)
				r.write("a/other", next)
				r.rename("a/other", "a/train.jsonl")
				time.Sleep(time.Minute)
				r.sink.set(nil)
				time.Sleep(time.Minute)
				r.stop()
			})
			assert.Equal(t, append(rowsAt(rows(0, 70), 0), rowsAt(next, 100)...), r.sink.of("a/train.jsonl"))
		})
	}
}

// TestAnotherFileWithTheInodeIsNotLost: nothing is lost of a file that was read to its end, nor once more of one whose bytes were counted, when
// a larger file gets the inode.
func TestAnotherFileWithTheInodeIsNotLost(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, unread := range map[string]string{"read to its end": "", "counted before": rows(3, 4)} {
		for place, path := range map[string]string{"at the path": "a/train.jsonl", "elsewhere": "b/train.jsonl"} {
			for when, gone := range map[string]bool{"seen to be gone": true, "at once": false} {
				t.Run(name+", "+place+", "+when, func(t *testing.T) {
					t.Parallel()
					if unread != "" && !gone {
						return // nothing is counted of what is not known to be gone
					}
					r := newRig(t)
					files := &inodeFiles{of: map[string]inode{}}
					tl := r.behind(files, rows(0, 3), unread)
					r.remove("a/train.jsonl")
					if gone {
						for i := range 3 {
							tl.later(ctx, time.Duration(i+1)*time.Minute)
						}
					}
					files.of[r.path(path)] = inode{1, 2}
					r.write(path, rows(100, 60))
					for i := range 3 {
						tl.later(ctx, time.Duration(i+5)*time.Minute)
					}
					require.NoError(t, tl.close(ctx))
					assert.Len(t, r.sink.got(), 3+60)
					if unread != "" {
						r.telemetry(lost(len(unread)))
					} else {
						assert.NotContains(t, strings.Join(r.lines(), " "), "lost_bytes")
					}
				})
			}
		}
	}
}
