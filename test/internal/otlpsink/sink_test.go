package otlpsink

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

func client(t *testing.T, s *Sink) plogotlp.GRPCClient {
	t.Helper()
	conn, err := grpc.NewClient(s.Endpoint(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, conn.Close()) })
	return plogotlp.NewGRPCClient(conn)
}

func request(body string) plogotlp.ExportRequest {
	ld := plog.NewLogs()
	ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr(body)
	return plogotlp.NewExportRequestFromLogs(ld)
}

func TestModes(t *testing.T) {
	t.Parallel()
	s := Start(t, Accept)
	c := client(t, s)
	_, err := c.Export(t.Context(), request("one"), grpc.UseCompressor("gzip"))
	require.NoError(t, err)
	require.Len(t, s.LogRecords(), 1)
	assert.Equal(t, "one", s.LogRecords()[0].Body().Str())

	for mode, want := range map[Mode]codes.Code{Unavailable: codes.Unavailable, Invalid: codes.InvalidArgument} {
		s.SetMode(mode)
		_, err = c.Export(t.Context(), request("two"))
		assert.Equal(t, want, status.Code(err))
	}
	assert.Equal(t, 2, s.Refused())

	s.SetMode(Hang)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = c.Export(ctx, request("three"))
	assert.Equal(t, codes.DeadlineExceeded, status.Code(err))

	done := make(chan error)
	go func() {
		_, err := c.Export(t.Context(), request("four"))
		done <- err
	}()
	require.Eventually(t, func() bool { return s.Hung() == 2 }, time.Minute, 5*time.Millisecond)
	s.SetMode(Accept)
	require.NoError(t, <-done)
	assert.Len(t, s.LogRecords(), 2)

	s.Reset()
	assert.Empty(t, s.LogRecords())
	assert.Zero(t, s.Refused()+s.Hung())

	s.SetMode(Slow)
	began := time.Now()
	_, err = c.Export(t.Context(), request("five"))
	require.NoError(t, err)
	assert.GreaterOrEqual(t, time.Since(began), SlowAnswer)
	assert.Len(t, s.LogRecords(), 1)
}

func TestMessagesAboveFourMebibytesAreRefused(t *testing.T) {
	t.Parallel()
	s := Start(t, Accept)
	noise := make([]byte, 2<<20+1)
	_, err := rand.Read(noise)
	require.NoError(t, err)
	_, err = client(t, s).Export(t.Context(), request(hex.EncodeToString(noise)))
	assert.Equal(t, codes.ResourceExhausted, status.Code(err))
	assert.Empty(t, s.Logs())
}
