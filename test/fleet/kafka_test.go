package fleet

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/ports"
)

// message is what Kafka holds: a batch of the rows of one run.
type message struct {
	key       string
	partition int32
	rows      plog.Logs
}

// messages reads the topic from its beginning until it has so many rows.
func (f *fleet) messages(rows int) []message {
	f.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(f.brokers), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	require.NoError(f.t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(f.t.Context(), within)
	defer cancel()
	var out []message
	for got := 0; got < rows && ctx.Err() == nil; {
		client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
			unmarshaler := plog.ProtoUnmarshaler{}
			ld, err := unmarshaler.UnmarshalLogs(r.Value)
			require.NoError(f.t, err)
			out = append(out, message{key: string(r.Key), partition: r.Partition, rows: ld})
			got += ld.LogRecordCount()
		})
	}
	return out
}

// TestARunHasOneKeyAndOnePartition, whatever host it is on, and its rows are in their order.
func TestARunHasOneKeyAndOnePartition(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.agents()
	f.writeAll(0, 10)
	f.writeAll(10, epochs)
	runs := runsOf(hosts)
	partitionOf, last, rows := map[string]int32{}, map[string]int64{}, map[string]int{}
	for _, m := range f.messages(len(runs) * (epochs + 2)) {
		assert.Contains(t, runs, m.key)
		if p, known := partitionOf[m.key]; known {
			assert.Equal(t, p, m.partition, m.key)
		}
		partitionOf[m.key] = m.partition
		for _, rl := range m.rows.ResourceLogs().All() {
			for _, sl := range rl.ScopeLogs().All() {
				for _, record := range sl.LogRecords().All() {
					offset, has := record.Attributes().Get("log.file.record_offset")
					require.True(t, has)
					if rows[m.key] > 0 {
						assert.Greater(t, offset.Int(), last[m.key], m.key)
					}
					last[m.key] = offset.Int()
					rows[m.key]++
				}
			}
		}
	}
	assert.Len(t, partitionOf, len(runs))
}

// TestGatewaysThatPassOnShareTheLoadAndLoseNothing when one of them is killed: at least once.
func TestGatewaysThatPassOnShareTheLoadAndLoseNothing(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	sink := otlpsink.Start(t, otlpsink.Accept)
	env := map[string]string{"BACKEND_ENDPOINT": sink.Endpoint(), "BACKEND_INSECURE": "true"}
	one := f.start("fleet-gateway-backend.yaml", "gateway-1", env)
	f.start("fleet-gateway-backend.yaml", "gateway-2", env)
	f.agents()
	f.writeAll(0, 8)
	require.Eventually(t, func() bool { return f.distinct(sink) >= 6*9 }, within, 50*time.Millisecond)
	one.Kill()
	f.writeAll(8, epochs)
	require.Eventually(t, func() bool { return f.distinct(sink) == 6*(epochs+2) }, within, 50*time.Millisecond)
}

// TestRowsWaitInTheTrainersFilesForKafka, also when an agent is killed while the brokers are away.
func TestRowsWaitInTheTrainersFilesForKafka(t *testing.T) {
	t.Parallel()
	address := ports.Free(t)
	_, number, err := net.SplitHostPort(address)
	require.NoError(t, err)
	port, err := strconv.Atoi(number)
	require.NoError(t, err)
	f := fleetAt(t, address)
	agent := f.start("fleet-agent.yaml", "host-a", nil)
	f.write("host-a", "run-a1", 0, 10)
	agent.WaitMetric("otelcol_train_jsonl_lag", nil, 1, within)
	agent.Kill()
	f.write("host-a", "run-a1", 10, epochs)
	agent.Start()
	agent.WaitMetric("otelcol_train_jsonl_lag", nil, 1, within)

	assert.Equal(t, address, f.broker(kfake.Ports(port)))
	offsets := map[int64]bool{}
	for _, m := range f.messages(epochs + 2) {
		for _, rl := range m.rows.ResourceLogs().All() {
			for _, sl := range rl.ScopeLogs().All() {
				for _, record := range sl.LogRecords().All() {
					offset, has := record.Attributes().Get("log.file.record_offset")
					require.True(t, has)
					offsets[offset.Int()] = true
				}
			}
		}
	}
	assert.Len(t, offsets, epochs+2)
}

// TestKafkaAndAgentsHoldWhatWaitsForABackend that is down; the gateway has it nowhere.
func TestKafkaAndAgentsHoldWhatWaitsForABackend(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	sink := otlpsink.Start(t, otlpsink.Unavailable)
	env := map[string]string{"BACKEND_ENDPOINT": sink.Endpoint(), "BACKEND_INSECURE": "true"}
	gateway := f.start("fleet-gateway-backend.yaml", "gateway-1", env)
	f.agents()
	f.writeAll(0, epochs)
	require.Eventually(t, func() bool { return sink.Refused() > 0 }, within, 50*time.Millisecond)
	gateway.Kill()
	sink.SetMode(otlpsink.Accept)
	assert.Zero(t, f.distinct(sink))
	f.start("fleet-gateway-backend.yaml", "gateway-2", env)
	require.Eventually(t, func() bool { return f.distinct(sink) == 6*(epochs+2) }, within, 50*time.Millisecond)
}

// TestWhatABackendRefusesForGoodHoldsNothingUp: it is passed over and counted.
func TestWhatABackendRefusesForGoodHoldsNothingUp(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	sink := otlpsink.Start(t, otlpsink.Invalid)
	gateway := f.start("fleet-gateway-backend.yaml", "gateway-1", map[string]string{"BACKEND_ENDPOINT": sink.Endpoint(), "BACKEND_INSECURE": "true"})
	f.start("fleet-agent.yaml", "host-a", nil)
	f.write("host-a", "run-a1", 0, 10)
	gateway.WaitMetric("otelcol_exporter_send_failed_log_records", nil, 11, within)
	sink.SetMode(otlpsink.Accept)
	f.write("host-a", "run-a1", 10, epochs)
	require.Eventually(t, func() bool { return f.distinct(sink) == epochs-10+1 }, within, 50*time.Millisecond)
}

// TestGatewaysPassOnNoSecret, though Kafka has rows as they were written.
func TestGatewaysPassOnNoSecret(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	sink := otlpsink.Start(t, otlpsink.Accept)
	f.start("fleet-gateway-backend.yaml", "gateway-1", map[string]string{"BACKEND_ENDPOINT": sink.Endpoint(), "BACKEND_INSECURE": "true"})
	f.start("fleet-agent.yaml", "host-a", nil)

	path := filepath.Join(f.runs("host-a"), "planted", "train.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
	const rows = `{"schema":"pathologize.ml.training/1","event":"run.start","body":{"params":{"lr":0.1,"note":"SeCrEt1zqW8"},"command":"train.py SeCrEt2zqW8"}}
{"schema":"pathologize.ml.training/1","event":"run.failure","body":{"error_type":"E","message":"401 for https://u:SeCrEt3zqW8@hub"}}
`
	require.NoError(t, os.WriteFile(path, []byte(rows), 0o600))
	require.Eventually(t, func() bool { return f.distinct(sink) == 2 }, within, 50*time.Millisecond)
	for _, record := range sink.LogRecords() {
		text := fmt.Sprint(record.Body().AsRaw(), record.Attributes().AsRaw(), record.Resource.Attributes().AsRaw())
		assert.NotContains(t, text, "SeCrEt")
	}
}

// distinct counts the rows that a backend has, each once.
func (f *fleet) distinct(sink *otlpsink.Sink) int {
	uids := map[string]bool{}
	for _, record := range sink.LogRecords() {
		if uid, ok := record.Attributes().Get("log.record.uid"); ok {
			uids[uid.Str()] = true
		}
	}
	return len(uids)
}
