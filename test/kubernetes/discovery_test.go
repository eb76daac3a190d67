package kubernetes

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/dcgm"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/series"
)

// found is the job of the overlay with what the discovery of pods would tell it in the place of the discovery: the exporter's port, and another of its pod.
func found(t *testing.T, address, exporterPod string) string {
	t.Helper()
	text, err := os.ReadFile(collector.Shipped(t, "overlays/kubernetes.yaml"))
	require.NoError(t, err)
	var overlay struct {
		Receivers struct {
			Prometheus struct {
				Config struct {
					Jobs []map[string]any `yaml:"scrape_configs"`
				}
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &overlay))
	jobs := overlay.Receivers.Prometheus.Config.Jobs
	require.Len(t, jobs, 1)
	require.Contains(t, jobs[0], "kubernetes_sd_configs")
	delete(jobs[0], "kubernetes_sd_configs")
	target := func(address, port string) map[string]any {
		return map[string]any{"targets": []string{address}, "labels": map[string]string{
			"__meta_kubernetes_pod_container_port_number": port, "__meta_kubernetes_pod_node_name": "gpu-node-1",
			"__meta_kubernetes_namespace": "gpu-operator", "__meta_kubernetes_pod_name": exporterPod, "__meta_kubernetes_pod_uid": "uid of " + exporterPod,
			"__meta_kubernetes_pod_container_name": "exporter", "__meta_kubernetes_pod_controller_kind": "ReplicaSet", "__meta_kubernetes_pod_controller_name": exporterPod,
		}}
	}
	jobs[0]["static_configs"] = []any{target(address, "9400"), target("127.0.0.1:1", "8080")}
	out, err := yaml.Marshal(map[string]any{
		"receivers": map[string]any{
			"prometheus":   map[string]any{"config": map[string]any{"scrape_configs": jobs}},
			"host_metrics": map[string]any{"root_path": "/", "collection_interval": "1s"}, // the node is not mounted here
		},
		"service": map[string]any{"pipelines": map[string]any{"traces": map[string]any{"processors": []string{"memory_limiter"}}}}, // k8s_attributes asks the API
	})
	require.NoError(t, err)
	return string(out)
}

const exposition = "../testdata/dcgm/metrics.prom"

// inPod runs the configuration of the DaemonSet beside an exporter, and gives the backend.
func inPod(t *testing.T, exporterPod string) (*collector.Process, *otlpsink.Sink) {
	t.Helper()
	exporter, sink := dcgm.Serve(t, exposition), otlpsink.Start(t, otlpsink.Accept)
	env := collector.NewFolders(t).Env(t)
	env["NETDATA_OTLP_ENDPOINT"], env["DCGM_SCRAPE_INTERVAL"], env["NODE_NAME"] = sink.Endpoint(), "1s", "gpu-node-1"
	return collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, "host-training.yaml"), collector.Shipped(t, "overlays/kubernetes.yaml")},
		YAML:    found(t, exporter.Address(), exporterPod),
		Env:     env,
	}), sink
}

// TestThePodsNetworkIsNotCalledTheNodes: root_path leads to the node's files, and a process finds its own network, the pod's, in those too.
func TestThePodsNetworkIsNotCalledTheNodes(t *testing.T) {
	t.Parallel()
	_, sink := inPod(t, "dcgm-exporter-a")
	seen := map[string]bool{}
	require.Eventually(t, func() bool {
		for _, p := range series.Points(sink.Metrics()...) {
			seen[p.Name] = true
		}
		return seen["system.cpu.time"] && seen["system.memory.usage"] && seen["system.filesystem.usage"]
	}, time.Minute, 100*time.Millisecond)
	for name := range seen {
		assert.False(t, strings.HasPrefix(name, "system.network."), name)
	}
}

// charted gives the series of the exporter that Netdata tells apart.
func charted(t *testing.T, exporterPod string) []string {
	t.Helper()
	c, sink := inPod(t, exporterPod)
	defer c.Stop()
	var keys []string
	require.Eventually(t, func() bool {
		var scraped []series.Point
		for _, p := range series.Points(sink.Metrics()...) {
			if strings.HasPrefix(p.Name, "DCGM_") || p.Name == "up" {
				scraped = append(scraped, p)
			}
		}
		keys = series.Keys(scraped, nil)
		return len(keys) > len(dcgm.Samples(t, exposition))
	}, time.Minute, 100*time.Millisecond)
	return keys
}

// TestANewPodOfTheExporterRenamesNoChart: another address and another pod, the same node; and the pods that have GPUs stay those of the readings.
func TestANewPodOfTheExporterRenamesNoChart(t *testing.T) {
	t.Parallel()
	before, after := charted(t, "dcgm-exporter-a"), charted(t, "dcgm-exporter-b")
	assert.Equal(t, before, after)
	all := strings.Join(after, "\n")
	assert.Contains(t, all, "gpu-node-1:9400")
	assert.Contains(t, all, "gpu-job-20261129-rd7k2-0")
	assert.NotContains(t, all, "dcgm-exporter")
	assert.NotContains(t, all, "127.0.0.1")
}
