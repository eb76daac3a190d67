package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/markdown"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
)

// otherNamespace has the results' pipeline write two namespaces, and a backend's behind it only one.
const otherNamespace = `
receivers: {train_jsonl: {include: ["${env:RUNS_DIR}/**/*.jsonl"]}}
connectors: {isolate: {}}
processors:
  training_norm: {namespace: acme.train, also_namespaces: [pathologize.ml.training]}
exporters:
  dvc_result: {directory: "${env:RESULTS_DIR}", idle_timeout: 5s, late_grace: 300ms}
  otlp_grpc: {endpoint: "${env:NETDATA_OTLP_ENDPOINT}", tls: {insecure: true}}
service:
  pipelines:
    logs/results: {receivers: [train_jsonl], processors: [training_norm], exporters: [dvc_result, isolate]}
    logs/backend: {receivers: [isolate], exporters: [otlp_grpc]}
`

// TestAnotherNamespaceBesideOursKeepsTheResults wants both spellings at the backend, and the result as ever.
func TestAnotherNamespaceBesideOursKeepsTheResults(t *testing.T) {
	t.Parallel()
	sink := otlpsink.Start(t, otlpsink.Accept)
	f := newFolders(t)
	env := f.env(t)
	env["NETDATA_OTLP_ENDPOINT"] = sink.Endpoint()
	native := sample(t, "native")
	newTrainer(t, f, liveRuns[0].id).lines(native...)
	collector.Start(t, collector.Options{YAML: otherNamespace, Env: env})
	requireResult(t, f, liveRuns[0])
	require.Eventually(t, func() bool { return len(sink.LogRecords()) == len(native) }, resultWithin, 20*time.Millisecond)
	for _, lr := range sink.LogRecords() {
		ours, _ := lr.Attributes().Get(trainrecord.AttrRunID)
		assert.Equal(t, liveRuns[0].id, ours.Str())
		theirs, _ := lr.Attributes().Get("acme.train.run.id")
		assert.Equal(t, liveRuns[0].id, theirs.Str())
		assert.Contains(t, lr.EventName(), "acme.train.")
		assert.Equal(t, "acme.train", lr.Scope.Name())
		event, _ := lr.Attributes().Get(trainrecord.AttrEventName)
		assert.True(t, trainrecord.IsEvent(event.Str()[len(trainrecord.Namespace)+1:]), event.Str())
	}
}

// TestTheReadmesNamespacesAreValid completes the example of training_norm's README and has the binary check it.
func TestTheReadmesNamespacesAreValid(t *testing.T) {
	t.Parallel()
	text := markdown.Page(t, "processor/trainingnormprocessor/README.md")
	_, block, found := strings.Cut(text, "```yaml\nprocessors:\n  training_norm: {storage: file_storage}\n")
	require.True(t, found)
	block, _, _ = strings.Cut(block, "```")
	path := filepath.Join(t.TempDir(), "readme.yaml")
	require.NoError(t, os.WriteFile(path, []byte("processors:\n  training_norm: {storage: file_storage}\n"+block), 0o600))
	f := newFolders(t)
	out, err := collector.Validate(t, collector.Options{Configs: []string{path}, Env: f.env(t), YAML: `
extensions: {file_storage: {directory: "${env:STATE_DIR}", create_directory: true}}
receivers: {train_jsonl: {include: ["${env:RUNS_DIR}/**/*.jsonl"]}, otlp: {protocols: {grpc: {endpoint: "${env:OTLP_ENDPOINT}"}}}}
processors: {batch: {}, cardinality_guard: {}}
connectors: {isolate: {}}
exporters: {dvc_result: {directory: "${env:RESULTS_DIR}"}, otlp_grpc: {endpoint: "${env:NETDATA_OTLP_ENDPOINT}"}}
service: {extensions: [file_storage]}
`})
	require.NoError(t, err, out)
}
