package trainjsonlreceiver

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
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
			"there is no memory": func(r *rig) { r.cfg.MaxInFlightBytes, r.cfg.MaxLineSize = turnBytes, turnBytes },
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
