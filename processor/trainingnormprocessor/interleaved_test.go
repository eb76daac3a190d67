package trainingnormprocessor

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrecord/cputime"
	"github.com/pathologize/otelcol-train/processor/trainingnormprocessor/internal/metadata"
)

const (
	interleavedRuns      = 1000
	interleavedPairs     = 62
	interleavedLearn     = 2 // pairs in which the streams are met
	interleavedAttempts  = 3
	interleavedMost      = 7    // attempts
	interleavedCost      = 1.2  // of a record of one run
	interleavedTolerance = 1.25 // what a gate may miss its target by
)

// interleaved is a batch of rows as the receiver delivers them, of so many runs in turn. Its records are all from the middle of
// their files.
func interleaved(tb testing.TB, runs int) plog.Logs {
	tb.Helper()
	ld := plog.NewLogs()
	records := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for i := range interleavedRuns {
		run, offset := fmt.Sprintf("run-%06d", i%runs), int64(1000+100*(i/runs))
		lr := records.AppendEmpty()
		attrs := lr.Attributes()
		attrs.PutStr(trainrecord.AttrRunID, run)
		attrs.PutStr(trainrecord.AttrLogFilePath, "/runs/"+run+"/train.jsonl")
		attrs.PutInt(trainrecord.AttrLogFileRecordOffset, offset)
		uid := trainrecord.UID{RunID: run, File: uint32(i%runs) + 1, Offset: offset}
		attrs.PutStr(trainrecord.AttrLogRecordUID, uid.String())
		require.NoError(tb, lr.Body().SetEmptyMap().FromRaw(huggingFaceRow))
	}
	return ld
}

// costOf gives the CPU time that a batch takes.
func costOf(tb testing.TB, p processor.Logs, batch plog.Logs) time.Duration {
	tb.Helper()
	ld := plog.NewLogs()
	batch.CopyTo(ld)
	var err error
	took := cputime.Of(func() { err = p.ConsumeLogs(tb.Context(), ld) })
	require.NoError(tb, err)
	return took
}

// TestAThousandInterleavedRunsCostNoMore compares a record of a thousand runs in turn with a record of one run. An attempt is the
// median of many pairs, each of two batches one after the other; it has a memory of its own, as where things lie in it decides about
// a tenth. The median of the attempts counts. While it misses the promise there are more of them: neighbours take the caches, which a thousand
// runs need more of. As in all gates it may miss it by a factor, unless OTELCOL_TRAIN_MEASURE=full wants the promise.
func TestAThousandInterleavedRunsCostNoMore(t *testing.T) {
	measure := os.Getenv("OTELCOL_TRAIN_MEASURE")
	if measure == "" {
		t.Skip("NOT TESTED here: what runs beside it is measured, too; make bench-gate runs it by itself")
	}
	limit := interleavedCost * interleavedTolerance
	if measure == "full" {
		limit = interleavedCost
	}
	var ratios []float64
	for len(ratios) < interleavedAttempts || median(ratios) > interleavedCost && len(ratios) < interleavedMost {
		ratio := interleavedAttempt(t)
		ratios = append(ratios, ratio)
		t.Logf("attempt %d: a record of %d runs costs %.2f times as much as one of one run", len(ratios), interleavedRuns, ratio)
	}
	ratio := median(ratios)
	verdict := "met"
	if ratio > interleavedCost {
		verdict = "MISSED"
	}
	t.Logf("median %.2f, wanted at most %.2f: %s; it fails above %.2f", ratio, interleavedCost, verdict, limit)
	assert.LessOrEqual(t, ratio, limit, "interleaved runs cost too much a record")
}

// interleavedAttempt gives the median ratio of pairs.
func interleavedAttempt(t *testing.T) float64 {
	t.Helper()
	p, err := NewFactory().CreateLogs(t.Context(), processortest.NewNopSettings(metadata.Type), createDefaultConfig(), consumertest.NewNop())
	require.NoError(t, err)
	batches := [2]plog.Logs{interleaved(t, 1), interleaved(t, interleavedRuns)}
	var ratios []float64
	for pair := range interleavedPairs {
		runtime.GC() // else a pair pays for the one before
		var took [2]time.Duration
		for i := range batches {
			which := (i + pair) % 2
			took[which] = costOf(t, p, batches[which])
		}
		if pair >= interleavedLearn {
			ratios = append(ratios, took[1].Seconds()/took[0].Seconds())
		}
	}
	return median(ratios)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// BenchmarkInterleaved is the cost of a batch of a thousand records, the copy of it included.
func BenchmarkInterleaved(b *testing.B) {
	for _, runs := range []int{1, interleavedRuns} {
		b.Run(fmt.Sprintf("runs_%d", runs), func(b *testing.B) {
			p, err := NewFactory().CreateLogs(b.Context(), processortest.NewNopSettings(metadata.Type), createDefaultConfig(), consumertest.NewNop())
			require.NoError(b, err)
			batch := interleaved(b, runs)
			b.ReportAllocs()
			for b.Loop() {
				costOf(b, p, batch)
			}
		})
	}
}
