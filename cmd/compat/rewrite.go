package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The names that a comparison adds to a configuration. Old binaries know the old name of the exporter only, current ones both.
const (
	backendID = "otlp/compat"
	pinID     = "transform/compat_pin"
)

// comparison makes of a configuration one that scrapes the exposition and sends to the sink: the metrics pipelines with a prometheus
// receiver stay, with their processors; what would reach beyond this command goes. notes say what went.
type comparison struct {
	target, backend, folder, pin string
	notes                        []string
	// scraped is the number of targets.
	scraped int
}

// alone is the configuration of a comparison that was given none.
func alone() map[string]any {
	return map[string]any{
		"receivers": map[string]any{"prometheus": map[string]any{"config": map[string]any{"scrape_configs": []any{
			map[string]any{"job_name": "dcgm", "static_configs": []any{map[string]any{"targets": []any{""}}}},
		}}}},
		"service": map[string]any{"pipelines": map[string]any{"metrics": map[string]any{"receivers": []any{"prometheus"}, "exporters": []any{"otlp"}}}},
	}
}

func (r *comparison) rewrite(c *configuration) (text []byte, err error) {
	receivers, processors, extensions, pipelines := map[string]any{}, map[string]any{}, map[string]any{}, map[string]any{}
	if r.pin != "" {
		processors[pinID] = map[string]any{"metric_statements": []any{
			map[string]any{"context": "scope", "statements": []any{fmt.Sprintf("set(scope.version, %q)", r.pin)}},
		}}
	}
	for id, body := range c.pipelines() {
		pipeline := asMap(body)
		scrapers := slices.DeleteFunc(ids(pipeline["receivers"]), func(id string) bool { return kindOf(id) != "prometheus" })
		if kindOf(id) != "metrics" || len(scrapers) == 0 || !leaves(pipeline) {
			continue
		}
		for _, receiver := range scrapers {
			if receivers[receiver] == nil {
				receivers[receiver] = r.receiver(receiver, c.section("receivers")[receiver])
			}
		}
		for _, exporter := range ids(pipeline["exporters"]) {
			_, connector := c.section("connectors")[exporter]
			r.note(connector, "what stands behind the connector "+exporter+" is not compared")
		}
		kept := slices.DeleteFunc(ids(pipeline["processors"]), func(id string) bool {
			outside := fold(kindOf(id)) == "k8sattributes"
			r.note(outside, "the processor "+id+" is left out: it asks a Kubernetes API")
			return outside
		})
		for _, processor := range kept {
			processors[processor] = c.section("processors")[processor]
		}
		if r.pin != "" {
			kept = append([]string{pinID}, kept...)
		}
		pipelines[id] = map[string]any{"receivers": scrapers, "processors": kept, "exporters": []any{backendID}}
	}
	if len(pipelines) == 0 {
		return nil, fmt.Errorf("%s: no metrics pipeline leads from a prometheus receiver to a backend: nothing to compare", strings.Join(c.uris, " + "))
	}
	for id := range c.section("extensions") {
		if fold(kindOf(id)) == "filestorage" {
			extensions[id] = map[string]any{"directory": filepath.Join(r.folder, strings.ReplaceAll(id, "/", "_")), "create_directory": true}
		}
	}
	return yaml.Marshal(escape(map[string]any{
		"receivers": receivers, "processors": processors, "extensions": extensions,
		"exporters": map[string]any{backendID: map[string]any{"endpoint": r.backend, "tls": map[string]any{"insecure": true}}},
		"service": map[string]any{
			"extensions": slices.Sorted(maps.Keys(extensions)), "pipelines": pipelines,
			"telemetry": map[string]any{"metrics": map[string]any{"level": "none"}},
		},
	}))
}

// beyond are the keys of a prometheus receiver, of its configuration and of a job that lead to something else than the exposition.
var (
	beyondReceiver = []string{"target_allocator", "api_server"}
	beyondConfig   = []string{"scrape_config_files"}
	beyondJob      = []string{
		"tls_config", "authorization", "basic_auth", "bearer_token", "bearer_token_file", "oauth2", "http_headers",
		"proxy_url", "proxy_from_environment", "proxy_connect_header", "no_proxy",
	}
)

// receiver points every job of a prometheus receiver at the exposition, once a second; what else it is told stays.
func (r *comparison) receiver(id string, body any) any {
	var list []any
	for _, job := range jobs(body) {
		list = append(list, r.job(id, maps.Clone(job)))
	}
	whole, config := clone(body), clone(asMap(body)["config"])
	for _, key := range beyondReceiver {
		r.drop(whole, key, key+" of "+id+" is left out: its targets are not known here")
	}
	for _, key := range beyondConfig {
		r.drop(config, key, key+" of "+id+" is left out: it is not looked into")
	}
	delete(whole, "initial_scrape_offset") // the comparison would wait for it
	config["scrape_configs"], whole["config"] = list, config
	return whole
}

func (r *comparison) job(id string, job map[string]any) any {
	discovered := false
	for key := range job {
		if strings.HasSuffix(key, "_sd_configs") {
			discovered = true
			delete(job, key)
		}
	}
	if discovered {
		delete(job, "relabel_configs")
		r.note(true, fmt.Sprintf("job %v of %s: its targets are discovered; its relabel_configs are left out with the discovery", job["job_name"], id))
	}
	for _, key := range beyondJob {
		delete(job, key)
	}
	job["scheme"], job["scrape_interval"], job["scrape_timeout"] = "http", "1s", "1s"
	job["static_configs"] = r.targets(job["static_configs"])
	return job
}

func (r *comparison) drop(from map[string]any, key, note string) {
	_, has := from[key]
	r.note(has, note)
	delete(from, key)
}

// clone is a map that may be changed.
func clone(v any) map[string]any {
	m := maps.Clone(asMap(v))
	if m == nil {
		m = map[string]any{}
	}
	return m
}

// targets keeps the labels of a job's targets; those that have the same are one.
func (r *comparison) targets(configs any) []any {
	list, _ := configs.([]any)
	if len(list) == 0 {
		list = []any{map[string]any{}}
	}
	var out []any
	for _, one := range list {
		kept := clone(one)
		kept["targets"] = []any{r.target}
		if !slices.ContainsFunc(out, func(other any) bool { return reflect.DeepEqual(other, any(kept)) }) {
			out = append(out, kept)
		}
	}
	r.scraped += len(out)
	return out
}

func (r *comparison) note(happened bool, text string) {
	if happened && !slices.Contains(r.notes, text) {
		r.notes = append(r.notes, text)
	}
}

// escape doubles the dollars: what is written is expanded, and what was read has been.
func escape(v any) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "$", "$$")
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = escape(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = escape(value)
		}
		return out
	}
	return v
}
