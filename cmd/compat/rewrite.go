package main

import (
	"fmt"
	"maps"
	"path/filepath"
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
			receivers[receiver] = r.receiver(receiver, c.section("receivers")[receiver])
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

// receiver points every job of a prometheus receiver at the exposition, once a second.
func (r *comparison) receiver(id string, body any) any {
	var list []any
	for _, job := range jobs(body) {
		job = maps.Clone(job)
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
		for _, key := range []string{"tls_config", "authorization", "basic_auth", "oauth2", "proxy_url"} {
			delete(job, key)
		}
		job["scheme"], job["scrape_interval"], job["scrape_timeout"] = "http", "1s", "1s"
		job["static_configs"] = r.targets(job["static_configs"])
		list = append(list, job)
	}
	return map[string]any{"config": map[string]any{"scrape_configs": list}}
}

// targets keeps the labels of a job's targets.
func (r *comparison) targets(configs any) []any {
	list, _ := configs.([]any)
	if len(list) == 0 {
		list = []any{map[string]any{}}
	}
	var out []any
	for _, one := range list {
		kept := maps.Clone(asMap(one))
		if kept == nil {
			kept = map[string]any{}
		}
		kept["targets"] = []any{r.target}
		out = append(out, kept)
	}
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
