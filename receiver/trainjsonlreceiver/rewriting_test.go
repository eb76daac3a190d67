package trainjsonlreceiver

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// upheaval is a history in which files are also rewritten, renamed, deleted and made anew. Before each such thing the
// receiver has looked: what was readable then must be delivered.
type upheaval struct {
	*history
	want map[string]bool // lines that were there when the receiver looked
	may  map[string]bool // lines that were ever there
}

// note takes the lines that a file has now.
func (u *upheaval) note(lines map[string]bool) {
	for _, name := range u.names {
		for _, l := range wantLines(u.t, u.content[name].String(), 500) {
			lines[l] = true
		}
	}
}

// look has the receiver look.
func (u *upheaval) look(ctx context.Context) {
	u.tl.step(ctx)
	u.tl.step(ctx)
	u.note(u.want)
	u.note(u.may)
}

func (u *upheaval) happen(ctx context.Context, rt *rapid.T) {
	name := rapid.SampledFrom(u.names).Draw(rt, "name")
	op := rapid.IntRange(0, 7).Draw(rt, "what")
	if op <= 3 {
		u.history.happen(ctx, rt)
		u.note(u.may)
		return
	}
	u.look(ctx)
	text := ""
	switch rapid.IntRange(0, 2).Draw(rt, "text") {
	case 0: // the same head
		old := u.content[name].String()
		text = old[:rapid.IntRange(0, len(old)).Draw(rt, "head")] + stretch(rapid.Uint64().Draw(rt, "more"))
	case 1:
		text = stretch(rapid.Uint64().Draw(rt, "new"))
	}
	switch op {
	case 4: // rewritten, as copytruncate leaves it or longer
		u.write(name, text)
	case 5: // deleted and made anew, perhaps with the same inode
		u.remove(name)
		u.write(name, text)
	case 6: // rotated out of the globs
		u.rename(name, fmt.Sprintf("%s.%d", name, rapid.IntRange(1, 3).Draw(rt, "rotation")))
		u.write(name, text)
	case 7: // renamed within them, over another file or back
		other := u.names[0]
		if other == name {
			other = u.names[1]
		}
		u.rename(name, other)
		u.content[other] = u.content[name]
		u.content[name] = &strings.Builder{}
		u.write(name, text)
	}
	u.content[name] = &strings.Builder{}
	u.content[name].WriteString(text)
	u.note(u.may)
}

// TestWhatWasReadableIsDeliveredWhateverIsDoneToFiles checks: every line that stood in a file when the receiver looked is
// delivered, and nothing is delivered that never stood in one.
func TestWhatWasReadableIsDeliveredWhateverIsDoneToFiles(t *testing.T) {
	t.Parallel()
	for _, identity := range []string{identityInode, identityPath} {
		t.Run(identity, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				ctx := context.Background()
				u := &upheaval{history: newHistory(t, rt), want: map[string]bool{}, may: map[string]bool{}}
				u.cfg.Identity = identity
				u.kill()
				for range rapid.IntRange(1, 40).Draw(rt, "steps") {
					u.happen(ctx, rt)
				}
				u.look(ctx)
				require.NoError(rt, u.tl.close(ctx))
				got := map[string]bool{}
				for _, g := range u.sink.got() {
					if g.reason == string(trainrecord.ReasonTorn) {
						continue // a slow machine: a file that was gone for a second has its unterminated line told
					}
					uid, ok := trainrecord.ParseUID(g.uid)
					require.True(rt, ok, g.uid)
					line := fmt.Sprintf("@%d %x", uid.Offset, uid.CRC)
					got[line] = true
					require.True(rt, u.may[line], "%s never stood in a file: %s: %s", line, g.reason, g.text)
				}
				for line := range u.want {
					require.True(rt, got[line], "%s was not delivered", line)
				}
				for _, name := range u.names {
					require.NoError(rt, os.Remove(u.path(name)))
				}
			})
		})
	}
}

// TestATrimmedStreamIsSeenWhateverItsLinesEndWith: a trainer that resumes cuts its stream back to its checkpoint and writes
// on, past where the file was read to, before it is looked at again. Many a line ends with fields that are equal in all.
func TestATrimmedStreamIsSeenWhateverItsLinesEndWith(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	steps := func(first, n, attempt int) string {
		var b strings.Builder
		for i := first; i < first+n; i++ {
			fmt.Fprintf(&b, `{"step":%03d,"loss":0.%d,"host":"gpu-node-17.cluster.example","framework":"pytorch","experiment":"baseline-resnet50-imagenet"}`+"\n", i, attempt)
		}
		return b.String()
	}
	for _, down := range []bool{false, true} {
		r := newRig(t)
		r.write("a/train.jsonl", steps(0, 40, 1))
		tl := r.open()
		tl.step(ctx)
		if down {
			require.NoError(t, tl.saveLast(ctx))
			require.NoError(t, tl.close(ctx))
		}
		r.write("a/train.jsonl", steps(0, 20, 1)+steps(20, 25, 2))
		if down {
			tl = r.open()
		}
		tl.step(ctx)
		require.NoError(t, tl.close(ctx))
		require.Len(t, r.sink.uids(), 40+25)
		r.telemetry(`otelcol_train_jsonl_rewrites{reason="changed",receiver="train_jsonl"} 1`)
	}
}

// TestARewriteBehindBlanksIsSeen: the file ends with blanks, or a text, that are longer than what is read anew each time, and
// what is written over it has the same ones at the same place, and more.
func TestARewriteBehindBlanksIsSeen(t *testing.T) {
	t.Parallel()
	for name, rest := range map[string]string{
		"blanks": " ", "a text": "half a line ", "NUL bytes": "\x00",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			r := newRig(t)
			r.cfg.TornAfter = 0
			tail := strings.Repeat(rest, turnBytes/16+1)
			r.write("a/train.jsonl", rows(100, 40)+tail)
			tl := r.open()
			tl.step(ctx)
			require.Len(t, r.sink.got(), 40)
			r.write("a/train.jsonl", rows(100, 20)+rows(200, 20)+tail+rest)
			tl.step(ctx)
			require.NoError(t, tl.close(ctx))
			require.Len(t, r.sink.uids(), 40+20)
			r.telemetry(`otelcol_train_jsonl_rewrites{reason="changed",receiver="train_jsonl"} 1`)
		})
	}
}
