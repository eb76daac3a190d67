package trainjsonlreceiver

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
)

// experiments are what a tailer of log files was seen to get wrong with training streams, and public reports of the same;
// the tests hold this receiver to the wanted outcome.
var experiments = map[string][]string{
	"E1 a failing consumer loses a batch":                       {"TestRefusedBatchIsOfferedAgainUntilAccepted"},
	"E1b a call that blocks until the stop":                     {"TestStopDuringABlockedCallLosesAndRepeatsNothing"},
	"E1c a call that succeeds during the stop is repeated":      {"TestWhatIsAcceptedWhileStoppingIsNotSentAgain"},
	"E2 a kill repeats the whole backlog":                       {"TestCheckpointsAreWrittenWhileABacklogIsRead", "TestEveryLineOnceWhateverHappens"},
	"E2b a kill loses what a buffer held":                       {"TestCheckpointsAreWrittenWhileABacklogIsRead", "TestEveryLineOnceWhateverHappens"},
	"E3 half a line becomes a record":                           {"TestTornLineIsNoRecordBeforeItsNewline", "TestSilentTornLineIsReportedOnceAndDeliveredWhenWhole", "TestWritersThatFlushAnywhere"},
	"E4a equal heads: one file is not read":                     {"TestFilesWithEqualHeadsAreTwoFiles", "TestEqualFirstMegabytesAreTwoFiles"},
	"E4b equal heads: one file is read from the other's offset": {"TestFilesWithEqualHeadsAreTwoFiles"},
	"E4c short files with a common first line swap":             {"TestShortFilesWithACommonFirstLineAreTwoFiles"},
	"E5 truncated and rewritten":                                {"TestRewrittenFilesAreReadFromTheirStart", "TestRewriteWhileTheReceiverIsDownIsSeen", "TestATrimmedStreamIsSeenWhateverItsLinesEndWith", "TestBytesCutOffBeforeTheyWereReadAreLost"},
	"E6 appended, then deleted or renamed":                      {"TestWhatIsAppendedAroundADeletionIsRead", "TestRotationReadsTheRestOfTheOldFile", "TestManyFilesAppendedAndDeletedAtOnce"},
	"E7 offsets":                                                {"TestOffsetsAreThoseOfTheBytes"},
	"E7b an overlong line shifts offsets":                       {"TestOverlongLinesArePassedOverAndReported"},
	"E9 files that never have a turn":                           {"TestAtMost64FilesAreOpen", "TestKeysOfFileLogThatHaveNoPlaceSayWhatToDo"},
	"E10 checkpoints rewritten while nothing changes":           {"TestIdleFilesCostNoCheckpointsAndNoOpenFiles"},
	"E11 one hot file starves all":                              {"TestOneHotOrStalledFileHoldsUpNoOther"},
	"E12 deletes what was not delivered":                        {"TestKeysOfFileLogThatHaveNoPlaceSayWhatToDo"},
	"E13 growth within the resolution of a clock":               {"TestGrowthIsSeenWhateverTheClockSays"},
	"E14 grown or renamed while down":                           {"TestRenameKeepsOffsetAndRun", "TestGrowthWhileTheReceiverIsDownIsReadFromTheOffset"},
	"E15 away for some polls":                                   {"TestAFileAwayForAWhileGoesOnWhereItWas", "TestAFileIsRememberedForADay"},
	"E16 torn, cut and whole lines look alike":                  {"TestSilentTornLineIsReportedOnceAndDeliveredWhenWhole", "TestOverlongLinesArePassedOverAndReported"},

	"report: loses though persistence is on":                 {"TestRefusedBatchIsOfferedAgainUntilAccepted", "TestEveryLineOnceWhateverHappens"},
	"report: a buffer between file and consumer":             {"TestStopDuringABlockedCallLosesAndRepeatsNothing"},
	"report: an error drops tokens":                          {"TestRefusedBatchIsOfferedAgainUntilAccepted", "TestPermanentRefusalsAreHalvedUntilTheRecordStandsAlone"},
	"report: back-pressure gives up":                         {"TestOneHotOrStalledFileHoldsUpNoOther"},
	"report: stops after copytruncate":                       {"TestRewrittenFilesAreReadFromTheirStart", "TestBytesCutOffBeforeTheyWereReadAreLost"},
	"report: equal prefixes skip, swap, lose":                {"TestFilesWithEqualHeadsAreTwoFiles", "TestShortFilesWithACommonFirstLineAreTwoFiles"},
	"report: half lines, last line unread":                   {"TestTornLineIsNoRecordBeforeItsNewline", "TestTornLineAfterRunEndIsReportedAtOnce"},
	"report: the poll interval is not kept":                  {"TestOneHotOrStalledFileHoldsUpNoOther", "TestNothingWaitsForASearch"},
	"report: CPU grows with the files":                       {"TestIdleFilesAreLookedAtLessAndLess", "TestWhatTheSystemTellsIsLookedAtAtOnce"},
	"report: memory grows with a backlog":                    {"TestInFlightBytesAreBounded"},
	"report: duplicates when a stream is rotated and packed": {"TestARotatedAndPackedStreamIsNotDeliveredTwice"},
	"report: links": {"TestSymbolicLinks", "TestALinkToTheLatestRunMixesNoRuns", "TestALinkThatLeadsToItselfIsCountedOnce"},
	"report: NFS: stale handles, files that vanish": {"TestFilesThatCannotBeReadAreTriedAgain", "TestAFileAwayForAWhileGoesOnWhereItWas", "TestIdentityByPathNeedsNoInodes"},
	"fault: ENOSPC": {"TestFailedCheckpointsAreWrittenLater"},
	"fault: EIO, ESTALE, EACCES, short reads": {"TestFilesThatCannotBeReadAreTriedAgain"},
	"fault: no answer":                        {"TestAFileSystemThatDoesNotAnswerHoldsUpItsOwnFilesOnly", "TestWhatHangsIsBounded"},
	"report: duplicates cannot be told":       {"TestEqualLinesKeepTheirIdentityOverAReread"},
}

func TestEachExperimentHasItsTest(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	tests := map[string]bool{}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				tests[f.Name.Name] = true
			}
		}
	}
	for what, by := range experiments {
		require.NotEmpty(t, by, what)
		for _, name := range by {
			assert.True(t, tests[name], "%s: there is no %s", what, name)
		}
	}
}

func TestShortFilesWithACommonFirstLineAreTwoFiles(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	first := `{"ts":1790000000,"event":"run.start","body":{"i":0}}` + "\n"
	r.write("m/train.jsonl", first+rows(1, 1))
	tl := r.open()
	tl.step(ctx)
	r.write("a/train.jsonl", first+rows(2, 1))
	tl.step(ctx)
	r.append("m/train.jsonl", rows(3, 1))
	r.append("a/train.jsonl", rows(4, 1))
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Equal(t, []string{"0", "1", "3"}, texts(r.sink.of("m/train.jsonl")))
	assert.Equal(t, []string{"0", "2", "4"}, texts(r.sink.of("a/train.jsonl")))
}

func texts(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		_, out[i], _ = strings.Cut(l, " ")
	}
	return out
}

func TestManyFilesAppendedAndDeletedAtOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	for i := range maxHandles {
		r.write(fmt.Sprintf("run%02d/train.jsonl", i), rows(0, 3))
	}
	tl := r.open()
	tl.step(ctx)
	for i := range maxHandles {
		r.append(fmt.Sprintf("run%02d/train.jsonl", i), rows(3, 2))
		require.NoError(t, os.RemoveAll(r.path(fmt.Sprintf("run%02d", i))))
	}
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Len(t, r.sink.got(), 5*maxHandles)
}

func TestOffsetsAreThoseOfTheBytes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	row := `{"ts":1,"event":"log","body":{"i":1}}`
	text := row + "\n\n  " + row + "\r\n" + `{"ts":1,"event":"log","body":{"i":"` + "\xff" + `"}}` + "\n" + row + "\n"
	r.write("a/train.jsonl", text)
	tl := r.open()
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	var offsets []int64
	for _, g := range r.sink.got() {
		offsets = append(offsets, g.offset)
	}
	n := int64(len(row))
	assert.Equal(t, []int64{0, n + 2, 2*n + 6, int64(len(text)) - n - 1}, offsets)
}

func TestGrowthIsSeenWhateverTheClockSays(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	r.write("a/train.jsonl", rows(0, 1))
	stamp := time.Unix(1_790_000_000, 0)
	require.NoError(t, os.Chtimes(r.path("a/train.jsonl"), stamp, stamp))
	tl := r.open()
	for i := range 20 {
		tl.step(ctx)
		r.append("a/train.jsonl", rows(1+i, 1))
		require.NoError(t, os.Chtimes(r.path("a/train.jsonl"), stamp, stamp))
	}
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Equal(t, rowsAt(rows(0, 21), 0), r.sink.of("a/train.jsonl"))
}

func TestGrowthWhileTheReceiverIsDownIsReadFromTheOffset(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	for i := range 3 { // one line a time: the head that is known grows
		r.append("a/train.jsonl", rows(100*i, 100))
		tl := r.open()
		tl.step(ctx)
		require.NoError(t, tl.save(ctx))
		require.NoError(t, tl.close(ctx))
	}
	assert.Equal(t, rowsAt(rows(0, 300), 0), r.sink.of("a/train.jsonl"))
}

// TestWritersThatFlushAnywhere has trainers that flush each byte, each 8 KiB, or hold the end of a line for minutes.
func TestWritersThatFlushAnywhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines, chunk int
		pause        time.Duration
	}{
		"each byte": {20, 1, 7 * time.Millisecond}, "each 8 KiB": {2000, 8 << 10, 150 * time.Millisecond},
		"the end of a line comes minutes later": {100, 700, 9 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cfg.PollInterval = max(c.pause/100, 100*time.Millisecond)
			text := rows(0, c.lines)
			synctest.Test(t, func(t *testing.T) {
				r.start()
				for i := 0; i < len(text); i += c.chunk {
					r.append("a/train.jsonl", text[i:min(i+c.chunk, len(text))])
					time.Sleep(c.pause)
				}
				time.Sleep(5 * time.Second)
				r.stop()
			})
			assert.Equal(t, rowsAt(text, 0), r.sink.of("a/train.jsonl"))
			assert.NotContains(t, strings.Join(r.lines(), "\n"), "bad_lines")
		})
	}
}

func TestHalfAMillionLinesInOneFile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t)
	text := rows(0, 500_000)
	r.write("a/train.jsonl", text)
	count := 0
	tl := r.open()
	tl.next = counting{&count}
	tl.step(ctx)
	require.NoError(t, tl.close(ctx))
	assert.Equal(t, 500_000, count)
	assert.Equal(t, int64(len(text)), r.offset(tl, "a/train.jsonl"))
}

// counting counts records.
type counting struct{ n *int }

func (counting) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (c counting) ConsumeLogs(_ context.Context, ld plog.Logs) error {
	*c.n += ld.LogRecordCount()
	return nil
}

func TestAHundredNewRunsASecond(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		r.start()
		for i := range 500 {
			r.write(fmt.Sprintf("run%03d/train.jsonl", i), rows(0, 2))
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(6 * time.Second)
		assert.Len(t, r.sink.got(), 1000)
		r.stop()
	})
}

func TestATreeRemovedWhileItIsRead(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		for i := range 20 {
			r.write(fmt.Sprintf("run%02d/train.jsonl", i), rows(0, 8_000))
		}
		r.sink.set(func(context.Context, int, plog.Logs) error {
			time.Sleep(5 * time.Millisecond)
			return nil
		})
		r.start()
		time.Sleep(500 * time.Millisecond)
		for i := range 20 {
			require.NoError(t, os.RemoveAll(r.path(fmt.Sprintf("run%02d", i))))
		}
		time.Sleep(5 * time.Minute)
		assert.Len(t, r.sink.got(), 160_000, "every file was open")
		r.telemetry(lost(0), `otelcol_train_jsonl_unread_bytes{receiver="train_jsonl"} 0`, `otelcol_train_jsonl_files{receiver="train_jsonl",state="known"} 0`)
		r.write("next/train.jsonl", rows(0, 2))
		time.Sleep(6 * time.Second)
		assert.Len(t, r.sink.of("next/train.jsonl"), 2)
		r.stop()
	})
}

func TestThousandsOfKnownFilesAreFewCallsOfTheStorage(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, lists := range []bool{true, false} {
		t.Run(fmt.Sprintf("lists=%v", lists), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			for i := range 1500 {
				r.write(fmt.Sprintf("run%04d/train.jsonl", i), rows(0, 1))
			}
			for i := range 2 {
				tl := r.open()
				if !lists {
					clear(tl.streams)
					tl.all = nil
					tl.client = plainClient{tl.client}
				}
				before := len(r.host.Calls())
				tl.step(ctx)
				if i == 1 {
					assert.LessOrEqual(t, len(r.host.Calls())-before, 3)
				}
				require.NoError(t, tl.save(ctx))
				require.NoError(t, tl.close(ctx))
			}
			assert.Len(t, r.sink.got(), 1500, "nothing is read twice")
			assert.NotEmpty(t, componentcheck.FormatTelemetry(t, r.tel, "otelcol_train_jsonl_records"))
		})
	}
}
