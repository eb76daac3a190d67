package e2e

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/ports"
)

// behindTLS is a Collector that takes OTLP over TLS from whoever has the token; it refuses messages above 4 MiB, as servers of gRPC do.
const behindTLS = `
extensions: {bearertokenauth: {filename: "${env:TOKEN}"}}
receivers: {otlp: {protocols: {grpc: {endpoint: "${env:OTLP_ENDPOINT}", auth: {authenticator: bearertokenauth}, tls: {cert_file: "${env:CERT}", key_file: "${env:KEY}"}}}}}
exporters: {nop: {}}
service:
  extensions: [bearertokenauth]
  pipelines:
    logs: {receivers: [otlp], exporters: [nop]}
    traces: {receivers: [otlp], exporters: [nop]}
`

// certificate writes one for 127.0.0.1, which vouches for itself, and its key.
func certificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	server := httptest.NewTLSServer(nil) // it has one
	defer server.Close()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	der, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	require.NoError(t, err)
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: server.Certificate().Raw}, key: {Type: "PRIVATE KEY", Bytes: der}} {
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	return cert, key
}

const rows = 2000

// wideRows writes a stream of rows with two hundred measurements, 26 MB of records.
func wideRows(t *testing.T, f folders) {
	t.Helper()
	var wide, stream strings.Builder
	for i := range 200 {
		fmt.Fprintf(&wide, `,"a/measurement/with/a/long/name/%d":%d.5`, i, i)
	}
	for step := range rows {
		fmt.Fprintf(&stream, `{"schema":"pathologize.ml.training/1","ts":"2026-11-20T10:00:00Z","event":"progress","run_id":"wide","body":{"step":%d,"measurements":{"train/loss":1%s}}}`+"\n", step, &wide)
	}
	newTrainer(t, f, "wide").write(stream.String())
}

// TestCopiesReachABackendElsewhereWithATokenOverTLS, also rows that are together above what it takes in one message.
func TestCopiesReachABackendElsewhereWithATokenOverTLS(t *testing.T) {
	t.Parallel()
	f, dir, address := newFolders(t), t.TempDir(), ports.Free(t)
	cert, key := certificate(t, dir)
	token := filepath.Join(dir, "token")
	require.NoError(t, os.WriteFile(token, []byte("a-token"), 0o600))
	backend := collector.Start(t, collector.Options{YAML: behindTLS, Env: map[string]string{"OTLP_ENDPOINT": address, "TOKEN": token, "CERT": cert, "KEY": key}})

	wideRows(t, f)
	env := f.Env(t)
	netdata := otlpsink.Start(t, otlpsink.Accept)
	env["NETDATA_OTLP_ENDPOINT"] = netdata.Endpoint()
	env["BACKEND_ENDPOINT"], env["BACKEND_TOKEN_FILE"], env["SSL_CERT_FILE"] = address, token, cert
	host := collector.Start(t, collector.Options{Configs: []string{collector.Shipped(t, "host-training.yaml"), collector.Shipped(t, "overlays/backend-tls.yaml")}, Env: env})
	backend.WaitMetric("otelcol_receiver_accepted_log_records", nil, rows, resultWithin)
	require.Eventually(t, func() bool { return len(netdata.LogRecords()) >= rows }, resultWithin, 50*time.Millisecond)
	assert.Zero(t, host.Metrics().Sum("otelcol_exporter_send_failed_log_records", nil))
}

// TestABackendThatIsDownIsNoMatterOfTheOther: its queue is full at once, and the other gets each row, and each once.
func TestABackendThatIsDownIsNoMatterOfTheOther(t *testing.T) {
	t.Parallel()
	f, netdata, token := newFolders(t), otlpsink.Start(t, otlpsink.Accept), filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte("a-token"), 0o600))
	wideRows(t, f)
	env := f.Env(t)
	env["NETDATA_OTLP_ENDPOINT"], env["BACKEND_ENDPOINT"], env["BACKEND_TOKEN_FILE"] = netdata.Endpoint(), ports.Free(t), token
	host := collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, "host-training.yaml"), collector.Shipped(t, "overlays/backend-tls.yaml")}, Env: env,
		YAML: "exporters: {otlp_grpc/backend: {sending_queue: {queue_size: 2000000, batch: {max_size: 1500000}}}}",
	})
	host.WaitMetric("otelcol_exporter_enqueue_failed_log_records", nil, rows/2, resultWithin)
	require.Eventually(t, func() bool { return len(netdata.LogRecords()) >= rows }, resultWithin, 50*time.Millisecond)
	failed := host.Metrics().Sum("otelcol_exporter_enqueue_failed_log_records", nil)
	host.Stop() // what would come twice has come
	assert.Len(t, netdata.LogRecords(), rows)
	assert.LessOrEqual(t, failed, float64(rows), "a row is lost once")
}
