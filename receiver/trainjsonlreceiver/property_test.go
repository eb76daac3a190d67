package trainjsonlreceiver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// stretch draws a piece of a stream: whole lines, parts of lines, blanks, long lines, bad bytes.
func stretch(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // test data
	switch r.IntN(9) {
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
		return `{"ts":1,"event":"log","run_id":"other","body":{}}` + "\n"
	default:
		return rows(r.IntN(1000), 1+r.IntN(5))
	}
}

// TestEveryLineOnceWhateverHappens checks the promise itself: for any boundaries of writes, polls, refusals, stops and
// kills, the delivered lines are exactly those of the file, once each after duplicates by uid are dropped.
func TestEveryLineOnceWhateverHappens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t)
		ctx := context.Background()
		refuse := 0
		r.sink.set(func(context.Context, int, plog.Logs) error {
			if refuse > 0 {
				refuse--
				return errBusy
			}
			return nil
		})
		names := []string{"a/train.jsonl", "b/train.jsonl"}
		content := map[string]*strings.Builder{}
		for _, name := range names {
			content[name] = &strings.Builder{}
			r.write(name, "")
		}
		r.cfg.MaxLineSize = 500
		turn := rapid.Int64Range(65, 2000).Draw(rt, "turn")
		open := func() *tailer {
			tl := r.open()
			tl.turnSize = turn
			return tl
		}
		tl := open()
		kill := func() {
			tl.handles.closeAll()
			r.host.Crash()
			tl = open()
		}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			switch op := rapid.IntRange(0, 9).Draw(rt, "op"); op {
			case 0: // stop in an orderly way
				require.NoError(rt, tl.save(ctx))
				require.NoError(rt, tl.close(ctx))
				tl = open()
			case 1:
				kill()
			case 2:
				require.NoError(rt, tl.save(ctx))
			case 3:
				refuse = rapid.IntRange(1, 5).Draw(rt, "refuse")
			case 4, 5, 6:
				tl.step(ctx)
			case 7:
				tl.stepUntilRefused()
				kill()
			default:
				name := rapid.SampledFrom(names).Draw(rt, "file")
				text := stretch(rapid.Uint64().Draw(rt, "text"))
				text = text[:rapid.IntRange(0, len(text)).Draw(rt, "part")]
				r.append(name, text)
				content[name].WriteString(text)
			}
		}
		for _, name := range names {
			r.append(name, "\n")
			content[name].WriteString("\n")
		}
		tl.step(ctx)
		require.NoError(rt, tl.close(ctx))
		for _, name := range names {
			require.Equal(rt, wantLines(content[name].String()), gotLines(rt, r, name), name)
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

func wantLines(text string) []string {
	out := []string{}
	for _, l := range naive([]byte(text), 500) {
		out = append(out, fmt.Sprintf("@%d %x", l.offset, l.crc))
	}
	return out
}

// gotLines gives offset and checksum of what was delivered, in order, without repetitions.
func gotLines(rt *rapid.T, r *rig, name string) []string {
	out := []string{}
	seen := map[string]bool{}
	for _, g := range r.sink.got() {
		if !strings.HasSuffix(g.path, name) || seen[g.uid] {
			continue
		}
		seen[g.uid] = true
		uid, ok := trainrecord.ParseUID(g.uid)
		require.True(rt, ok, g.uid)
		require.Equal(rt, g.offset, uid.Offset)
		out = append(out, fmt.Sprintf("@%d %x", uid.Offset, uid.CRC))
	}
	return out
}
