package dvcresultexporter

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/exporter"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/metadata"
	"github.com/pathologize/otelcol-train/internal/componentcheck"
)

// TestWhatTheStorageRefusedIsStoredWithoutItsSender: one that gives up must not stop the verdicts of all other runs.
func TestWhatTheStorageRefusedIsStoredWithoutItsSender(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		a, b := wholeRun("a"), wholeRun("b")
		r.feed(a[:3]...)
		r.host.FailWrites(errors.New("full"))
		err := r.exp.consumeLogs(t.Context(), logsOf(t, b[:3]...))
		require.ErrorContains(t, err, "append the records of 1 runs")
		require.ErrorContains(t, r.exp.consumeLogs(t.Context(), logsOf(t, a[3])), "append the records of 2 runs")
		assert.Equal(t, 1, r.logs.FilterMessageSnippet("takes no records").Len())
		pass(time.Hour)
		assert.Nil(t, r.files("a"), "the storage is at fault, not the runs")
		r.host.FailWrites(nil)
		pass(10 * time.Second)
		pass(30 * time.Minute)
		r.says("a", "stalled", true, true)
		r.says("b", "stalled", true, true)
		assert.Equal(t, 4, r.count("a"), "the record whose sender was refused is stored")
		r.kill()
		r.start()
		defer r.stop()
		r.feed(line{a[6].text, a[6].place})
		pass(time.Minute)
		assert.Equal(t, 5, r.count("a"))
	})
}

func TestAStoppedEngineAcknowledgesNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		eng := r.exp.engine
		r.stop()
		require.ErrorIs(t, eng.consume(t.Context(), logsOf(t, wholeRun("a")...)), errStopped)
	})
}

// hang lets every write of the storage wait until the channel is closed.
func (r *rig) hang() chan struct{} {
	gate := make(chan struct{})
	r.host.Fail(func(call componentcheck.StorageCall) error {
		if call.Writes {
			<-gate
		}
		return nil
	})
	return gate
}

func TestAStorageThatHangsHoldsNobodyLongerThanTheirContext(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.feed(wholeRun("a")[:3]...)
		assert.Equal(t, "1", r.metric(`otelcol_dvc_result_runs{state="open"}`))
		gate := r.hang()
		done := make(chan error, 1)
		go func() { done <- r.exp.consumeLogs(context.Background(), logsOf(t, wholeRun("b")...)) }()
		pass(2 * time.Second)

		assert.Equal(t, "1", r.metric(`otelcol_dvc_result_runs{state="open"}`), "the self-metrics do not wait for the storage")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		refused := make(chan error, 3*maxWaiting)
		for range 3 * maxWaiting {
			go func() { refused <- r.exp.consumeLogs(ctx, logsOf(t, wholeRun("c")...)) }()
		}
		pass(time.Second)
		assert.Len(t, refused, 2*maxWaiting, "those beyond are refused at once")
		for range 2 * maxWaiting {
			require.ErrorIs(t, <-refused, errBusy)
		}
		pass(time.Minute)
		assert.Len(t, refused, maxWaiting)
		require.ErrorIs(t, <-refused, context.DeadlineExceeded)

		end, cancelEnd := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancelEnd()
		began := time.Now()
		require.ErrorIs(t, r.exp.shutdown(end), context.DeadlineExceeded)
		assert.Equal(t, 5*time.Second, time.Since(began))
		close(gate)
		require.NoError(t, <-done)
		require.NoError(t, r.tel.Shutdown(context.Background()))
	})
}

// TestRefusedCallsAreNotLoggedOneByOne: exporterhelper has an error line for each of them.
func TestRefusedCallsAreNotLoggedOneByOne(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	core, logs := observer.New(zap.DebugLevel)
	set := exporter.Settings{ID: component.NewID(metadata.Type), TelemetrySettings: componenttest.NewNopTelemetrySettings()}
	set.Logger = zap.New(core)
	cfg := createDefaultConfig().(*Config)
	cfg.Directory = t.TempDir()
	id := host.StorageID()
	cfg.StorageID = &id
	exp, err := NewFactory().CreateLogs(t.Context(), set, cfg)
	require.NoError(t, err)
	require.NoError(t, exp.Start(t.Context(), host))
	host.FailWrites(errors.New("full"))
	for range 20 {
		require.Error(t, exp.ConsumeLogs(t.Context(), logsOf(t, wholeRun("a")...)))
	}
	assert.Equal(t, 1, logs.FilterLevelExact(zap.ErrorLevel).Len())
	host.FailWrites(nil)
	require.NoError(t, exp.Shutdown(t.Context()))
}
