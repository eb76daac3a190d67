// Package dcgm serves an exposition text over HTTP, as the DCGM exporter does, and reads one into the samples it stands for.
package dcgm

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Server answers /metrics with an exposition text.
type Server struct {
	*httptest.Server
	text atomic.Pointer[string]
}

// Serve starts a server on 127.0.0.1 with the text of a file; it stops when the test ends.
func Serve(t testing.TB, path string) *Server {
	t.Helper()
	s := &Server{}
	s.Set(read(t, path))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write([]byte(*s.text.Load()))
	}))
	t.Cleanup(s.Close)
	return s
}

// Address is host:port, as a scrape target wants it.
func (s *Server) Address() string { return s.Listener.Addr().String() }

// Set replaces the text.
func (s *Server) Set(text string) { s.text.Store(&text) }

// Sample is one line of an exposition.
type Sample struct {
	Name    string
	Help    string
	Counter bool
	Labels  map[string]string
	Value   float64
}

// Samples reads an exposition file of gauges and counters; any other type fails the test.
func Samples(t testing.TB, path string) []Sample {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(read(t, path)))
	if err != nil {
		t.Fatalf("read %s: %v", path, err)
	}
	var out []Sample
	for name, family := range families {
		for _, m := range family.GetMetric() {
			s := Sample{Name: name, Help: family.GetHelp(), Labels: map[string]string{}, Value: math.NaN()}
			switch family.GetType() {
			case dto.MetricType_COUNTER:
				s.Counter, s.Value = true, m.GetCounter().GetValue()
			case dto.MetricType_GAUGE:
				s.Value = m.GetGauge().GetValue()
			default:
				t.Fatalf("%s: %s has type %s, which no test compares", path, name, family.GetType())
			}
			for _, l := range m.GetLabel() {
				s.Labels[l.GetName()] = l.GetValue()
			}
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		t.Fatal(fmt.Errorf("%s holds no samples", path))
	}
	return out
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path) //nolint:gosec // test data
	if err != nil {
		t.Fatalf("read the exposition: %v", err)
	}
	return string(text)
}
