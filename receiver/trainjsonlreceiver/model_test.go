package trainjsonlreceiver

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// model is a receiver under whose files anything is done that operators, trainers and rotation do. Each line has a number
// of its own, so that it is known wherever it stands.
type model struct {
	*rig
	rt     *rapid.T
	tl     *tailer
	turn   int64
	refuse int // calls, from now on
	next   int // number of the next line
	done   []string
	want   map[string]bool // lines that stood in a file when the receiver looked
	again  bool            // something was done after which lines may come again
}

func newModel(t *testing.T, rt *rapid.T, identity string) *model {
	m := &model{rig: newRig(t), rt: rt, want: map[string]bool{}, again: identity == identityPath}
	m.cfg.Identity = identity
	m.cfg.Include = []string{filepath.Join(m.dir, "*", "*.jsonl"), filepath.Join(m.dir, "*", "*.gz")}
	m.turn = rapid.Int64Range(65, 3000).Draw(rt, "turn")
	m.sink.set(func(context.Context, int, plog.Logs) error {
		if m.refuse > 0 {
			m.refuse--
			return errBusy
		}
		return nil
	})
	m.reopen()
	return m
}

func (m *model) reopen() {
	m.tl = m.open()
	m.tl.turnSize = m.turn
}

// lines gives new lines, which end alike.
func (m *model) lines(most int) string {
	var b strings.Builder
	for range rapid.IntRange(1, most).Draw(m.rt, "lines") {
		fmt.Fprintf(&b, `{"ts":1790000000,"event":"log","body":{"i":%d,"pad":"%s"}}`+"\n", m.next, strings.Repeat("p", m.next*37%200))
		m.next++
	}
	return b.String()
}

func (m *model) there(name string) bool {
	_, err := os.Stat(filepath.Join(m.dir, name))
	return err == nil
}

func (m *model) text(name string) string {
	text, err := os.ReadFile(m.path(name))
	require.NoError(m.rt, err)
	return string(text)
}

// look has the receiver look at all that there is, and notes it.
func (m *model) look(ctx context.Context) {
	m.refuse = 0
	for range 3 {
		m.tl.step(ctx)
	}
	names, err := filepath.Glob(filepath.Join(m.dir, "*", "*.jsonl"))
	require.NoError(m.rt, err)
	for _, name := range names {
		text, _ := os.ReadFile(name) // a link may lead nowhere
		for _, l := range strings.SplitAfter(string(text), "\n") {
			if _, rest, ok := strings.Cut(l, `"i":`); ok && strings.HasSuffix(l, "\n") {
				number, _, _ := strings.Cut(rest, ",")
				m.want[number] = true
			}
		}
	}
}

// replace puts a file in the place of one that may be there, as rotation does: the one before is renamed or removed, never
// written over, and who has it open reads it still.
func (m *model) replace(name, text string) {
	require.NoError(m.rt, os.RemoveAll(m.path(name)))
	m.write(name, text)
}

// perhaps does something or not.
func (m *model) perhaps(what func(context.Context)) {
	if rapid.Bool().Draw(m.rt, "perhaps") {
		what(context.Background())
	}
}

// kept gives some of the first lines of a file.
func (m *model) kept(name string) string {
	lines := strings.SplitAfter(m.text(name), "\n")
	return strings.Join(lines[:rapid.IntRange(0, len(lines)-1).Draw(m.rt, "kept")], "")
}

// toReceiver are things that happen to the receiver.
func (m *model) toReceiver() map[string]func(context.Context) {
	return map[string]func(context.Context){
		"look": m.look,
		"step": m.tl.step,
		"save": func(ctx context.Context) { require.NoError(m.rt, m.tl.save(ctx)) },
		"refuse": func(context.Context) {
			m.refuse = rapid.IntRange(1, 4).Draw(m.rt, "refused")
		},
		"kill": func(context.Context) {
			m.again = true
			m.tl.handles.closeAll()
			m.host.Crash()
			m.reopen()
		},
		"stop": func(ctx context.Context) {
			require.NoError(m.rt, m.tl.saveLast(ctx))
			require.NoError(m.rt, m.tl.close(ctx))
			m.reopen()
		},
	}
}

// toFile are things that are done to a file that is there and was looked at.
func (m *model) toFile(dir, f string) map[string]func() {
	return map[string]func(){
		"rotated within the globs":  func() { m.rename(f, dir+"/train1.jsonl") },
		"rotated out of the globs":  func() { m.rename(f, dir+"/train.jsonl.1") },
		"copied and cut to nothing": func() { m.replace(dir+"/train.jsonl.1", m.text(f)); m.write(f, "") },
		"copied within the globs": func() {
			m.again = true
			m.write(dir+"/train2.jsonl", m.text(f))
			m.perhaps(m.tl.step)
			m.write(f, "")
		},
		"cut back, and written on": func() {
			m.again = true
			require.NoError(m.rt, os.Truncate(m.path(f), int64(len(m.kept(f)))))
			m.perhaps(m.tl.step)
			m.append(f, m.lines(12))
		},
		"edited":          func() { m.again = true; m.write(f, m.kept(f)+m.lines(12)) },
		"deleted":         func() { m.remove(f) },
		"made anew":       func() { m.remove(f); m.write(f, m.lines(12)) },
		"replaced":        func() { m.write(dir+"/new", m.lines(12)); m.rename(dir+"/new", f) },
		"packed":          func() { m.pack(f+".gz", packed(m.t, m.text(f))); m.perhaps(m.tl.step); m.remove(f) },
		"linked to":       func() { m.link("../"+f, "link/train.jsonl") },
		"its folder gone": func() { require.NoError(m.rt, os.RemoveAll(m.path(dir))) },
		"its folder renamed": func() {
			to := string(rune('a' + (dir[0]-'a'+1)%3))
			require.NoError(m.rt, os.RemoveAll(m.path(to)))
			require.NoError(m.rt, os.Rename(m.path(dir), m.path(to)))
		},
		"another store linked": func() {
			store := "../stores/deep/" + rapid.SampledFrom([]string{"x", "y"}).Draw(m.rt, "store")
			m.append("stores/"+store, m.lines(3))
			m.link(store, "linked/train.jsonl")
		},
	}
}

// happen does one thing.
func (m *model) happen(ctx context.Context) {
	dir := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(m.rt, "folder")
	f := dir + "/train.jsonl"
	pick := func(names []string) string {
		what := rapid.SampledFrom(names).Draw(m.rt, "what")
		m.done = append(m.done, f+": "+what)
		return what
	}
	switch choice := rapid.IntRange(0, 9).Draw(m.rt, "choice"); {
	case choice < 3:
		text := m.lines(12)
		part := rapid.IntRange(0, len(text)).Draw(m.rt, "part")
		m.done = append(m.done, fmt.Sprintf("%s: appended to, up to line %d", f, m.next-1))
		m.append(f, text[:part])
		m.perhaps(m.tl.step)
		m.append(f, text[part:])
	case choice < 6 || !m.there(f):
		things := m.toReceiver()
		things[pick(slices.Sorted(maps.Keys(things)))](ctx)
	default:
		m.look(ctx)
		things := m.toFile(dir, f)
		things[pick(slices.Sorted(maps.Keys(things)))]()
	}
}

// TestWhateverIsDoneToFilesAndTheReceiver checks: every line that stood in a file when the receiver looked is delivered,
// nothing is made of halves, and nothing comes twice unless something was done that repeats lines.
func TestWhateverIsDoneToFilesAndTheReceiver(t *testing.T) {
	t.Parallel()
	for _, identity := range []string{identityInode, identityPath} {
		t.Run(identity, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				ctx := context.Background()
				m := newModel(t, rt, identity)
				for range rapid.IntRange(1, 50).Draw(rt, "things") {
					m.happen(ctx)
				}
				m.look(ctx)
				require.NoError(rt, m.tl.close(ctx))
				times := map[string]int{}
				for _, g := range m.sink.got() {
					if g.reason == string(trainrecord.ReasonTorn) {
						continue
					}
					require.Empty(rt, g.reason, "%s\n%s", g.text, strings.Join(m.done, "\n"))
					times[g.text]++
					require.True(rt, m.again || times[g.text] == 1, "line %s came twice\n%s", g.text, strings.Join(m.done, "\n"))
				}
				for number := range m.want {
					require.Positive(rt, times[number], "line %s was not delivered\n%s", number, strings.Join(m.done, "\n"))
				}
				require.NoError(rt, os.RemoveAll(m.dir))
			})
		})
	}
}
