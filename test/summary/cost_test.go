package summary

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// alone skips a measurement that tests beside it would be part of.
func alone(t *testing.T) {
	t.Helper()
	if os.Getenv("OTELCOL_TRAIN_MEASURE") == "" {
		t.Skip("NOT TESTED here: what runs beside it is measured, too; make bench-gate runs it by itself")
	}
}

// TestItsCPUBesideThatOfDecoding compares the command, from its start to its end, with what decoding the same lines costs.
func TestItsCPUBesideThatOfDecoding(t *testing.T) {
	alone(t)
	for name, c := range map[string]struct {
		write func(t *testing.T, dir string) []byte
		limit float64 // a quarter above what is reached or wanted
	}{
		"one stream of 64 MiB":       {func(t *testing.T, dir string) []byte { return writeSteps(t, dir, 64<<20) }, 1.875}, // wanted: 1.5
		"1,000 finished runs":        {writeRuns, 3.75},
		"10 MiB, with start and end": {func(t *testing.T, dir string) []byte { return writeSteps(t, dir, 10<<20) }, 2.2}, // wanted: 100 ms where 1 GiB takes 6 s
	} {
		dir := t.TempDir()
		text := c.write(t, dir)
		var ratios []float64
		for len(ratios) < 3 || middle(ratios) > c.limit && len(ratios) < 9 { // neighbours only make it worse
			decoding := decodingCPU(text)
			whole := commandCPU(t, dir)
			ratios = append(ratios, whole.Seconds()/decoding.Seconds())
			t.Logf("%s: decoding %d ms, the command %d ms", name, decoding.Milliseconds(), whole.Milliseconds())
		}
		t.Logf("%s: %.2f times the CPU of decoding, median of %.2f, limit %g", name, middle(ratios), ratios, c.limit)
		assert.LessOrEqual(t, middle(ratios), c.limit, name)
	}
}

// middle is the median of an odd number of values, the lower one of an even number.
func middle(values []float64) float64 {
	return slices.Sorted(slices.Values(values))[(len(values)-1)/2]
}

// TestAnIdleWaitCostsNothing compares a long wait with a short one: what starting costs is in both.
func TestAnIdleWaitCostsNothing(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	appendLine(t, filepath.Join(dir, "train.jsonl"), `{"ts":"`+time.Now().UTC().Format(time.RFC3339)+`","event":"epoch.end","run_id":"r","body":{"epoch":1}}`)
	const short, long = 1, 21
	var shares []float64
	for len(shares) < 1 || middle(shares) > 0.001 && len(shares) < 5 {
		cpu := map[int]time.Duration{}
		for _, s := range []int{short, long} {
			cpu[s] = commandCPU(t, "--wait-for", "epoch=99", "--timeout", fmt.Sprintf("%ds", s), dir)
		}
		share := (cpu[long] - cpu[short]).Seconds() / (long - short)
		shares = append(shares, share)
		t.Logf("an idle wait: %.3f %% of a core", 100*share)
	}
	assert.LessOrEqual(t, middle(shares), 0.001)
}

func commandCPU(t *testing.T, args ...string) time.Duration {
	t.Helper()
	c := exec.CommandContext(t.Context(), collector.Summary(t), args...)
	_ = c.Run() // a wait may time out
	require.Contains(t, []int{0, 124}, c.ProcessState.ExitCode())
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}

// decodingCPU is the decoder's benchmark: every line into a record of its own.
func decodingCPU(text []byte) time.Duration {
	d := trainrecord.NewDecoder(trainrecord.DecoderOptions{})
	logs := plog.NewLogRecordSlice()
	began := processCPU()
	for rest := text; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n')
		if logs.Len() == 1000 {
			logs = plog.NewLogRecordSlice()
		}
		d.Decode(rest[:i], logs.AppendEmpty())
		rest = rest[i+1:]
	}
	return processCPU() - began
}

func processCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // of the own process it cannot fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// writeSteps is a stream of steps, every hundredth an epoch.
func writeSteps(t *testing.T, dir string, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		head := fmt.Sprintf(`{"ts":%d.25,"run_id":"run-7","host":"node-01","rank":0,"phase":"train",`, 1790000000+i)
		loss := 2/(1+float64(i)/1e4) + float64(i%17)/1000
		if i%100 == 99 {
			fmt.Fprintf(&b, head+`"event":"epoch.end","body":{"epoch":%d,"step":%d,"learning_rate":{"pg0":%.6f},"durations":{"epoch_s":25.5},"measurements":{"train/loss":%.6f,"val/loss":%.6f}}}`+"\n",
				i/100, i, 0.001/(1+float64(i)/1e5), loss, loss+0.1)
			continue
		}
		fmt.Fprintf(&b, head+`"severity":"DEBUG","event":"step.end","body":{"epoch":%d,"step":%d,"measurements":{"train/loss":%.6f,"train/grad_norm":%.5f,"train/tokens_per_s":%d.5},"learning_rate":{"pg0":%.6f},"durations":{"step_s":0.25,"data_s":0.013}}}`+"\n",
			i/100, i, loss, 1+float64(i%13)/10, 51000+i%100, 0.001/(1+float64(i)/1e5))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "train.jsonl"), b.Bytes(), 0o600))
	return b.Bytes()
}

// writeRuns are 1,000 runs of 200 epochs that have ended.
func writeRuns(t *testing.T, dir string) []byte {
	t.Helper()
	var all bytes.Buffer
	for r := range 1000 {
		var b strings.Builder
		head := fmt.Sprintf(`"run_id":"run-%06d-1a2b3c4d","host":"node-%02d"`, r, r%16)
		fmt.Fprintf(&b, `{"ts":1790000000,"event":"run.start",%s,"body":{"planned_epochs":200,"objective":{"metric":"val/loss","mode":"min"}}}`+"\n", head)
		for e := range 200 {
			loss := 2 / (1 + float64(e)/100)
			fmt.Fprintf(&b, `{"ts":%d.5,"event":"epoch.end",%s,"phase":"train","body":{"epoch":%d,"step":%d,"learning_rate":{"pg0":0.001},"durations":{"epoch_s":12.5},"measurements":{"train/loss":%.5f,"val/loss":%.5f,"val/accuracy":%.4f}}}`+"\n",
				1790000013+13*e, head, e, 100*e, loss, loss+0.1, 0.5+float64(e)/500)
		}
		fmt.Fprintf(&b, `{"ts":1790002640,"event":"run.end",%s,"body":{"outcome":"success"}}`+"\n", head)
		run := filepath.Join(dir, fmt.Sprint(r))
		require.NoError(t, os.Mkdir(run, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(run, "train.jsonl"), []byte(b.String()), 0o600))
		all.WriteString(b.String())
	}
	return all.Bytes()
}
