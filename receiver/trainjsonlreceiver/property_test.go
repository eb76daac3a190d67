package trainjsonlreceiver

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainlines"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// stretch draws a piece of a stream: whole lines, parts of lines, blanks, long lines, bad bytes.
func stretch(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // test data
	switch r.IntN(16) {
	case 0:
		return "\n"
	case 1:
		return `{"ts":1790000000,"event":"log","bo`
	case 2:
		return fmt.Sprintf(`dy":{"i":%d}}`+"\r\n", r.IntN(100))
	case 3:
		return strings.Repeat("z", r.IntN(700))
	case 4:
		return "\xff\xfe not json\n"
	case 5:
		return fmt.Sprintf(`{"loss":%d,"event":"x"}`+"\n", r.IntN(100))
	case 6:
		return strings.Repeat(`{"ts":1,"event":"log","run_id":"other","body":{}}`+"\n", 1+r.IntN(2))
	case 11: // runs in turn, with lines that name none
		var b strings.Builder
		for range 2 + r.IntN(8) {
			fmt.Fprintf(&b, `{"ts":1,"event":"log","run_id":"run%d","body":{}}`+"\n%s", r.IntN(3), strings.Repeat("no record\n", r.IntN(2)))
		}
		return b.String()
	case 7:
		return strings.Repeat("\x00", r.IntN(1500))
	case 8:
		return strings.Repeat("\x00", r.IntN(5))
	case 9:
		return strings.ReplaceAll(rows(r.IntN(1000), 2), "\n", "")
	case 10:
		return "[rank1]: "
	default:
		return rows(r.IntN(1000), 1+r.IntN(5))
	}
}

// history is a receiver to which anything happens, and the text that its files have in the end.
type history struct {
	*rig
	names   []string
	content map[string]*strings.Builder
	turn    int64 // bytes
	least   int64 // of what is made of lines for a call that was refused before
	refuse  int   // calls, from now on
	tl      *tailer
}

func newHistory(t *testing.T, rt *rapid.T) *history {
	h := &history{rig: newRig(t), names: []string{"a/train.jsonl", "b/train.jsonl"}, content: map[string]*strings.Builder{}}
	h.sink.set(func(context.Context, int, plog.Logs) error {
		if h.refuse > 0 {
			h.refuse--
			return errBusy
		}
		return nil
	})
	for _, name := range h.names {
		h.content[name] = &strings.Builder{}
		h.write(name, "")
	}
	h.cfg.MaxLineSize = 500
	h.turn = rapid.Int64Range(65, 2000).Draw(rt, "turn")
	h.least = rapid.Int64Range(1, leastMade).Draw(rt, "least")
	h.reopen()
	return h
}

func (h *history) reopen() {
	h.tl = h.open()
	h.tl.turnSize, h.tl.calls.least = h.turn, h.least
}

func (h *history) kill() {
	h.tl.handles.closeAll()
	h.host.Crash()
	h.reopen()
}

// happen does one thing of those that may happen.
func (h *history) happen(ctx context.Context, rt *rapid.T) {
	switch op := rapid.IntRange(0, 9).Draw(rt, "op"); op {
	case 0: // stop in an orderly way
		require.NoError(rt, h.tl.save(ctx))
		require.NoError(rt, h.tl.close(ctx))
		h.reopen()
	case 1:
		h.kill()
	case 2:
		require.NoError(rt, h.tl.save(ctx))
	case 3:
		h.refuse = rapid.IntRange(1, 5).Draw(rt, "refuse")
	case 4, 5, 6:
		h.tl.step(ctx)
	case 7:
		h.tl.stepUntilRefused()
		h.kill()
	default:
		text := stretch(rapid.Uint64().Draw(rt, "text"))
		h.grow(rapid.SampledFrom(h.names).Draw(rt, "file"), text[:rapid.IntRange(0, len(text)).Draw(rt, "part")])
	}
}

// grow appends to a file.
func (h *history) grow(name, text string) {
	h.append(name, text)
	h.content[name].WriteString(text)
}

// TestEveryLineOnceWhateverHappens checks the promise itself: for any boundaries of writes, polls, refusals, stops and
// kills, the delivered lines are exactly those of the file, once each after duplicates by uid are dropped.
func TestEveryLineOnceWhateverHappens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		ctx := context.Background()
		h := newHistory(t, rt)
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			h.happen(ctx, rt)
		}
		for _, name := range h.names {
			h.grow(name, "\n")
		}
		h.tl.step(ctx)
		require.NoError(rt, h.tl.close(ctx))
		for _, name := range h.names {
			require.Equal(rt, wantLines(t, h.content[name].String(), 500), gotLines(rt, h.rig, name), name)
		}
	})
}

// stepUntilRefused stops in the middle of a turn if the pipeline refuses a batch.
func (t *tailer) stepUntilRefused() {
	stopped, cancel := context.WithCancel(context.Background())
	defer cancel()
	t.wait = func(context.Context, time.Duration) error {
		cancel()
		return context.Canceled
	}
	t.step(stopped)
}

func wantLines(t *testing.T, text string, maxLine int) []string {
	out := []string{}
	b := newBuilders(trainlines.Options{Prefixes: mustPrefixes(t)})
	for rest := naive([]byte(text), maxLine); len(rest) > 0; {
		built := b.build(source{id: pathID{run: "r", rank: -1}}, rest)
		for _, l := range built.lines {
			out = append(out, fmt.Sprintf("@%d %x", l.offset, l.crc))
		}
		rest = built.rest
	}
	return out
}

// gotLines gives offset and checksum of what was delivered, in the order of the file, without repetitions. The lines of
// each run must have come in that order.
func gotLines(rt *rapid.T, r *rig, name string) []string {
	type place struct {
		offset int64
		text   string
	}
	places := []place{}
	seen, last := map[string]bool{}, map[string]int64{}
	for _, g := range r.sink.got() {
		if !strings.HasSuffix(g.path, name) || seen[g.uid] {
			continue
		}
		seen[g.uid] = true
		uid, ok := trainrecord.ParseUID(g.uid)
		require.True(rt, ok, g.uid)
		require.Equal(rt, g.offset, uid.Offset)
		require.GreaterOrEqual(rt, g.offset, last[g.run], "%s, the order of run %s", name, g.run)
		last[g.run] = g.offset
		places = append(places, place{g.offset, fmt.Sprintf("@%d %x", uid.Offset, uid.CRC)})
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.offset, b.offset) })
	out := []string{}
	for _, p := range places {
		out = append(out, p.text)
	}
	return out
}

func mustPrefixes(t *testing.T) []trainlines.Prefix {
	t.Helper()
	list, err := trainlines.CompilePrefixes([]string{trainlines.PrefixesKnown})
	require.NoError(t, err)
	return list
}
