package compat

// configuration is one row of the survey: who runs it, and what replacing their binary by this one does.
type configuration struct {
	file    string
	origin  string
	missing []string // component types that are not in the binary; none means that it starts as it is
}

var configurations = []configuration{
	{file: "01-kubernetes-cluster-monitoring.yaml", origin: "NVIDIA cloud function helpers, cluster monitoring sample"},
	{file: "02-gpu-pods-by-observer.yaml", origin: "Splunk examples, GPU metrics", missing: []string{"exporter signalfx"}},
	{file: "03-ai-pods.yaml", origin: "Splunk examples, Cisco AI-ready pods", missing: []string{"exporter signalfx"}},
	{file: "04-model-server-metrics.yaml", origin: "Splunk examples, NIM operator", missing: []string{"exporter signalfx"}},
	{file: "05-shared-gpu-lab.yaml", origin: "Splunk GPU and NIM lab", missing: []string{"exporter signalfx"}},
	{file: "06-dcgm-to-prometheus.yaml", origin: "DCGM exporter to Prometheus, proof of concept"},
	{file: "07-desktop-gpu-remote-write.yaml", origin: "desktop GPU to Prometheus remote write"},
	{file: "08-telemetry-to-gpu-cloud.yaml", origin: "Mirantis KOF to DGX Cloud labs"},
	{file: "09-inference-platform.yaml", origin: "Nutanix Enterprise AI manual"},
	{file: "10-agent-operator.yaml", origin: "Amazon CloudWatch agent operator"},
	{
		file: "11-cloud-vm-agent.yaml", origin: "Google Ops Agent on GPU machines",
		missing: []string{"exporter googlecloud", "receiver dcgm", "receiver nvml"},
	},
	{file: "12-delta-over-http.yaml", origin: "Dynatrace page on NVIDIA NIM"},
	{file: "13-compute-node.yaml", origin: "Bacalhau compute node"},
	{file: "14-netdata-recipes.yaml", origin: "Netdata's Collector recipes"},
	{
		file: "15-journal-and-objects.yaml", origin: "TraceCore documentation",
		missing: []string{"receiver journald", "receiver k8sobjects"},
	},
}

// spellings are the pairs of old and new names that Collectors have used for the same component.
var spellings = map[string]map[string]string{
	"receivers":  {"hostmetrics": "host_metrics", "filelog": "file_log"},
	"exporters":  {"otlp": "otlp_grpc", "otlphttp": "otlp_http", "prometheusremotewrite": "prometheus_remote_write"},
	"connectors": {"spanmetrics": "span_metrics"},
	"processors": {
		"resourcedetection": "resource_detection", "k8sattributes": "k8s_attributes", "metricstransform": "metrics_transform",
		"cumulativetodelta": "cumulative_to_delta", "deltatocumulative": "delta_to_cumulative",
	},
}

// environment stands for what the operators of these configurations set.
var environment = map[string]string{
	"SAAS_ENDPOINT": "saas.example.com:443", "SAAS_TOKEN": "token", "ACCESS_TOKEN": "token", "VENDOR_TOKEN": "token", "STUDENT": "one",
	"DCGM_TARGET": "dcgm.gpu.svc:9400", "NIM_TARGET": "nim.nim.svc:8000", "K8S_NODE_NAME": "node", "K8S_NODE_IP": "127.0.0.1",
	"VENDOR_ENDPOINT": "http://127.0.0.1:1",
}
