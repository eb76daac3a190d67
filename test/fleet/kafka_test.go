package fleet

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
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
