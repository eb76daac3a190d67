package trainingnormprocessor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/processor/trainingnormprocessor/internal/metadata"
)

const storageClient = "processor_training_norm_logs"

var (
	errBusy = errors.New("busy")
	errFull = errors.New("disk full")

	lightningLoss = map[string]any{"train_loss": 0.5, "epoch": 0, "step": 49}
)

// process is one life of the processor.
type process struct {
	processor.Logs

	tel  *componenttest.Telemetry
	seen []plog.Logs                 // what the next consumer took
	next func(ld plog.Logs) error    // its answer; nil takes everything
	host *componentcheck.StorageHost // nil: without storage
}

// begin starts a processor as a new process does: with a factory of its own.
func begin(t require.TestingT, host *componentcheck.StorageHost) *process {
	p := &process{host: host, tel: componenttest.NewTelemetry()}
	set := processortest.NewNopSettings(metadata.Type)
	set.ID = componentID("")
	set.TelemetrySettings = p.tel.NewTelemetrySettings()
	cfg := createDefaultConfig().(*Config)
	if host != nil {
		id := host.StorageID()
		cfg.Storage = &id
	}
	next, err := consumer.NewLogs(func(_ context.Context, ld plog.Logs) error {
		if p.next != nil {
			if err := p.next(ld); err != nil {
				return err
			}
		}
		p.seen = append(p.seen, ld)
		return nil
	})
	require.NoError(t, err)
	p.Logs, err = NewFactory().CreateLogs(context.Background(), set, cfg, next)
	require.NoError(t, err)
	if host != nil {
		require.NoError(t, p.Start(context.Background(), host))
	}
	return p
}

// end stops it in order.
func (p *process) end(t require.TestingT) {
	require.NoError(t, p.Shutdown(context.Background()))
	require.NoError(t, p.tel.Shutdown(context.Background()))
}

// kill ends it as kill -9 does: the storage has what was written, nothing more.
func (p *process) kill(t require.TestingT) {
	if p.host != nil {
		p.host.Crash()
	}
	require.NoError(t, p.tel.Shutdown(context.Background()))
}

func TestARestartLosesNoRow(t *testing.T) {
	t.Parallel()
	rows := []row{
		{file: "a", offset: 0, body: map[string]any{"lr-Adam": 0.1, "step": 0}},
		{file: "a", offset: 30, body: lightningLoss},
		{file: "a", offset: 80, body: lightningLoss},
		{file: "a", offset: 130, body: lightningLoss},
	}
	host := componentcheck.NewStorageHost(t)
	p := begin(t, host)
	require.NoError(t, p.ConsumeLogs(t.Context(), batch(t, rows[:2]...)))
	p.kill(t)
	p = begin(t, host)
	after := batch(t, rows[2:]...)
	require.NoError(t, p.ConsumeLogs(t.Context(), after))
	p.end(t)
	assert.Equal(t, []string{"lightning", "lightning"}, frameworks(after))
}

// written is a stream as its trainer writes it.
type written struct {
	file string
	rows []row
}

// mllog is a row that is surely MLPerf's; block_start says how its stream counts epochs.
func mllog(key, name string, value int) map[string]any {
	return map[string]any{
		"namespace": "", "time_ms": 1790000000000, "event_type": "INTERVAL_END", "key": key, "value": nil,
		"metadata": map[string]any{name: value},
	}
}

// write draws a stream: rows of several frameworks, rows that only earlier ones explain, and records.
func write(t *rapid.T, file string, n int) written {
	kinds := []map[string]any{
		huggingFaceRow, lightningRow, plainRow, plainRow, lightningLoss, {"note": "text"}, {"val_loss": 0.5, "epoch": 1, "step": 3}, nil,
		{"epoch": 1, "train_loss": 0.5}, {"epoch": 2, "train_loss": 0.5}, {"config": map[string]any{"lr": 0.1}, "epoch": 0},
		mllog("block_start", "first_epoch_num", 0), mllog("epoch_stop", "epoch_num", 3), mllog("block_start", "first_epoch_num", 1),
		{"epoch": 0, "train/box_loss": 0.5}, {"epoch": 1, "train/box_loss": 0.5},
	}
	w := written{file: file}
	start := rapid.SampledFrom([]int64{0, 0, 3, 8}).Draw(t, "start") // behind a byte order mark, or blank lines
	offset := start
	first := rapid.IntRange(0, 3).Draw(t, "first line")
	for range n {
		r := row{file: file, offset: offset, body: rapid.SampledFrom(kinds).Draw(t, "row")}
		if r.body == nil && offset == start {
			r.body = kinds[0] // a file that begins with a record twice has two first lines: records have times
		}
		r.uid = trainrecord.UID{RunID: file, File: uint32(first), Offset: offset}.String() //nolint:gosec // small
		w.rows = append(w.rows, r)
		offset += 50
	}
	return w
}

// build makes the batch that a receiver builds of rows; those without a body are records already.
func build(t testing.TB, rows []row) plog.Logs {
	ld := batch(t, rows...)
	for i, lr := range ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().All() {
		if rows[i].body == nil {
			lr.SetEventName(trainrecord.EventName(trainrecord.EventHeartbeat))
		}
	}
	return ld
}

// byOffset shows what became of each row.
func byOffset(t require.TestingT, into map[int64][]string, ld plog.Logs) {
	now := map[int64]string{}
	for _, lr := range ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().All() {
		text, err := json.Marshal([]any{lr.EventName(), lr.Attributes().AsRaw(), lr.Body().AsRaw()}) // maps sorted
		require.NoError(t, err)
		v, _ := lr.Attributes().Get(trainrecord.AttrLogFileRecordOffset)
		now[v.Int()] += string(text)
	}
	for offset, text := range now {
		into[offset] = append(into[offset], text)
	}
}

// TestKilledAnywhereItMapsAsUndisturbed reads streams with a checkpoint, as a receiver does, and lets the storage refuse,
// the next consumer refuse, and the process die at any place. Whatever is delivered, once or again, is what a process that
// nothing happened to delivers.
func TestKilledAnywhereItMapsAsUndisturbed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		host := componentcheck.NewStorageHost(t)
		calm := begin(rt, nil)
		p := begin(rt, host)
		defer func() { p.end(rt); calm.end(rt) }()
		for generation := range rapid.IntRange(1, 3).Draw(rt, "generations") {
			for _, file := range []string{"a", "b"} {
				w := write(rt, file, rapid.IntRange(1, 8).Draw(rt, "rows"))
				want, got := map[int64][]string{}, map[int64][]string{}
				ld := build(t, w.rows)
				require.NoError(rt, calm.ConsumeLogs(t.Context(), ld))
				byOffset(rt, want, ld)
				p = deliver(t, rt, p, w, got)
				require.Equal(rt, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)))
				for offset, all := range got {
					for _, text := range all {
						require.Equal(rt, want[offset][0], text, "generation %d, file %s, offset %d", generation, file, offset)
					}
				}
			}
		}
	})
}

// deliver hands a stream to a process until all is acknowledged; it gives the process that is alive then.
func deliver(t *testing.T, rt *rapid.T, p *process, w written, got map[int64][]string) *process {
	host := p.host
	for acknowledged := 0; acknowledged < len(w.rows); {
		n := rapid.IntRange(1, len(w.rows)-acknowledged).Draw(rt, "batch")
		ld := build(t, w.rows[acknowledged:acknowledged+n])
		p.seen, p.next = nil, nil
		event := rapid.SampledFrom([]string{"", "", "storage refuses", "next refuses", "killed before", "killed after"}).Draw(rt, "event")
		switch event {
		case "storage refuses":
			host.FailWrites(errFull)
		case "next refuses", "killed before":
			p.next = func(plog.Logs) error { return errBusy }
		}
		err := p.ConsumeLogs(t.Context(), ld)
		host.FailWrites(nil)
		for _, taken := range p.seen {
			byOffset(rt, got, taken)
		}
		if event == "killed before" || event == "killed after" {
			p.kill(rt)
			p = begin(rt, host)
			continue
		}
		if err == nil {
			acknowledged += n
		}
	}
	return p
}

func TestADecisionIsStoredBeforeItsBatchGoesOn(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	p := begin(t, host)
	defer p.end(t)
	p.next = func(plog.Logs) error {
		assert.NotEmpty(t, host.Data(storageClient))
		return nil
	}
	require.NoError(t, p.ConsumeLogs(t.Context(), batch(t, row{file: "a", offset: 40, body: lightningRow})))
	assert.Len(t, p.seen, 1)
}

func TestOnlyNewAndChangedDecisionsAreWritten(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	p := begin(t, host)
	defer p.end(t)
	writes := func() (n int) {
		for _, call := range host.Calls() {
			if call.Writes {
				n++
			}
		}
		return n
	}
	for i, step := range []struct {
		rows []row
		want int
	}{
		{[]row{{file: "a", offset: 0, body: plainRow}, {file: "b", offset: 0, body: plainRow}}, 1}, // they have begun
		{[]row{{file: "a", offset: 9, body: lightningRow}, {file: "b", offset: 9, body: huggingFaceRow}}, 2},
		{[]row{{file: "a", offset: 20, body: lightningRow}, {file: "b", offset: 20, body: plainRow}}, 2},
		{[]row{{file: "a", offset: 0, body: plainRow}}, 3},                                               // written again
		{[]row{{file: "a", offset: 9, body: huggingFaceRow}}, 4},                                         // another framework
		{[]row{{file: "b", offset: 0, body: plainRow}, {file: "b", offset: 9, body: huggingFaceRow}}, 4}, // the same again
	} {
		require.NoError(t, p.ConsumeLogs(t.Context(), batch(t, step.rows...)))
		assert.Equal(t, step.want, writes(), "step %d", i)
	}
}

func TestFullStorageHasTheBatchOfferedAgain(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(plog.Logs) plog.Logs{
		"built anew":     func(plog.Logs) plog.Logs { return batch(t, row{file: "a", offset: 40, body: lightningRow}) },
		"the same again": func(ld plog.Logs) plog.Logs { return ld },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := componentcheck.NewStorageHost(t)
			p := begin(t, host)
			defer p.end(t)
			host.FailWrites(errFull)
			ld := batch(t, row{file: "a", offset: 40, body: lightningRow})
			for range 2 {
				err := p.ConsumeLogs(t.Context(), ld)
				require.ErrorIs(t, err, errFull)
				assert.False(t, isPermanent(err))
				assert.Empty(t, p.seen)
				ld = again(ld)
			}
			other := batch(t, row{file: "b", offset: 40, body: plainRow})
			require.NoError(t, p.ConsumeLogs(t.Context(), other), "what needs no write goes on")
			host.FailWrites(nil)
			require.NoError(t, p.ConsumeLogs(t.Context(), ld))
			assert.Len(t, p.seen, 2)
			assert.Len(t, host.Data(storageClient), 1)
			lines := componentcheck.FormatTelemetry(t, p.tel, "otelcol_training_norm_")
			assert.Contains(t, lines, series("storage_errors", `reason="write"`)+" 2")
			assert.Contains(t, lines, series("detections", `profile="lightning"`)+" 1")
			if name == "built anew" {
				assert.Contains(t, lines, series("mapped", `profile="lightning"`)+" 1")
			}
		})
	}
}

// series spells a self-metric; attribute is one that sorts behind processor.
func series(noun, attribute string) string {
	return fmt.Sprintf(`otelcol_training_norm_%s{processor="training_norm",%s}`, noun, attribute)
}
