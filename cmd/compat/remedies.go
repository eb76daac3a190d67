package main

import (
	"fmt"
	"slices"
	"strings"
)

// page is where every remedy is told at length.
const page = `docs/replace-host-collector.md, "What is left out"`

// renamed are the types whose successor has a name that letters alone do not lead to. Their configuration may differ too.
var renamed = map[string]map[string]string{
	"exporters": {
		"logging": "debug (verbosity: detailed in the place of loglevel: debug)",
		"jaeger":  "otlp_grpc (Jaeger takes OTLP)",
		"loki":    "otlp_http (Loki takes OTLP at /otlp)",
	},
	"processors": {
		"spanmetrics":  "the connector span_metrics",
		"k8s_tagger":   "k8s_attributes",
		"queued_retry": "retry_on_failure and sending_queue of the exporter",
	},
	"extensions": {
		"memory_ballast": "GOMEMLIMIT in the environment, and the processor memory_limiter",
		"ballast":        "GOMEMLIMIT in the environment, and the processor memory_limiter",
	},
	"receivers": {
		"prometheus_exec":   "prometheus, with the exporter run by the host",
		"opencensus":        "otlp",
		"prometheus_simple": "prometheus",
	},
}

// unavailable are the modules that cannot be had for the core version of this binary.
var unavailable = map[string][]string{
	"receivers":  {"journald", "k8sobjects", "k8sevents"},
	"exporters":  {"loadbalancing"},
	"connectors": {"routing", "failover"},
	"extensions": {"hostobserver", "opamp"},
}

// vendors lists exporters that send to one vendor's service; they are left out on purpose.
var vendors = []string{
	"signalfx", "sapm", "googlecloud", "googlemanagedprometheus", "datadog", "splunkhec", "awscloudwatchlogs", "awsemf", "awsxray", "awss3", "azuremonitor",
	"azuredataexplorer", "coralogix", "logzio", "mezmo", "sumologic", "sentry", "honeycombmarker", "dynatrace", "logicmonitor", "alibabacloudlogservice",
	"tencentcloudlogservice", "googlecloudpubsub", "googlecloudstorage", "instana", "influxdb",
}

// modules are the contrib folders that do not follow from the type.
var modules = map[string]string{
	"extensions/oauth2client": "extension/oauth2clientauthextension", "extensions/oidc": "extension/oidcauthextension",
	"extensions/headerssetter": "extension/headerssetterextension", "extensions/ecsobserver": "extension/observer/ecsobserver",
	"extensions/dockerobserver": "extension/observer/dockerobserver", "extensions/ecstaskobserver": "extension/observer/ecstaskobserver",
	"extensions/dbstorage": "extension/storage/dbstorage", "extensions/redisstorage": "extension/storage/redisstorageextension",
	"extensions/k8sleaderelector": "extension/k8sleaderelector",
	"extensions/sigv4auth":        "extension/sigv4authextension", "receivers/k8scluster": "receiver/k8sclusterreceiver",
	"receivers/googlecloudspanner": "receiver/googlecloudspannerreceiver",
}

// remedy tells what an operator does about a type that the binary lacks.
func remedy(u use) string {
	kind := fold(u.kind)
	if u.section == "receivers" && (kind == "dcgm" || kind == "nvml") {
		return "a receiver of a vendor's agent: scrape the DCGM exporter with prometheus"
	}
	if slices.Contains(unavailable[u.section], kind) {
		return "its module cannot be had for this core version; " + page
	}
	reason := "left out"
	if u.section == "exporters" && slices.Contains(vendors, kind) {
		reason = "an exporter to a vendor, left out"
	}
	return fmt.Sprintf("%s: add the line of its module (%s) to builder-config.yaml and run make build; %s", reason, moduleOf(u.section, kind), page)
}

// moduleOf follows the naming of the contrib repository.
func moduleOf(section, folded string) string {
	singular := strings.TrimSuffix(section, "s")
	folder := singular + "/" + folded + singular
	if f, ok := modules[section+"/"+folded]; ok {
		folder = f
	}
	return "if it is contrib's, github.com/open-telemetry/opentelemetry-collector-contrib/" + folder
}
