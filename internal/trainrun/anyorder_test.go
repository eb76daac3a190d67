package trainrun

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// writer is a trainer's file that is written anew, as its reader delivers it: what a text tells in the order of its lines.
type written struct {
	path  uint32
	texts [][]string
	lists [][]Entry
}

// drawTexts draws what one rank writes, one text after the other: cut back somewhere or from the beginning, under the same first line or another
// one, with a clock that stands still, goes back or is none.
func drawTexts(t *rapid.T, id, rank int, hosts []string) [][]string {
	n, timed := 0, rapid.Bool().Draw(t, "timed")
	at := func() float64 {
		if !timed || rapid.IntRange(0, 9).Draw(t, "untimed") == 0 {
			return -1
		}
		return float64(rapid.IntRange(0, 50).Draw(t, "at"))
	}
	head := func(numbers ...string) string {
		list := []string{}
		if rank > 0 {
			list = append(list, fmt.Sprintf(`"rank": %d`, rank))
		}
		if part := rapid.SampledFrom([]string{"", "", "", "p"}).Draw(t, "part"); part != "" {
			list = append(list, fmt.Sprintf(`"part": %q`, part))
		}
		if n := rapid.IntRange(0, 9).Draw(t, "numbered"); n < len(numbers) {
			list = append(list, numbers[n])
		}
		if host := rapid.SampledFrom(hosts).Draw(t, "host"); host != "" {
			list = append(list, fmt.Sprintf(`"host": %q`, host))
		}
		return strings.Join(list, ", ")
	}
	first := func() string {
		n++
		return line("heartbeat", at(), head(), fmt.Sprintf(`"file": %d, "n": %d`, id, n)) // a copy of a line in another file is one record
	}
	row := func(e int) string {
		switch loss := rapid.IntRange(1, 99).Draw(t, "loss"); rapid.IntRange(0, 9).Draw(t, "what") {
		case 0:
			return line("run.end", at(), head(secondAttempt), fmt.Sprintf(`"outcome": %q`, rapid.SampledFrom([]string{"success", "failed"}).Draw(t, "outcome")))
		case 1:
			return line("run.start", at(), head(secondAttempt), "")
		case 2:
			return line("run.failure", at(), head(secondAttempt), `"message": "x"`)
		case 3, 4:
			return step(at(), head(secondAttempt), 10*e+loss%5, fmt.Sprint(loss))
		default:
			return epoch(at(), head(secondAttempt), e, fmt.Sprint(loss))
		}
	}
	var out [][]string
	text := []string{first()}
	for range rapid.IntRange(1, 4).Draw(t, "texts") {
		e := rapid.IntRange(0, 3).Draw(t, "from")
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			text = append(text, row(e))
			e += rapid.IntRange(0, 1).Draw(t, "on")
		}
		out = append(out, text)
		if kept := rapid.IntRange(0, len(text)).Draw(t, "kept"); kept > 0 {
			text = slices.Clone(text[:kept])
		} else {
			text = []string{first()}
		}
	}
	return out
}

func drawWritten(t *rapid.T, tb testing.TB) []written {
	everyHostThePath := rapid.Bool().Draw(t, "onePath")
	out := make([]written, rapid.IntRange(1, 3).Draw(t, "files"))
	for i := range out {
		w := &out[i]
		w.path = uint32(i + 1)
		hosts := rapid.SampledFrom([][]string{{""}, {"", "a"}, {"a"}, {"", "a", "b"}}).Draw(t, "hosts")
		if everyHostThePath {
			w.path, hosts = 1, []string{fmt.Sprint("h", i)}
		}
		w.texts = drawTexts(t, i, rapid.IntRange(0, 1).Draw(t, "rank"), hosts)
		from := int64(0)
		for n, text := range w.texts {
			if rapid.IntRange(0, 4).Draw(t, "rotated") == 0 {
				from = int64(n)
			}
			w.lists = append(w.lists, file(w.path, int64(n), int64(n)-from, readStream(tb, text...)))
		}
	}
	return out
}

// interleave delivers the files in some order, each in its own, in batches through the journal, some of them twice, with starts in between.
func interleave(t *rapid.T, files []written) *Fold {
	f := New(testRun)
	left := make([][]Entry, len(files))
	for i := range files {
		left[i] = slices.Concat(files[i].lists...)
	}
	for {
		var more []int
		for i := range left {
			if len(left[i]) > 0 {
				more = append(more, i)
			}
		}
		if len(more) == 0 {
			return f
		}
		i := rapid.SampledFrom(more).Draw(t, "file")
		n := rapid.IntRange(1, len(left[i])).Draw(t, "batch")
		batch, err := DecodeEntries(AppendEntries(nil, left[i][:n]))
		require.NoError(t, err)
		for range rapid.IntRange(1, 2).Draw(t, "times") {
			for _, e := range batch {
				f.Apply(e)
			}
		}
		left[i] = left[i][n:]
		if rapid.Bool().Draw(t, "restart") {
			g, err := Restore(f.Snapshot())
			require.NoError(t, err)
			f = g
		}
		if rapid.Bool().Draw(t, "look") {
			f.States()
		}
	}
}

// TestTextsInAnyOrder: which file's lines come first, in which batches and between which starts, changes nothing.
func TestTextsInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		files := drawWritten(rt, t)
		plain := New(testRun)
		for _, w := range files {
			for _, e := range slices.Concat(w.lists...) {
				plain.Apply(e)
			}
		}
		other := interleave(rt, files)
		if a, b := dump(plain.States()), dump(other.States()); a != b {
			rt.Fatalf("states differ: %s\n%s", firstDifference(a, b), tellFiles(files))
		}
		if a, b := plain.Snapshot(), other.Snapshot(); string(a) != string(b) {
			rt.Fatalf("snapshots differ\n%s", tellFiles(files))
		}
	})
}

func tellFiles(files []written) string {
	var b strings.Builder
	for _, w := range files {
		for n, text := range w.texts {
			fmt.Fprintf(&b, "file %d text %d replaces %d\n\t%s\n", w.path, n, w.lists[n][0].Replaces, strings.Join(text, "\n\t"))
		}
	}
	return b.String()
}
