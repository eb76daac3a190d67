package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // exporters compress
)

const (
	anyPort     = "127.0.0.1:0"
	maxMessage  = 256 << 20
	fetchWithin = 30 * time.Second
)

// exposition serves a recorded exposition at every path.
type exposition struct {
	address string
	scrapes atomic.Int64
	server  *http.Server
}

// read takes an exposition from a file, or once from an exporter.
func read(ctx context.Context, from string) ([]byte, error) {
	if !strings.HasPrefix(from, "http://") && !strings.HasPrefix(from, "https://") {
		text, err := os.ReadFile(from) //nolint:gosec // the operator names it
		if err != nil {
			return nil, noExposition(from, cause(err))
		}
		return text, nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, noExposition(from, cause(err))
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, noExposition(from, errors.New(resp.Status))
	}
	return io.ReadAll(resp.Body)
}

func noExposition(from string, err error) error {
	return fmt.Errorf("the exposition %s cannot be read (%w): name with --exposition a file, or what the exporter answers on, as http://127.0.0.1:9400/metrics", from, err)
}

func serve(text []byte) (*exposition, error) {
	listener, err := net.Listen("tcp", anyPort)
	if err != nil {
		return nil, err
	}
	e := &exposition{address: listener.Addr().String()}
	e.server = &http.Server{ReadHeaderTimeout: fetchWithin, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(text) // a scraper that goes away comes again
		e.scrapes.Add(1)
	})}
	go func() { _ = e.server.Serve(listener) }() // ends with close
	return e, nil
}

func (e *exposition) close() error { return e.server.Close() }

// sink is a backend that keeps the series it is sent.
type sink struct {
	pmetricotlp.UnimplementedGRPCServer
	address string
	server  *grpc.Server
	mu      sync.Mutex
	got     seriesSet
	err     error
}

func receive() (*sink, error) {
	listener, err := net.Listen("tcp", anyPort)
	if err != nil {
		return nil, err
	}
	s := &sink{address: listener.Addr().String(), server: grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage)), got: seriesSet{}}
	pmetricotlp.RegisterGRPCServer(s.server, s)
	go func() { _ = s.server.Serve(listener) }() // ends with close
	return s, nil
}

// Export takes metrics as OTLP has it.
func (s *sink) Export(_ context.Context, req pmetricotlp.ExportRequest) (pmetricotlp.ExportResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = errors.Join(s.err, s.got.addMetrics(req.Metrics()))
	return pmetricotlp.NewExportResponse(), nil
}

// close returns what came.
func (s *sink) close() (seriesSet, error) {
	s.server.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got, s.err
}
