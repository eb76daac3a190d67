package follow

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainview"
)

func row(epoch int) string {
	return fmt.Sprintf(`{"ts":%d,"event":"epoch.end","run_id":"r","body":{"epoch":%d,"measurements":{"val/loss":%d}}}`, 1790000000+epoch, epoch, 100-epoch)
}

func open(t require.TestingT, args ...string) *Session {
	s, err := Open(args, Profiles{})
	require.NoError(t, err)
	return s
}

func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	return dir
}

func put(t require.TestingT, path, text string, flag int) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|flag, 0o600)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// told is what a session knows of its runs.
func told(s *Session) string {
	out := ""
	for _, r := range s.Runs() {
		st := r.Fold.State()
		out += fmt.Sprintln(r.Name, r.Trail.Records, r.Trail.BadLines, r.Trail.Unmapped, r.Trail.Duplicates, st.Records.Count, len(st.Series))
		for _, x := range st.Series {
			out += fmt.Sprintln(x.Name, x.Points)
		}
	}
	for _, st := range s.Streams() {
		out += fmt.Sprintln(st.File().Offset, st.File().TornBytes)
	}
	return out
}

var lines = []string{
	row(0), row(1), row(2), row(1), "text", "", "{}", "\x00\x00\x00" + row(3), "[rank1]: " + row(4), row(5) + row(6), "{'a':1}", "\xef\xbb\xbf" + row(7), row(8) + "\r",
	`{"loss":1,"grad_norm":1,"learning_rate":0.1,"epoch":1.0,"step":5}`, `{"ts":1790000100,"event":"run.end","run_id":"r","body":{"outcome":"success"}}`,
	strings.Repeat("\x00", 100) + row(9), "{\x00\"\x00a\x00\"\x00:\x001\x00}\x00",
}

// TestValuesWithoutMeaningAreWarnedOf: of records and of rows that a profile maps, each line once.
func TestValuesWithoutMeaningAreWarnedOf(t *testing.T) {
	t.Parallel()
	const bad = `{"ts":1790000000,"event":"epoch.end","run_id":"r","body":{"epoch":0,"loss":0.3,"measurements":{"val/loss":"x"}}}`
	for text, want := range map[string]string{
		row(0):                           "",
		bad:                              "values_without_meaning 2 body.measurements: want a number of its range",
		bad + "\n" + row(1) + "\n" + bad: "values_without_meaning 2 body.measurements: want a number of its range",
		strings.ReplaceAll(row(1), `"val/loss"`, `""`):                           "values_without_meaning 1 body.measurements: want a name for each number",
		`{"ts":"yesterday","event":"epoch.end","run_id":"r","body":{"epoch":0}}`: "values_without_meaning 1 ts: want RFC 3339 with a zone, or Unix time in s, ms, us or ns, from 1980 to 2200",
		`{"epoch":1,"train_loss":1,"val_loss":1,"timestamp":"yesterday"}`:        "values_without_meaning 1 time: no_time",
	} {
		dir := folder(t)
		put(t, filepath.Join(dir, "train.jsonl"), text+"\n", 0)
		s := open(t, dir)
		s.Look()
		require.Len(t, s.Runs(), 1)
		r, got := s.Runs()[0], ""
		for _, w := range trainview.Summarize(r.Fold, r.Trail, trainview.Evidence{Now: time.Now()}, trainview.Options{}).Document.Warnings {
			if w.Code == "values_without_meaning" {
				got = fmt.Sprint(w.Code, " ", *w.N, " ", w.First)
			}
		}
		assert.Equal(t, want, got, text)
	}
}

// TestHoweverItIsReadItIsTheSame appends in any pieces and looks in between.
func TestHoweverItIsReadItIsTheSame(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 1, 12).Draw(rt, "lines"), "\n")
		if rapid.Bool().Draw(rt, "whole") {
			text += "\n"
		}
		path := filepath.Join(dir, fmt.Sprint(n), "t.jsonl")
		require.NoError(rt, os.MkdirAll(filepath.Dir(path), 0o700))
		put(rt, path, "", 0)
		piecewise := open(rt, path)
		for rest := text; rest != ""; {
			k := rapid.IntRange(1, len(rest)).Draw(rt, "cut")
			put(rt, path, rest[:k], os.O_APPEND)
			rest = rest[k:]
			piecewise.Find()
			piecewise.Read()
		}
		piecewise.Find()
		piecewise.Read()
		once := open(rt, path)
		once.Find()
		once.Read()
		require.Equal(rt, told(once), told(piecewise))
	})
}

func TestPackedStreams(t *testing.T) {
	t.Parallel()
	path := filepath.Join(folder(t), "t.jsonl.gz")
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(row(0) + "\n" + row(1) + "\n"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	put(t, path, b.String(), 0)
	s := open(t, path)
	s.Find()
	s.Read()
	assert.EqualValues(t, 2, s.Runs()[0].Trail.Records)
	assert.NoError(t, s.Streams()[0].Broken())
	put(t, path, b.String()[:b.Len()-4], os.O_TRUNC)
	s = open(t, path)
	s.Find()
	s.Read()
	assert.Error(t, s.Streams()[0].Broken())
	assert.EqualValues(t, 2, s.Runs()[0].Trail.Records)
}

func TestLinesBeyondTheBoundAreBad(t *testing.T) {
	t.Parallel()
	first := filepath.Join(folder(t), "t.jsonl")
	put(t, first, strings.Repeat("x", 64<<20)+"\n"+row(0)+"\n", 0)
	one := open(t, first)
	one.Find()
	one.Read()
	require.Len(t, one.Runs(), 1, "a bad line before the first record belongs to its run")
	assert.EqualValues(t, 1, one.Runs()[0].Trail.BadLines)
	path := filepath.Join(folder(t), "t.jsonl")
	put(t, path, row(0)+"\n"+strings.Repeat("x", trainrecord.MaxLine+3<<20)+"\n"+row(1)+"\n"+strings.Repeat("y", trainrecord.MaxLine+1<<20), 0)
	s := open(t, path)
	for range 2 {
		s.Find()
		s.Read()
		r := s.Runs()[0]
		assert.EqualValues(t, 2, r.Trail.Records)
		assert.EqualValues(t, 1, r.Trail.BadLines)
		assert.EqualValues(t, trainrecord.MaxLine+1<<20, s.Streams()[0].File().TornBytes)
	}
}

// TestAHoleOfAnyLengthIsOneBadLine reads a stream that a writer went on with at its old place after it was cut to nothing.
func TestAHoleOfAnyLengthIsOneBadLine(t *testing.T) {
	t.Parallel()
	const hole = 256 << 20
	path := filepath.Join(folder(t), "t.jsonl")
	put(t, path, row(0)+"\n", 0)
	require.NoError(t, os.Truncate(path, int64(len(row(0))+1+hole)))
	s := open(t, path)
	s.Find()
	s.Read()
	assert.EqualValues(t, hole, s.Streams()[0].File().TornBytes)
	put(t, path, row(1)+"\n"+row(2)+"\n", os.O_APPEND)
	s.Find()
	s.Read()
	r := s.Runs()[0]
	assert.EqualValues(t, 3, r.Trail.Records)
	assert.EqualValues(t, 1, r.Trail.BadLines)
}

// As in the collector: what stands before the first row says nothing of epochs, and the row is the first one of its file all the same.
func TestTheFirstEpochTellsHowAStreamCountsBehindOtherLines(t *testing.T) {
	t.Parallel()
	rows := `{"epoch":1,"train_loss":0.5,"val_loss":0.6}` + "\n" + `{"epoch":2,"train_loss":0.4,"val_loss":0.5}` + "\n"
	for name, before := range map[string]string{
		"nothing":         "",
		"a start":         `{"schema":"pathologize.ml.training/1","ts":1796000000,"event":"run.start","body":{"planned_epochs":3}}` + "\n",
		"a text":          "Epoch 1/3\n",
		"a Python dict":   "{'epoch': 1}\n",
		"an array":        "[1, 2]\n",
		"too long a line": strings.Repeat("x", trainrecord.MaxLine+1<<20) + "\n",
		"NUL bytes":       strings.Repeat("\x00", 100),
		"a blank line":    "\r\n",
		"a mark":          "\xef\xbb\xbf",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(folder(t), "t.jsonl")
			put(t, path, before+rows, 0)
			s := open(t, path)
			s.Find()
			s.Read()
			require.Len(t, s.Runs(), 1)
			assert.Equal(t, new(int64(2)), s.Runs()[0].Fold.State().Epochs.Completed)
		})
	}
}

func TestRunsOfOneFolderNameAreTwo(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for _, p := range []string{"a", "b"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, p, "x"), 0o700))
		put(t, filepath.Join(dir, p, "x", "t.jsonl"), `{"loss":1,"grad_norm":1,"learning_rate":0.1,"epoch":1.0,"step":5}`+"\n", 0)
	}
	s := open(t, dir)
	s.Find()
	s.Read()
	assert.Len(t, s.Runs(), 2)
}

// A record inside an envelope names the run, and lines before it do not.
func TestLinesWithoutARunBelongToTheOneThatAnEnvelopeNames(t *testing.T) {
	t.Parallel()
	path := filepath.Join(folder(t), "container.jsonl")
	enveloped := func(line string) string {
		b, err := json.Marshal(map[string]string{"log": line + "\n", "stream": "stdout", "time": "2026-03-02T08:14:05Z"})
		require.NoError(t, err)
		return string(b) + "\n"
	}
	put(t, path, enveloped(`{"loss":1,"grad_norm":1,"learning_rate":0.1,"epoch":1.0,"step":5}`)+enveloped(row(1)), 0)
	s := open(t, path)
	s.Find()
	s.Read()
	require.Len(t, s.Runs(), 1)
	assert.Equal(t, "r", s.Runs()[0].Name)
	assert.EqualValues(t, 2, s.Runs()[0].Fold.State().Records.Count)
}

func TestAFolderStandsForStreamsThatHaveNoLineYet(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	first, second := filepath.Join(dir, "rank0.jsonl"), filepath.Join(dir, "rank1.jsonl")
	put(t, first, "", 0)
	put(t, second, row(0)[:9], 0)
	s := open(t, dir)
	s.Find()
	s.Read()
	require.Len(t, s.Runs(), 1)
	assert.Equal(t, "run", s.Runs()[0].Name)
	put(t, first, row(0)+"\n", os.O_APPEND)
	s.Read()
	require.Len(t, s.Runs(), 2, "the other one is still to tell")
	put(t, second, row(0)[9:]+"\n", os.O_APPEND)
	s.Read()
	require.Len(t, s.Runs(), 1)
	assert.Equal(t, "r", s.Runs()[0].Name)
	assert.Len(t, s.Runs()[0].Streams, 2)
}

func TestLinesAreRememberedWithinABound(t *testing.T) {
	t.Parallel()
	for name, time := range map[string]func(i uint64) int64{
		"without time": func(uint64) int64 { return 0 }, "in order": func(i uint64) int64 { return int64(i) + 1 }, "in pairs": func(i uint64) int64 { return int64(i)/2 + 1 },
	} {
		var l lineSet
		for i := range uint64(3 * maxLines) {
			require.False(t, l.seen(spread(i), time(i)), name)
		}
		for _, i := range []uint64{3*maxLines - 1, 3*maxLines - 2, 3*maxLines - 1000} {
			assert.True(t, l.seen(spread(i), time(i)), "%s: the last ones are known", name)
		}
		assert.LessOrEqual(t, len(l.now)+len(l.before), 2*maxLines)
		assert.LessOrEqual(t, len(l.waiting), maxLines)
	}
}

func spread(i uint64) uint64 { return i*0x9e3779b97f4a7c15 + 1 }

func TestNewStreamsAreSeenAtTheNextLook(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	put(t, filepath.Join(dir, "rank0.jsonl"), row(0)+"\n", 0)
	below := filepath.Join(dir, "a", "b")
	require.NoError(t, os.MkdirAll(below, 0o700))
	long := time.Now().Add(-time.Hour)
	for _, d := range []string{dir, filepath.Dir(below), below} {
		require.NoError(t, os.Chtimes(d, long, long))
	}
	s := open(t, dir)
	s.Look()
	require.Len(t, s.Streams(), 1)
	searched := s.searched
	put(t, filepath.Join(dir, "rank0.jsonl"), row(1)+"\n", os.O_APPEND)
	s.Look()
	assert.Equal(t, searched, s.searched, "growth alone is no reason to search")
	for i, path := range []string{filepath.Join(dir, "rank1.jsonl"), filepath.Join(below, "rank2.jsonl"), filepath.Join(dir, "new", "rank3.jsonl")} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		put(t, path, row(i+2)+"\n", 0)
		s.Look()
		assert.Len(t, s.Streams(), i+2, path)
	}
	assert.EqualValues(t, 5, s.Runs()[0].Trail.Records)
}
