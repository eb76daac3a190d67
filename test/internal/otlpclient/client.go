// Package otlpclient sends telemetry to an OTLP/gRPC receiver, as a trainer's SDK does.
package otlpclient

import (
	"context"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Client is a connection to a receiver. Each of its calls ends when the receiver has answered, with the error it answers.
type Client struct{ conn *grpc.ClientConn }

// Connect prepares a connection, which the first call makes and the end of the test closes.
func Connect(t testing.TB, endpoint string) *Client {
	t.Helper()
	conn, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatalf("connect to %s: %v", endpoint, err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Errorf("close the connection to %s: %v", endpoint, err)
		}
	})
	return &Client{conn: conn}
}

// Logs sends log records.
func (c *Client) Logs(ctx context.Context, ld plog.Logs) error {
	_, err := plogotlp.NewGRPCClient(c.conn).Export(ctx, plogotlp.NewExportRequestFromLogs(ld))
	return err
}

// Metrics sends metrics.
func (c *Client) Metrics(ctx context.Context, md pmetric.Metrics) error {
	_, err := pmetricotlp.NewGRPCClient(c.conn).Export(ctx, pmetricotlp.NewExportRequestFromMetrics(md))
	return err
}

// Traces sends spans.
func (c *Client) Traces(ctx context.Context, td ptrace.Traces) error {
	_, err := ptraceotlp.NewGRPCClient(c.conn).Export(ctx, ptraceotlp.NewExportRequestFromTraces(td))
	return err
}
