package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// TestLongLinesInManyFilesTakeBoundedMemory gives a backend, which answers nothing for a while and then refuses for a while, files
// of one line each that is about as long as lines may be. All of them together are several times max_in_flight_bytes.
func TestLongLinesInManyFilesTakeBoundedMemory(t *testing.T) {
	t.Parallel()
	const (
		files  = 30
		size   = 15 << 20
		refuse = 8
		// kB at the peak: that of a start, 64 MiB read, one line's record and what is sent of it, and as much for the garbage collector, which
		// is late where other tests run beside this one: 337,000 to 366,000 were seen. It was 469,000 before lines had bounds.
		most = 430_000
	)
	asked, answer := make(chan struct{}, refuse+files), make(chan int, refuse+files)
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case asked <- struct{}{}:
		default:
		}
		select {
		case status := <-answer:
			w.WriteHeader(status)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(backend.Close)
	f := newFolders(t)
	line := `{"event":"log","body":{"message":"` + strings.Repeat("0123456789abcdef", size/16) + `"}}`
	for i := range files {
		newTrainer(t, f, fmt.Sprintf("long-%d", i)).lines(line)
	}
	c := collector.Start(t, collector.Options{Env: f.env(t), YAML: fmt.Sprintf(longLines, backend.URL)})
	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Fatal("the backend was asked nothing")
	}
	c.WaitMetric("otelcol_train_jsonl_unread_bytes", nil, files*size, time.Minute) // all were found, and wait
	for range refuse {
		answer <- http.StatusServiceUnavailable
	}
	for range files {
		answer <- http.StatusOK
	}
	c.WaitMetric("otelcol_receiver_accepted_log_records", map[string]string{"receiver": "train_jsonl"}, files, 3*time.Minute)
	peak := peakMemory(t, c.PID())
	t.Logf("peak %d kB", peak)
	assert.Less(t, peak, most)
	require.GreaterOrEqual(t, c.Metrics().Sum("otelcol_train_jsonl_retries", nil), float64(refuse))
	c.Stop()
}

const longLines = `
receivers: {train_jsonl: {include: ["${env:RUNS_DIR}/**/*.jsonl"]}}
exporters: {otlp_http: {endpoint: %q, timeout: 60s, sending_queue: {enabled: false}, retry_on_failure: {enabled: false}}}
service: {pipelines: {logs: {receivers: [train_jsonl], exporters: [otlp_http]}}}
`
