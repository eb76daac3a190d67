package trainjsonlreceiver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver"

	"github.com/pathologize/otelcol-train/internal/trainlines"
	"github.com/pathologize/otelcol-train/receiver/trainjsonlreceiver/internal/metadata"
)

// streamText gives a thousand lines as trainers write them: nine of a step, then one of an epoch.
func streamText() string {
	var text strings.Builder
	for i := range maxBatch {
		if i%10 != 9 {
			fmt.Fprintf(&text, `{"ts":"2026-11-29T10:00:%02d.%06dZ","severity":"DEBUG","event":"step.end","run_id":"run-000000-9acb0442","phase":"train",`+
				`"body":{"step":%d,"measurements":{"train/loss":2.02%05d},"learning_rate":{"pg0":0.001}}}`+"\n", i%60, i, i, i)
			continue
		}
		fmt.Fprintf(&text, `{"ts":"2026-11-29T10:00:%02d.%06dZ","severity":"INFO","event":"epoch.end","run_id":"run-000000-9acb0442","framework":"ultralytics",`+
			`"phase":"validation","trace_id":"78629a0f5f3f164fd5104dc76695721d","span_id":"a584c47f2cdf5b8a","body":{"epoch":%d,"learning_rate":{"pg0":0.001},`+
			`"durations":{"epoch_s":40.297},"samples":118287,"measurements":{"train/loss":2.06%05d,"val/loss":2.27193,"val/map50":0.02105},`+
			`"checkpoint":{"path":"weights/%d.pt"},"best":{"epoch":%d,"value":0.02105}}}`+"\n", i%60, i, i/10, i, i/10, i/10)
	}
	return text.String()
}

// heavyText gives a thousand steps with nearly all that a step may have.
func heavyText() string {
	var text strings.Builder
	for i := range maxBatch {
		fmt.Fprintf(&text, `{"ts":"2026-11-29T10:00:%02d.123456Z","event":"step.end","run_id":"run-7","framework":"pytorch","phase":"train",`+
			`"body":{"step":%d,"epoch":3,"measurements":{"train/loss":0.%d},"learning_rate":{"default":0.0003},"durations":{"batch_s":0.31}}}`+"\n", i%60, i, i)
	}
	return text.String()
}

// rowText gives a thousand rows of a framework, behind a launcher's prefix.
func rowText() string {
	var text strings.Builder
	for i := range maxBatch {
		fmt.Fprintf(&text, `[rank0]: {"loss": 2.%d, "grad_norm": 5.918273448944092, "learning_rate": 4.3333333e-05, "epoch": 0.5, "step": %d}`+"\n", i, i)
	}
	return text.String()
}

// logText gives a thousand lines of text as trainers print it.
func logText() string {
	return strings.Repeat("2026-11-29 13:27:26,029 - INFO - Epoch 3: loss 0.53, saved to weights/3.pt\n  5%|▌         | 1/20 [00:01<00:19,  1.02s/it]\n", maxBatch/2)
}

var benchSource = source{path: "/runs/run-7/train.jsonl", id: pathID{run: "run-7", rank: -1}}

// BenchmarkBuild is the cost of a record from bytes to log data; allocations are per batch of 1,000.
func BenchmarkBuild(b *testing.B) {
	for name, text := range map[string]string{"stream": streamText(), "heavy": heavyText(), "rows": rowText(), "text": logText()} {
		b.Run(name, func(b *testing.B) {
			lines, _ := cut(nil, []byte(text), 0, 1<<20, maxBatch)
			list, err := trainlines.CompilePrefixes([]string{trainlines.PrefixesKnown})
			require.NoError(b, err)
			builders := newBuilders(trainlines.Options{Prefixes: list})
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if got := builders.build(benchSource, lines).batches[0]; got.records+got.objects+len(got.bad) != maxBatch {
					b.Fatal(got.records)
				}
			}
		})
	}
}

// BenchmarkRunsInOneFile reads 10,000 lines, with nothing behind the receiver, from the file to the acknowledged offset.
func BenchmarkRunsInOneFile(b *testing.B) {
	for _, runs := range []int{1, 2, 8, 100} {
		b.Run(strconv.Itoa(runs), func(b *testing.B) {
			const lines = 10_000
			var text strings.Builder
			for i := range lines {
				fmt.Fprintf(&text, `{"ts":1790000000,"event":"step.end","run_id":"run-%d","body":{"step":%d,"measurements":{"train/loss":0.5}}}`+"\n", i%runs, i)
			}
			path := filepath.Join(b.TempDir(), "train.jsonl")
			require.NoError(b, os.WriteFile(path, []byte(text.String()), 0o600))
			b.SetBytes(int64(text.Len()))
			calls := 0
			for b.Loop() {
				calls = readFile(b, path, lines)
			}
			b.ReportMetric(float64(calls), "calls/op")
		})
	}
}

// readFile reads a file from its start and gives the number of calls that took.
func readFile(b *testing.B, path string, lines int) (calls int) {
	b.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.Include = []string{path}
	got := 0
	next, err := consumer.NewLogs(func(_ context.Context, ld plog.Logs) error {
		calls++
		got += ld.LogRecordCount()
		return nil
	})
	require.NoError(b, err)
	one, err := newReceiver(receiver.Settings{
		ID: component.NewID(metadata.Type()), TelemetrySettings: componenttest.NewNopTelemetrySettings(),
	}, cfg, next)
	require.NoError(b, err)
	t, err := one.newTailer(componenttest.NewNopHost())
	require.NoError(b, err)
	t.client, t.lookers.inline, t.spawn = storage.NewNopClient(), true, func(search func()) { search() }
	t.step(context.Background())
	require.Equal(b, lines, got)
	t.handles.closeAll()
	return calls
}
