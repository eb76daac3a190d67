package trainjsonlreceiver

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// texts gives, of the records in their order, their texts, and the number of the text of the file and how many of those before are gone.
func (k *sink) texts() (out []string) {
	for _, g := range k.got() {
		if g.anew != "" {
			g.text += " " + g.anew
		}
		out = append(out, g.text)
	}
	return out
}

const first, second, third = `{"i":"head"}` + "\n", `{"i":"one"}` + "\n", `{"i":"two"}` + "\n"

// writesAnew are the ways in which a trainer begins a file again.
var writesAnew = map[string]func(r *rig, name, text string){
	"in its place": func(r *rig, name, text string) { r.write(name, text) },
	"deleted": func(r *rig, name, text string) {
		r.remove(name)
		r.write(name, text)
	},
	"another file in its place": func(r *rig, name, text string) {
		r.write("a/new.tmp", text)
		r.rename("a/new.tmp", name)
	},
}

// TestLinesTellTheTextOfTheirFile: the uid of a line says where it stood, not in which text. That is told, over restarts and kills, however the
// file was written anew.
func TestLinesTellTheTextOfTheirFile(t *testing.T) {
	t.Parallel()
	const name = "a/train.jsonl"
	for how, anew := range writesAnew {
		for _, identity := range []string{identityInode, identityPath} {
			t.Run(how+", "+identity, func(t *testing.T) {
				t.Parallel()
				ctx := context.Background()
				r := newRig(t)
				r.cfg.Identity = identity
				r.write(name, first+second+third)
				tl := r.open()
				tl.step(ctx)
				require.NoError(t, tl.save(ctx))
				anew(r, name, first+third)
				tl.step(ctx)
				tl.step(ctx)
				require.NoError(t, tl.save(ctx))
				require.NoError(t, tl.close(ctx))
				r.append(name, second)
				tl = r.open()
				tl.step(ctx)
				require.NoError(t, tl.save(ctx))
				anew(r, name, first)
				tl.step(ctx)
				tl.step(ctx)
				require.NoError(t, tl.close(ctx))
				require.Equal(t, []string{"head", "one", "two", "head 1-1", "two 1-1", "one 1-1", "head 2-2"}, r.sink.texts())
			})
		}
	}
}

// TestTextsAcrossAKillAreTwo: a text was delivered, but no offset of it was saved, and the next one is written before the start.
func TestTextsAcrossAKillAreTwo(t *testing.T) {
	t.Parallel()
	const name = "a/train.jsonl"
	for how, anew := range writesAnew {
		for _, identity := range []string{identityInode, identityPath} {
			t.Run(how+", "+identity, func(t *testing.T) {
				t.Parallel()
				ctx := context.Background()
				r := newRig(t)
				r.cfg.Identity = identity
				r.write(name, first+second)
				tl := r.open()
				tl.step(ctx)
				require.NoError(t, tl.save(ctx))
				anew(r, name, first+third+third)
				tl.step(ctx)
				tl.step(ctx)
				require.NoError(t, tl.close(ctx))
				anew(r, name, first+second+third)
				tl = r.open()
				tl.step(ctx)
				tl.step(ctx)
				require.NoError(t, tl.close(ctx))
				got := r.sink.texts()
				require.Equal(t, []string{"head", "one", "head 1-1", "two 1-1", "two 1-1"}, got[:5])
				require.NotEqual(t, "head 1-1", got[5])
				require.Regexp(t, `^head [23]-[23]$`, got[5])
			})
		}
	}
}

// TestACopiedStreamKeepsItsText: who copies a file and cuts it may write the same head again.
func TestACopiedStreamKeepsItsText(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.write("a/train.jsonl", first+second+third)
	tl := r.open()
	tl.step(ctx)
	r.write("a/train.jsonl.1", first+second+third)
	r.write("a/train.jsonl", first+second)
	tl.step(ctx)
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	require.Equal(t, []string{"head", "one", "two", "head 1-0", "one 1-0"}, r.sink.texts())
}

// TestARotatedStreamKeepsItsText: who rotates may write the same head into each file. The new file takes no one's place, also where the old
// one is found no more because the globs leave it out.
func TestARotatedStreamKeepsItsText(t *testing.T) {
	t.Parallel()
	for _, glob := range []string{"", "/*/*.jsonl.1"} {
		for _, identity := range []string{identityInode, identityPath} {
			t.Run(identity+glob, func(t *testing.T) {
				t.Parallel()
				ctx := context.Background()
				r := newRig(t)
				r.cfg.Identity = identity
				if glob != "" {
					r.cfg.Include = append(r.cfg.Include, r.dir+glob)
				}
				r.write("a/train.jsonl", first+second)
				tl := r.open()
				tl.step(ctx)
				r.rename("a/train.jsonl", "a/train.jsonl.1")
				r.write("a/train.jsonl", first+third)
				tl.step(ctx)
				tl.step(ctx)
				r.write("a/train.jsonl", first)
				tl.step(ctx)
				tl.step(ctx)
				require.NoError(t, tl.close(ctx))
				got := r.sink.texts()
				require.Subset(t, got, []string{"head", "one", "head 1-0", "two 1-0", "head 2-1"})
				require.NotContains(t, got, "head 1-1")
			})
		}
	}
}

// TestAFileThatHasTheInodeOfAnotherTakesThePlaceOfNone: the oldest file of a rotation, or one of another run, was deleted, and the new stream
// has its inode. It is in the place of the one that was renamed.
func TestAFileThatHasTheInodeOfAnotherTakesThePlaceOfNone(t *testing.T) {
	t.Parallel()
	const stream, rotated = "a/train.jsonl", "a/train.jsonl.1"
	for name, c := range map[string]struct{ gone, text string }{"of its rotation": {"a/train.jsonl.2", "2-0"}, "of another run": {"b/train.jsonl", "1-0"}} {
		for _, glob := range []string{"/*/*.jsonl", "/*/*.jsonl*"} {
			t.Run(name+glob, func(t *testing.T) {
				t.Parallel()
				ctx := context.Background()
				r := newRig(t)
				r.cfg.Include = append(r.cfg.Include, r.dir+glob)
				begin := map[string]string{"a/train.jsonl.2": stream}[c.gone]
				if begin == "" {
					begin = c.gone
				}
				files := &inodeFiles{of: map[string]inode{r.path(begin): {1, 1}}}
				r.files = files
				r.write(begin, third+third)
				tl := r.open()
				tl.step(ctx)
				if begin == stream {
					r.rename(stream, c.gone)
					files.of[r.path(c.gone)] = inode{1, 1}
				}
				files.of[r.path(stream)] = inode{2, 2}
				r.write(stream, first+second)
				tl.step(ctx)
				tl.step(ctx)
				tl.handles.closeAll()
				r.remove(c.gone)
				r.rename(stream, rotated)
				files.of[r.path(rotated)], files.of[r.path(stream)] = inode{2, 2}, inode{1, 3}
				r.write(stream, third+second)
				tl.step(ctx)
				tl.step(ctx)
				require.NoError(t, tl.close(ctx))
				require.Contains(t, r.sink.texts(), "one "+c.text)
			})
		}
	}
}

// TestAPackedStreamKeepsItsText: logrotate with compress renames (or copies and cuts), then packs, within one poll.
func TestAPackedStreamKeepsItsText(t *testing.T) {
	t.Parallel()
	for how, rotate := range map[string]func(r *rig, name string){
		"renamed and packed": func(r *rig, name string) {
			r.rename(name, name+".1")
			r.write(name, first+third)
			r.packAway(name + ".1")
		},
		"copied, cut and packed": func(r *rig, name string) {
			r.write(name+".1", r.contents(name))
			r.write(name, first+third)
			r.packAway(name + ".1")
		},
	} {
		for _, globs := range []string{"", "gz"} {
			for _, identity := range []string{identityInode, identityPath} {
				t.Run(how+" "+identity+" "+globs, func(t *testing.T) {
					t.Parallel()
					ctx := context.Background()
					r := newRig(t)
					if globs != "" {
						r = newPackedRig(t)
					}
					r.cfg.Identity = identity
					r.write("a/train.jsonl", first+second+second+second)
					tl := r.open()
					tl.step(ctx)
					require.NoError(t, tl.save(ctx))
					rotate(r, "a/train.jsonl")
					tl.step(ctx)
					tl.step(ctx)
					require.NoError(t, tl.close(ctx))
					require.Contains(t, r.sink.texts(), "two 1-0")
				})
			}
		}
	}
}

// lateClient is a storage whose next write lasts until it is let go, and is written then.
type lateClient struct {
	storage.Client
	held atomic.Bool
	done chan struct{}
}

func (c *lateClient) Batch(ctx context.Context, ops ...*storage.Operation) error {
	if c.held.CompareAndSwap(false, true) {
		<-c.done
	}
	return c.Client.Batch(ctx, ops...)
}

// TestANumberThatIsStoredLateTakesNoOffsetBack: it says that nothing was delivered, and is written behind the offsets that were saved meanwhile.
func TestANumberThatIsStoredLateTakesNoOffsetBack(t *testing.T) {
	t.Parallel()
	const name = "a/train.jsonl"
	ctx := context.Background()
	r := newRig(t)
	r.write(name, first+second)
	tl := r.open()
	tl.step(ctx)
	require.NoError(t, tl.save(ctx))
	c := &lateClient{Client: tl.client, done: make(chan struct{})}
	tl.client = c
	r.write(name, first+third+third)
	tl.step(ctx)
	tl.step(ctx)
	require.True(t, c.held.Load(), "the number of the second text is being stored")
	require.NoError(t, tl.save(ctx))
	unsaved := func() bool {
		return slices.ContainsFunc(tl.list(), func(s *stream) bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.unsaved()
		})
	}
	require.False(t, unsaved())
	close(c.done)
	require.Eventually(t, unsaved, time.Minute, time.Millisecond)
	require.NoError(t, tl.save(ctx))
	require.NoError(t, tl.close(ctx))
	was := len(r.sink.got())
	tl = r.open()
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Len(t, r.sink.got(), was, "the text is read again")
}
