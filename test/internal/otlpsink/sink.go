// Package otlpsink is an OTLP/gRPC backend for tests. It takes the place of Netdata: gzip, messages up to 4 MiB, and it can accept, refuse,
// hang or be slow, and change its mind while a test runs.
package otlpsink

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // accepted by the servers that this one stands for
	"google.golang.org/grpc/status"

	"github.com/pathologize/otelcol-train/test/internal/ports"
)

// maxMessage is what tonic accepts by default.
const maxMessage = 4 << 20

// Mode is what the sink does with a request.
type Mode int

const (
	// Accept keeps the data.
	Accept Mode = iota
	// Unavailable refuses in a way that may pass.
	Unavailable
	// Invalid refuses for good.
	Invalid
	// Hang answers nothing until the mode changes, the caller gives up or the sink stops.
	Hang
	// Slow keeps the data and answers after SlowAnswer.
	Slow
)

// SlowAnswer is longer than a result may take.
const SlowAnswer = 12 * time.Second

// Sink is a running backend.
type Sink struct {
	addr   string
	server *grpc.Server

	mu      sync.Mutex
	mode    Mode
	changed chan struct{} // closed when the mode changes
	metrics []pmetric.Metrics
	logs    []plog.Logs
	traces  []ptrace.Traces
	keep    func(context.Context, plog.Logs) // instead of logs, when it is set
	bad     func(plog.Logs) bool
	refused int
	hung    int
}

// Start starts a sink on a free port of 127.0.0.1; it stops when the test ends.
func Start(t testing.TB, mode Mode) *Sink {
	t.Helper()
	l, err := net.Listen("tcp", ports.Free(t))
	if err != nil {
		t.Fatalf("start the sink: %v", err)
	}
	s := &Sink{addr: l.Addr().String(), mode: mode, changed: make(chan struct{})}
	s.server = grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage))
	pmetricotlp.RegisterGRPCServer(s.server, &metricsServer{sink: s})
	plogotlp.RegisterGRPCServer(s.server, &logsServer{sink: s})
	ptraceotlp.RegisterGRPCServer(s.server, &tracesServer{sink: s})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.server.Serve(l)
	}()
	t.Cleanup(func() {
		s.SetMode(Unavailable) // lets go of hanging calls
		s.server.Stop()
		<-done
	})
	return s
}

// Endpoint is the address for an otlp_grpc exporter.
func (s *Sink) Endpoint() string { return s.addr }

// SetMode changes what happens to requests from now on and to those that hang.
func (s *Sink) SetMode(mode Mode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = mode
	close(s.changed)
	s.changed = make(chan struct{})
}

// Metrics are the accepted requests, in order.
func (s *Sink) Metrics() []pmetric.Metrics {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]pmetric.Metrics(nil), s.metrics...)
}

// Logs are the accepted requests, in order.
func (s *Sink) Logs() []plog.Logs {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]plog.Logs(nil), s.logs...)
}

// Traces are the accepted requests, in order.
func (s *Sink) Traces() []ptrace.Traces {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ptrace.Traces(nil), s.traces...)
}

// Refused counts the requests that were answered with an error.
func (s *Sink) Refused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// Hung counts the requests that had to wait, of a slow sink too.
func (s *Sink) Hung() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hung
}

// KeepLogs gives accepted logs to keep, one call at a time, in place of Logs and LogRecords. The context has the request's headers.
func (s *Sink) KeepLogs(keep func(context.Context, plog.Logs)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep = keep
}

// RefuseLogs refuses for good the requests that bad finds, whatever the mode.
func (s *Sink) RefuseLogs(bad func(plog.Logs) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bad = bad
}

// Reset forgets what was accepted and counted.
func (s *Sink) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.metrics, s.logs, s.traces, s.refused, s.hung = nil, nil, nil, 0, 0
}

// take decides about one request and, if it is accepted, keeps it under the lock.
func (s *Sink) take(ctx context.Context, keep func()) error {
	waited := false
	for {
		s.mu.Lock()
		mode, changed := s.mode, s.changed
		switch mode {
		case Accept:
			keep()
			s.mu.Unlock()
			return nil
		case Unavailable:
			s.refused++
			s.mu.Unlock()
			return status.Error(codes.Unavailable, "the sink refuses for now")
		case Invalid:
			s.refused++
			s.mu.Unlock()
			return status.Error(codes.InvalidArgument, "the sink refuses for good")
		}
		if !waited {
			waited = true
			s.hung++
		}
		s.mu.Unlock()
		var answer <-chan time.Time
		if mode == Slow {
			answer = time.After(SlowAnswer)
		}
		select {
		case <-changed:
		case <-answer:
			s.mu.Lock()
			keep()
			s.mu.Unlock()
			return nil
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		}
	}
}

type metricsServer struct {
	pmetricotlp.UnimplementedGRPCServer
	sink *Sink
}

// Export implements the OTLP metrics service.
func (m *metricsServer) Export(ctx context.Context, r pmetricotlp.ExportRequest) (pmetricotlp.ExportResponse, error) {
	s := m.sink
	return pmetricotlp.NewExportResponse(), s.take(ctx, func() { s.metrics = append(s.metrics, r.Metrics()) })
}

type logsServer struct {
	plogotlp.UnimplementedGRPCServer
	sink *Sink
}

// Export implements the OTLP logs service.
func (l *logsServer) Export(ctx context.Context, r plogotlp.ExportRequest) (plogotlp.ExportResponse, error) {
	s := l.sink
	if s.isBad(r.Logs()) {
		return plogotlp.NewExportResponse(), status.Error(codes.InvalidArgument, "the sink refuses these logs for good")
	}
	return plogotlp.NewExportResponse(), s.take(ctx, func() {
		if s.keep != nil {
			s.keep(ctx, r.Logs())
			return
		}
		s.logs = append(s.logs, r.Logs())
	})
}

func (s *Sink) isBad(ld plog.Logs) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bad == nil || !s.bad(ld) {
		return false
	}
	s.refused++
	return true
}

type tracesServer struct {
	ptraceotlp.UnimplementedGRPCServer
	sink *Sink
}

// Export implements the OTLP trace service.
func (x *tracesServer) Export(ctx context.Context, r ptraceotlp.ExportRequest) (ptraceotlp.ExportResponse, error) {
	s := x.sink
	return ptraceotlp.NewExportResponse(), s.take(ctx, func() { s.traces = append(s.traces, r.Traces()) })
}
