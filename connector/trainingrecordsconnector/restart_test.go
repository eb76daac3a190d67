package trainingrecordsconnector

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// begin starts a connector with a storage.
func begin(t *testing.T, host *componentcheck.StorageHost) *bench {
	t.Helper()
	b := newBench(t)
	id := host.StorageID()
	b.storage = &id
	require.NoError(t, b.Start(t.Context(), host))
	t.Cleanup(func() { assert.NoError(t, b.Shutdown(context.Background())) })
	return b
}

func TestAKillLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	start := time.Unix(1_795_168_800, 0)
	first := begin(t, host)
	for i, step := range []int64{1, 2, 2} { // the last loss is held
		require.NoError(t, first.ConsumeMetrics(t.Context(), gauge(start.Add(time.Duration(i)*time.Second), step, 3-float64(i))))
	}
	require.Equal(t, 2, first.next.LogRecordCount())
	host.Crash()

	second := begin(t, host)
	require.NoError(t, second.ConsumeMetrics(t.Context(), gauge(start.Add(2*time.Second), 2, 1)))
	assert.Zero(t, second.next.LogRecordCount(), "it came before")
	require.NoError(t, second.ConsumeMetrics(t.Context(), gauge(start.Add(3*time.Second), 2, 1)))
	require.Equal(t, 1, second.next.LogRecordCount())
	rl := second.next.AllLogs()[0].ResourceLogs().At(0)
	r, ok := trainrecord.FromLog(rl.Resource(), rl.ScopeLogs().At(0).LogRecords().At(0))
	require.True(t, ok)
	assert.Equal(t, start.Add(2*time.Second).UTC(), r.Time.AsTime())
	assert.Equal(t, map[string]any{"step": int64(2), "measurements": map[string]any{"train/loss": 1.0}}, r.Body.AsRaw())
	assert.Equal(t, map[string]any{"run_id": "r"}, rl.Resource().Attributes().AsRaw())
}

func TestTheStorageHoldsNoSecrets(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	start := time.Unix(1_795_168_800, 0)
	first := begin(t, host)
	planted := func(at time.Time, step int64, loss float64) pmetric.Metrics {
		md := gauge(at, step, loss)
		attrs := md.ResourceMetrics().At(0).Resource().Attributes()
		attrs.PutStr("process.command_line", "train.py --password planted --lr 0.1")
		attrs.PutStr("api_key", "planted")
		attrs.PutStr("service.name", "s")
		return md
	}
	for i, step := range []int64{1, 2, 2} { // the last loss is held
		require.NoError(t, first.ConsumeMetrics(t.Context(), planted(start.Add(time.Duration(i)*time.Second), step, 3-float64(i))))
	}
	stored := 0
	for i := range trainprofile.GaugeShards {
		value, err := first.client.Get(t.Context(), shardKey(i))
		require.NoError(t, err)
		stored += len(value)
		assert.NotContains(t, string(value), "planted")
	}
	assert.Positive(t, stored)
	componentcheck.AssertTelemetry(t, first.tel, "otelcol_training_records_masked_values", `otelcol_training_records_masked_values{connector="training_records"} 2`)
	host.Crash()

	second := begin(t, host)
	require.NoError(t, second.ConsumeMetrics(t.Context(), planted(start.Add(3*time.Second), 2, 1)))
	require.Equal(t, 1, second.next.LogRecordCount())
	assert.Equal(t, map[string]any{"run_id": "r", "process.command_line": "train.py --password *** --lr 0.1", "api_key": "***", "service.name": "s"},
		second.next.AllLogs()[0].ResourceLogs().At(0).Resource().Attributes().AsRaw())
}

func TestAStorageThatRefusesIsWrittenLater(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	start := time.Unix(1_795_168_800, 0)
	first := begin(t, host)
	host.FailWrites(errors.New("disk full"))
	require.NoError(t, first.ConsumeMetrics(t.Context(), gauge(start, 1, 3)))
	assert.Equal(t, 1, first.next.LogRecordCount())
	assert.Equal(t, 1, first.log.FilterMessageSnippet("Storage refuses").Len())
	host.FailWrites(nil)
	require.NoError(t, first.ConsumeMetrics(t.Context(), gauge(start, 1, 3)))
	host.Crash()
	second := begin(t, host)
	require.NoError(t, second.ConsumeMetrics(t.Context(), gauge(start, 1, 3)))
	assert.Zero(t, second.next.LogRecordCount())
}

func TestADamagedStorageIsIgnoredAndAMissingOneIsSaid(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	b := begin(t, host)
	for shard := range 64 {
		require.NoError(t, b.client.Set(t.Context(), shardKey(shard), []byte{1, 2, 3}))
	}
	host.Crash()
	again := begin(t, host)
	assert.Equal(t, 64, again.log.FilterMessageSnippet("damaged").Len())

	missing := newBench(t)
	id := component.MustNewID("none")
	missing.storage = &id
	require.ErrorContains(t, missing.Start(t.Context(), componenttest.NewNopHost()), "storage: extension none is not configured")
}
