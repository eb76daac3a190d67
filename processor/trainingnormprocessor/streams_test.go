package trainingnormprocessor

import (
	"fmt"
	"hash/maphash"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/processor/trainingnormprocessor/internal/metadata"
)

func TestLeastRecentlySeenStreamIsForgotten(t *testing.T) {
	t.Parallel()
	s := newStreams(2)
	a, forgotten := s.get("a", "", false)
	assert.Empty(t, forgotten)
	_, forgotten = s.get("b", "", false)
	assert.Empty(t, forgotten)
	again, forgotten := s.get("a", "", false)
	assert.Same(t, a, again)
	assert.Empty(t, forgotten)
	_, forgotten = s.get("c", "", false)
	assert.Equal(t, "b", forgotten)
	again, forgotten = s.get("a", "", false)
	assert.Same(t, a, again)
	assert.Empty(t, forgotten)
	_, forgotten = s.get("b", "", false)
	assert.Equal(t, "c", forgotten)
	assert.Len(t, s.byKey, 2)
	assert.Equal(t, 2, s.recent.Len())
}

// TestAStreamIsNotTakenForOneWhoseHashIsTheSame: the second takes the place, and the first is found by its key again.
func TestAStreamIsNotTakenForOneWhoseHashIsTheSame(t *testing.T) {
	t.Parallel()
	s := newStreams(4)
	a, b := streamID{file: "/a"}, streamID{file: "/b"}
	first, _ := s.add(a, "f/a", "", false)
	clash := maphash.Comparable(s.seed, b)
	s.hide(first)
	first.hash, s.byID[clash] = clash, first
	assert.Nil(t, s.find(b))
	second, _ := s.add(b, "f/b", "", false)
	assert.NotSame(t, first, second)
	assert.Same(t, second, s.find(b))
	assert.Nil(t, s.find(a))
	again, _ := s.add(a, "f/a", "", false)
	assert.Same(t, first, again)
	assert.Same(t, first, s.find(a))
	assert.Same(t, second, s.find(b), "what it was found by stays the other's")
}

// row is an object of a stream; offset < 0 leaves it out.
type row struct {
	file, run, uid string
	offset         int64
	body           map[string]any
}

func batch(t testing.TB, rows ...row) plog.Logs {
	t.Helper()
	ld := plog.NewLogs()
	records := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for _, r := range rows {
		lr := records.AppendEmpty()
		for key, value := range map[string]string{
			trainrecord.AttrLogFilePath: r.file, trainrecord.AttrRunID: r.run, trainrecord.AttrLogRecordUID: r.uid,
		} {
			if value != "" {
				lr.Attributes().PutStr(key, value)
			}
		}
		if r.offset >= 0 {
			lr.Attributes().PutInt(trainrecord.AttrLogFileRecordOffset, r.offset)
		}
		require.NoError(t, lr.Body().SetEmptyMap().FromRaw(r.body))
	}
	return ld
}

func frameworks(ld plog.Logs) []string {
	var all []string
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				all = append(all, text(lr.Attributes(), trainrecord.AttrFramework))
			}
		}
	}
	return all
}

func logsProcessor(t *testing.T, set processor.Settings) processor.Logs {
	t.Helper()
	p, err := NewFactory().CreateLogs(t.Context(), set, createDefaultConfig(), consumertest.NewNop())
	require.NoError(t, err)
	return p
}

var (
	huggingFaceRow = map[string]any{"loss": 0.5, "learning_rate": 0.1, "epoch": 0.5}
	lightningRow   = map[string]any{"lr-Adam": 0.1, "step": 5}
	plainRow       = map[string]any{"speed": 0.5, "epoch": 1, "step": 7} // both profiles have a rule for it
)

func uidText(run string, file uint32, offset int64) string {
	return trainrecord.UID{RunID: run, File: file, Offset: offset}.String()
}

func TestStreamsAreKeptApart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxStreamKey)
	for name, c := range map[string]struct {
		rows []row
		want []string
	}{
		"by file": {
			[]row{{file: "a", body: huggingFaceRow, offset: 1}, {file: "b", body: lightningRow, offset: 1}, {file: "a", body: plainRow, offset: 2}, {file: "b", body: plainRow, offset: 2}},
			[]string{"huggingface", "lightning", "huggingface", "lightning"},
		},
		"by run without a file": {
			[]row{{run: "a", body: huggingFaceRow, offset: -1}, {run: "b", body: plainRow, offset: -1}, {run: "a", body: plainRow, offset: -1}},
			[]string{"huggingface", "", "huggingface"},
		},
		"by run and stream of the uid": {
			[]row{{run: "a", uid: uidText("a", 1, 5), body: huggingFaceRow, offset: -1}, {run: "a", body: plainRow, offset: -1}, {run: "a", uid: uidText("a", 2, 6), body: plainRow, offset: -1}, {run: "a", uid: uidText("a", 1, 9), body: plainRow, offset: -1}},
			[]string{"huggingface", "", "", "huggingface"},
		},
		"none without file and run": {
			[]row{{body: huggingFaceRow, offset: -1}, {body: plainRow, offset: -1}},
			[]string{"huggingface", ""},
		},
		"none with a name out of bounds": {
			[]row{{run: long, body: huggingFaceRow, offset: -1}, {run: long, body: plainRow, offset: -1}},
			[]string{"huggingface", ""},
		},
		"anew at the beginning of a file": {
			[]row{{file: "a", body: huggingFaceRow, offset: 0}, {file: "a", body: plainRow, offset: 9}, {file: "a", body: lightningRow, offset: 0}, {file: "a", body: plainRow, offset: 9}},
			[]string{"huggingface", "huggingface", "lightning", "lightning"},
		},
		"anew behind a byte order mark or blank lines": {
			[]row{
				{file: "a", uid: uidText("a", 1, 3), body: huggingFaceRow, offset: 3}, {file: "a", uid: uidText("a", 1, 90), body: plainRow, offset: 90},
				{file: "a", uid: uidText("a", 1, 3), body: lightningRow, offset: 3}, {file: "a", uid: uidText("a", 1, 90), body: plainRow, offset: 90},
			},
			[]string{"huggingface", "huggingface", "lightning", "lightning"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, _ := settings(t)
			p := logsProcessor(t, set)
			var got []string
			for _, r := range c.rows { // uid keys must not depend on the record before
				ld := batch(t, r)
				require.NoError(t, p.ConsumeLogs(t.Context(), ld))
				got = append(got, frameworks(ld)...)
			}
			assert.Equal(t, c.want, got, "one record a batch")
			if name == "by run and stream of the uid" {
				return // a batch of a receiver has one stream of a run
			}
			all := batch(t, c.rows...)
			require.NoError(t, logsProcessor(t, set).ConsumeLogs(t.Context(), all))
			assert.Equal(t, c.want, frameworks(all), "one batch")
		})
	}
}

// TestAHoleAtTheBeginningBeginsTheFileAnew: NUL bytes where a file begins are what a crash or a truncation leaves. The line
// behind them may be the first one of the stream that stood there before.
func TestAHoleAtTheBeginningBeginsTheFileAnew(t *testing.T) {
	t.Parallel()
	line := func(file string, offset int64, body map[string]any) row {
		return row{file: file, offset: offset, body: body, uid: trainrecord.UID{RunID: "r", File: 7, Offset: offset}.String()}
	}
	hole := batch(t, row{file: "a", offset: 0, uid: trainrecord.UID{RunID: "r"}.String()})
	lr := hole.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
	lr.SetEventName(trainrecord.EventName(trainrecord.EventLog))
	lr.Attributes().PutStr(trainrecord.AttrRecordError, string(trainrecord.ReasonNULBytes))
	host := componentcheck.NewStorageHost(t)
	for _, restart := range []bool{false, true} {
		p := begin(t, host)
		before := batch(t, line("a", 0, huggingFaceRow), line("ab", 0, huggingFaceRow))
		require.NoError(t, p.ConsumeLogs(t.Context(), before))
		again := plog.NewLogs()
		hole.CopyTo(again)
		require.NoError(t, p.ConsumeLogs(t.Context(), again))
		if restart {
			p.kill(t)
			p = begin(t, host)
		}
		after := batch(t, line("a", 4096, plainRow), line("ab", 4096, plainRow))
		require.NoError(t, p.ConsumeLogs(t.Context(), after))
		assert.Equal(t, []string{"", "huggingface"}, frameworks(after), "restart: %v", restart)
		if p.end(t); !restart {
			host = componentcheck.NewStorageHost(t)
		}
	}
}

// TestEpochsThatNothingTellsHowToCountAreCounted: the loop counts from 1 and goes on in a second file.
func TestEpochsThatNothingTellsHowToCountAreCounted(t *testing.T) {
	t.Parallel()
	set, tel := settings(t)
	p := logsProcessor(t, set)
	rowOf := func(file string, offset int64, epoch int) row {
		return row{file: file, offset: offset, body: map[string]any{"epoch": epoch, "train_loss": 0.5, "val_loss": 0.75}}
	}
	ld := batch(t, rowOf("a", 0, 1), rowOf("a", 100, 2), rowOf("b", 0, 3), rowOf("b", 100, 4))
	require.NoError(t, p.ConsumeLogs(t.Context(), ld))
	var epochs []int64
	for _, lr := range ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().All() {
		v, ok := lr.Body().Map().Get(trainrecord.BodyEpoch)
		require.True(t, ok)
		epochs = append(epochs, v.Int())
	}
	assert.Equal(t, []int64{0, 1, 3, 4}, epochs)
	componentcheck.AssertTelemetry(t, tel, "otelcol_training_norm_epochs", `otelcol_training_norm_epochs_as_written{processor="training_norm",profile="pytorch"} 2`)
}

func TestForgottenStreamsAreCounted(t *testing.T) {
	t.Parallel()
	set, tel := settings(t)
	p := logsProcessor(t, set)
	for from := 0; from < maxStreams+3; from += 4096 {
		var rows []row
		for i := from; i < min(from+4096, maxStreams+3); i++ {
			rows = append(rows, row{file: fmt.Sprint(i), offset: 1, body: plainRow})
		}
		require.NoError(t, p.ConsumeLogs(t.Context(), batch(t, rows...)))
	}
	componentcheck.AssertTelemetry(t, tel, "otelcol_training_norm_streams", `otelcol_training_norm_streams_forgotten{processor="training_norm"} 3`)
}

func TestFurtherRecordsFollowTheirOwn(t *testing.T) {
	t.Parallel()
	set, _ := settings(t)
	cfg := &Config{Profiles: []string{"testdata/two_records.yaml"}, Timezone: "UTC"}
	p, err := NewFactory().CreateLogs(t.Context(), set, cfg, consumertest.NewNop())
	require.NoError(t, err)
	final := row{offset: -1, body: map[string]any{"final": 1, "f1": 0.5}}
	step := row{offset: -1, body: huggingFaceRow}
	for _, c := range []struct { // each with the scratch memory of the one before
		rows []row
		want string
	}{
		{[]row{final, step, final}, "phase.end run.end step.end phase.end run.end"},
		{[]row{step, final, step}, "step.end phase.end run.end step.end"},
		{[]row{final, final}, "phase.end run.end phase.end run.end"},
	} {
		ld := batch(t, c.rows...)
		require.NoError(t, p.ConsumeLogs(t.Context(), ld))
		var events []string
		for _, lr := range ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().All() {
			events = append(events, strings.TrimPrefix(lr.EventName(), trainrecord.Namespace+"."))
		}
		assert.Equal(t, c.want, strings.Join(events, " "))
	}
}

func TestBatchesInParallel(t *testing.T) {
	t.Parallel()
	set, tel := settings(t)
	p := logsProcessor(t, set)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 50 {
				file := fmt.Sprint(i % 5)
				ld := batch(t, row{file: file, offset: 100, body: huggingFaceRow}, row{file: file, offset: 200, body: plainRow})
				assert.NoError(t, p.ConsumeLogs(t.Context(), ld))
				assert.Equal(t, []string{"huggingface", "huggingface"}, frameworks(ld))
			}
		})
	}
	wg.Wait()
	componentcheck.AssertTelemetry(t, tel, "otelcol_training_norm_",
		`otelcol_training_norm_detections{processor="training_norm",profile="huggingface"} 5`, `otelcol_training_norm_mapped_alone{processor="training_norm",profile="huggingface"} 5`,
		`otelcol_training_norm_mapped{processor="training_norm",profile="huggingface"} 400`)
}

func TestLogsTellOfBadDataOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.DebugLevel)
		set, _ := settings(t)
		set.Logger = zap.New(core)
		p := logsProcessor(t, set)
		bad := row{file: "a", offset: 5, body: map[string]any{"note": "secret"}}
		malformed := row{file: "b", offset: 5, body: map[string]any{"loss": 0.5, "grad_norm": 0.5, "epoch": 0.5, "learning_rate": "secret"}}
		require.NoError(t, p.ConsumeLogs(t.Context(), batch(t, bad, bad, malformed, malformed)))
		require.Equal(t, 2, logs.Len())
		time.Sleep(time.Minute)
		require.NoError(t, p.ConsumeLogs(t.Context(), batch(t, bad)))
		require.Equal(t, 3, logs.Len())
		assert.EqualValues(t, 1, logs.All()[2].ContextMap()["more_since_last"])
		time.Sleep(time.Minute)
		require.NoError(t, p.ConsumeLogs(t.Context(), batch(t, bad)))
		require.Equal(t, 4, logs.Len())
		assert.EqualValues(t, 0, logs.All()[3].ContextMap()["more_since_last"])
		for _, entry := range logs.All() {
			assert.NotContains(t, fmt.Sprint(entry.Message, entry.ContextMap()), "secret")
		}
	})
}

// BenchmarkLogs maps batches of one run, and batches in which the records of a thousand runs alternate.
func BenchmarkLogs(b *testing.B) {
	for _, runs := range []int{1, 1000} {
		b.Run(fmt.Sprint(runs), func(b *testing.B) { benchmarkRuns(b, runs) })
	}
}

func benchmarkRuns(b *testing.B, runs int) {
	n, err := newLogNormalizer(&Config{Timezone: "UTC"}, processortest.NewNopSettings(metadata.Type), &componentkit.Claims{})
	require.NoError(b, err)
	rows := make([]row, 1000)
	for i := range rows {
		run := fmt.Sprintf("run-%d", i%runs)
		uid := trainrecord.UID{RunID: run, File: uint32(i % runs), Offset: int64(i), CRC: 7}.String() //nolint:gosec // small
		rows[i] = row{file: "/var/lib/runs/" + run + "/train.jsonl", run: run, uid: uid, offset: int64(i), body: huggingFaceRow}
	}
	original := batch(b, rows...)
	b.ReportAllocs()
	for b.Loop() {
		ld := plog.NewLogs()
		original.CopyTo(ld)
		if _, err := n.processLogs(b.Context(), ld); err != nil {
			b.Fatal(err)
		}
	}
}

func TestARenamedStreamIsWhatItWas(t *testing.T) {
	t.Parallel()
	profiles, err := trainprofile.Embedded()
	require.NoError(t, err)
	s := newStreams(2)
	old, _ := s.get("f/a", "a\x00aa", false)
	old.Restore(trainprofile.Decision{Profile: profiles[0], Offset: 40})
	begun, _ := s.get("f/a.2", "a\x00aa", false)
	_, decided := begun.Decision()
	assert.False(t, decided, "another file with the same first line, from its beginning")
	s = newStreams(1)
	old, _ = s.get("f/a", "a\x00aa", false)
	old.Restore(trainprofile.Decision{Profile: profiles[0], Offset: 40})
	renamed, forgotten := s.get("f/renamed", "a\x00aa", true)
	d, decided := renamed.Decision()
	assert.True(t, decided)
	assert.Equal(t, trainprofile.Decision{Profile: profiles[0], Offset: 40}, d)
	assert.Equal(t, "f/a", forgotten)
	other, _ := s.get("f/c", "c\x00aa", true)
	_, decided = other.Decision()
	assert.False(t, decided, "another run with the same first line")
	assert.Len(t, s.alias, 1, "what is forgotten leaves no alias")
}
