package trainlines

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func TestTextWithNULBytesIsNotUTF16(t *testing.T) {
	t.Parallel()
	assert.False(t, isUTF16([]byte("{\x00\"a\x00\x00:1}xyz")))
	assert.True(t, isUTF16([]byte("{\x00\"\x00a\x00\"\x00")))
}

func TestALineSaysWhatIsOnIt(t *testing.T) {
	t.Parallel()
	r := NewReader(Options{Prefixes: mustPrefixes(t)})
	lr := plog.NewLogRecord()
	got := r.Read([]byte("[rank3]: 2026-11-29 10:00:00 | INFO | train | {\"i\":1}\x1b[0m"), false, lr)
	assert.Equal(t, trainrecord.LineObject, got.Line.Kind)
	assert.Equal(t, Prefixed{Rank: 3, Time: "2026-11-29 10:00:00"}, got.Found)
	r.PutTime(lr, got.Found)
	PutRank(lr.Attributes(), got.Found.Rank)
	assert.EqualValues(t, 1795946400e9, lr.Timestamp())
	got = r.Read([]byte("{}\x00{}x"), false, lr)
	assert.Equal(t, []Piece{{From: 0, To: 2}, {From: 2, To: 3, NULs: true}, {From: 3, To: 6, Whole: true}}, got.Pieces)
	got = r.Read([]byte("{}x"), true, lr)
	assert.Empty(t, got.Pieces)
	assert.Equal(t, trainrecord.ReasonTrailingData, got.Line.Reason)
}

func TestARecordHasWhatItsPrefixSays(t *testing.T) {
	t.Parallel()
	r := NewReader(Options{Prefixes: mustPrefixes(t)})
	const record = `{"schema":"pathologize.ml.training/1","event":"step.end","run_id":"r","body":{"step":7}}`
	for prefix, want := range map[string]trainrecord.Record{
		"":                                {},
		"[rank3]: ":                       {Rank: 3},
		"[rank3]: 2026-11-29 10:00:00 | ": {Rank: 3, Time: 1795946400e9},
	} {
		lr, got := plog.NewLogRecord(), trainrecord.Record{}
		read := r.ReadRecord([]byte(prefix+record), false, lr, &got)
		assert.Equal(t, trainrecord.LineRecord, read.Line.Kind, prefix)
		assert.Equal(t, []any{"r", want.Rank, want.Time, map[string]any{"step": int64(7)}}, []any{got.RunID, got.Rank, got.Time, got.Body.AsRaw()}, prefix)
	}
	lr, got := plog.NewLogRecord(), trainrecord.Record{}
	assert.Equal(t, trainrecord.LineObject, r.ReadRecord([]byte(`[rank3]: {"loss":1}`), false, lr, &got).Line.Kind)
	rank, _ := lr.Attributes().Get(trainrecord.AttrRunRank)
	assert.EqualValues(t, 3, rank.Int())
}

func TestWhatStandsBeforeALine(t *testing.T) {
	t.Parallel()
	nuls := strings.Repeat("\x00", MinHole)
	for text, want := range map[string][2]int{
		"{}": {0, 0}, "\xef\xbb\xbf{}": {3, 0}, nuls + "{}": {0, MinHole}, "\xef\xbb\xbf" + nuls: {3, MinHole}, nuls[1:] + "{}": {0, 0}, "": {0, 0},
	} {
		mark, hole := Before([]byte(text), true)
		assert.Equal(t, want, [2]int{mark, hole}, "%q", text)
	}
	mark, _ := Before([]byte("\xef\xbb\xbf{}"), false)
	assert.Zero(t, mark)
}

func TestFoldersName(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/runs/a/t.jsonl": "a", "t.jsonl": "", "/t.jsonl": "", "../t.jsonl": "", "x\xff/t": "x\xff"} {
		assert.Equal(t, want, ParentFolder(path), path)
	}
	assert.Equal(t, "x%FFy", ValidText("x\xffy"))
}
