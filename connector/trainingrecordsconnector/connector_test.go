package trainingrecordsconnector

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/pathologize/otelcol-train/connector/trainingrecordsconnector/internal/metadata"
	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func TestComponent(t *testing.T) {
	t.Parallel()
	componentcheck.Run(t, NewFactory())
}

// next takes records, or refuses them.
type next struct {
	consumertest.LogsSink

	refuses atomic.Bool
}

var errFull = errors.New("full")

func (n *next) ConsumeLogs(ctx context.Context, ld plog.Logs) error {
	if n.refuses.Load() {
		return errFull
	}
	return n.LogsSink.ConsumeLogs(ctx, ld)
}

type bench struct {
	*records

	next *next
	tel  *componenttest.Telemetry
	log  *observer.ObservedLogs
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{next: &next{}, tel: componenttest.NewTelemetry()}
	t.Cleanup(func() { assert.NoError(t, b.tel.Shutdown(context.Background())) })
	var core, logs = observer.New(zap.DebugLevel)
	set := connector.Settings{ID: component.NewID(metadata.Type), TelemetrySettings: b.tel.NewTelemetrySettings(), BuildInfo: component.NewDefaultBuildInfo()}
	set.Logger, b.log = zap.New(core), logs
	c, err := NewFactory().CreateMetricsToLogs(t.Context(), set, createDefaultConfig(), b.next)
	require.NoError(t, err)
	b.records = c.(*records)
	return b
}

// gauge is an export of a loss and its step.
func gauge(at time.Time, step int64, loss float64) pmetric.Metrics {
	md := pmetric.NewMetrics()
	rm := md.ResourceMetrics().AppendEmpty()
	rm.Resource().Attributes().PutStr("run_id", "r")
	rm.Resource().Attributes().PutStr(trainrecord.AttrRunAttempt, "1")
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName("tunix")
	for name, value := range map[string]float64{"step": float64(step), "loss": loss} {
		m := sm.Metrics().AppendEmpty()
		m.SetName("tunix.training." + name)
		dp := m.SetEmptyGauge().DataPoints().AppendEmpty()
		dp.SetTimestamp(pcommon.NewTimestampFromTime(at))
		dp.SetDoubleValue(value)
		dp.Attributes().PutStr("tunix.training.mode", "train")
	}
	return md
}

// expected is the answer of the case.
type expected struct {
	Steps []struct {
		After   string
		Arrival string
		Records []map[string]any
	}
	SelfMetrics map[string]int64 `json:"self_metrics"`
	Resource    map[string]any   `json:"resource_attributes_kept"`
}

func TestSynchronousGaugesOfTunix(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	data, err := os.ReadFile("testdata/tunix-gauges/expected.json")
	require.NoError(t, err)
	var want expected
	require.NoError(t, json.Unmarshal(data, &want))
	uids := map[string]bool{}
	for _, step := range want.Steps {
		arrival, err := strconv.ParseInt(step.Arrival, 10, 64)
		require.NoError(t, err)
		b.now = func() time.Time { return time.Unix(0, arrival) }
		input, err := os.ReadFile(filepath.Join("testdata/tunix-gauges", step.After))
		require.NoError(t, err)
		md, err := (&pmetric.JSONUnmarshaler{}).UnmarshalMetrics(input)
		require.NoError(t, err)
		b.tick(t.Context())
		require.NoError(t, b.ConsumeMetrics(t.Context(), md))
		assert.ElementsMatch(t, step.Records, b.took(t, want.Resource, uids), step.After)
	}
	got := strings.Join(componentcheck.FormatTelemetry(t, b.tel, "otelcol_training_records_"), "\n")
	for name, n := range want.SelfMetrics {
		metric, result, _ := strings.Cut(strings.TrimSuffix(name, "}"), "{result=")
		assert.Contains(t, got+"\n", `otelcol_training_records_`+metric+`{connector="training_records",result="`+result+`"} `+strconv.FormatInt(n, 10)+"\n")
	}
}

// took gives the records that the next consumer took since, decoded to the form of the case.
func (b *bench) took(t *testing.T, resource map[string]any, uids map[string]bool) []map[string]any {
	t.Helper()
	all := []map[string]any{}
	for _, ld := range b.next.AllLogs() {
		for _, rl := range ld.ResourceLogs().All() {
			assert.Equal(t, resource, rl.Resource().Attributes().AsRaw())
			for _, lr := range rl.ScopeLogs().At(0).LogRecords().All() {
				r, ok := trainrecord.FromLog(rl.Resource(), lr)
				require.True(t, ok)
				assert.True(t, r.Sampled)
				assert.False(t, uids[r.UID], "%s is not unique", r.UID)
				uids[r.UID] = true
				body, err := json.Marshal(r.Body.AsRaw())
				require.NoError(t, err)
				var asJSON map[string]any
				require.NoError(t, json.Unmarshal(body, &asJSON))
				m := map[string]any{"ts_unix_nano": strconv.FormatInt(int64(r.Time), 10), "event": r.Event, "run_id": r.RunID, "framework": r.Framework, "body": asJSON}
				if r.Phase != "" {
					m["phase"] = r.Phase
				}
				all = append(all, m)
			}
		}
	}
	b.next.Reset()
	return all
}

func TestARefusedCallGivesTheSameRecordsAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	at := time.Unix(1_795_168_800, 0)
	b.next.refuses.Store(true)
	require.ErrorIs(t, b.ConsumeMetrics(t.Context(), gauge(at, 1, 2.5)), errFull)
	assert.Zero(t, b.rows.Load())
	b.next.refuses.Store(false)
	require.NoError(t, b.ConsumeMetrics(t.Context(), gauge(at, 1, 2.5)))
	require.Equal(t, 1, b.next.LogRecordCount())
	rl := b.next.AllLogs()[0].ResourceLogs().At(0)
	assert.Equal(t, map[string]any{"run_id": "r"}, rl.Resource().Attributes().AsRaw(), "no name of the vocabulary stands on a resource")
	first, _ := rl.ScopeLogs().At(0).LogRecords().At(0).Attributes().Get(trainrecord.AttrLogRecordUID)
	other := newBench(t) // as after a restart
	require.NoError(t, other.ConsumeMetrics(t.Context(), gauge(at, 1, 2.5)))
	again, _ := other.next.AllLogs()[0].ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Attributes().Get(trainrecord.AttrLogRecordUID)
	assert.Equal(t, first.Str(), again.Str())
	assert.Regexp(t, `^r/m[0-9a-f]+-[0-9a-f]{8}$`, first.Str())
}

func TestWhatIsHeldIsSentAfterAMinuteWithoutARow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		require.NoError(t, b.Start(t.Context(), componenttest.NewNopHost()))
		start := time.Now()
		for i, loss := range []float64{2.5, 2.25} {
			require.NoError(t, b.ConsumeMetrics(t.Context(), gauge(start.Add(time.Duration(i)*time.Second), 1, loss)))
		}
		assert.Equal(t, 1, b.next.LogRecordCount())
		time.Sleep(59500 * time.Millisecond)
		assert.Equal(t, 1, b.next.LogRecordCount())
		b.next.refuses.Store(true)
		time.Sleep(2 * time.Second)
		assert.Equal(t, 1, b.log.FilterMessage("Next consumer refuses records, trying again").Len())
		require.NoError(t, b.ConsumeMetrics(t.Context(), pmetric.NewMetrics()))
		synctest.Wait()
		b.next.refuses.Store(false)
		time.Sleep(time.Second)
		assert.Equal(t, 2, b.next.LogRecordCount())
		require.NoError(t, b.Shutdown(t.Context()))
	})
}

func TestWhatIsHeldIsSentAtShutdown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.NoError(t, b.Start(t.Context(), componenttest.NewNopHost()))
	start := time.Now()
	require.NoError(t, b.ConsumeMetrics(t.Context(), gauge(start, 1, 2.5)))
	require.NoError(t, b.ConsumeMetrics(t.Context(), gauge(start.Add(time.Second), 1, 2.25)))
	require.NoError(t, b.Shutdown(t.Context()))
	assert.Equal(t, 2, b.next.LogRecordCount())
}

func TestConfigSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	err := (&Config{Profiles: []string{"", "a", "a"}, RunIDFrom: []string{""}}).Validate()
	for _, want := range []string{
		"profiles[0]: want the path of a profile", "profiles[2]: a is listed twice", "run_id_from[0]: want the key",
		"row_tolerance: want a duration above 0", "heartbeat_interval: want a duration above 0", "limits.rows: want a number above 0",
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = (&Config{Profiles: []string{"testdata/none.yaml"}}).profiles()
	require.ErrorContains(t, err, "profiles[0]: open testdata/none.yaml")
}
