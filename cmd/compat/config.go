package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/confmap/provider/httpprovider"
	"go.opentelemetry.io/collector/confmap/provider/httpsprovider"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.yaml.in/yaml/v3"
)

// configuration is a Collector's, as plain data with everything expanded that could be.
type configuration struct {
	data map[string]any
	// uris are what a Collector gets for --config.
	uris []string
	// schemes are those of ${scheme:...} that no otelcol-train expands.
	schemes []string
	// bare are $NAME, which Collectors expanded long ago and now leave as they are.
	bare []string
}

var (
	schemeOf = regexp.MustCompile(`\$\{([a-zA-Z][a-zA-Z0-9+.-]+):`)
	bareName = regexp.MustCompile(`(^|[^$\w])\$([A-Z][A-Z0-9_]{2,})\b`)
	known    = []string{"env", "file", "yaml", "http", "https"}
)

// load reads what a Collector would be given. A provider that is not known leaves its ${...} as they are: the rest can still be judged.
func load(ctx context.Context, uris []string) (*configuration, error) {
	c := &configuration{uris: uris}
	var texts []map[string]any
	for _, uri := range uris {
		path := strings.TrimPrefix(uri, "file:")
		text, err := os.ReadFile(path) //nolint:gosec // the operator names it
		if err != nil {
			if path == uri && strings.Contains(uri, ":") {
				continue // a provider reads it
			}
			return nil, fmt.Errorf("the configuration %s cannot be read (%w): name the file that the service is started with; systemctl cat shows it", path, cause(err))
		}
		var m map[string]any
		if err := yaml.Unmarshal(text, &m); err != nil {
			return nil, fmt.Errorf("%s is no configuration of a Collector, name one: %w", path, err)
		}
		c.lookAt(m)
		texts = append(texts, m)
	}
	if len(c.schemes) > 0 {
		merged := confmap.New()
		for _, m := range texts {
			if err := merged.Merge(confmap.NewFromStringMap(m)); err != nil {
				return nil, err
			}
		}
		c.data = merged.ToStringMap()
		return c, nil
	}
	resolver, err := confmap.NewResolver(confmap.ResolverSettings{
		URIs: uris, DefaultScheme: "env",
		ProviderFactories: []confmap.ProviderFactory{
			envprovider.NewFactory(), fileprovider.NewFactory(), yamlprovider.NewFactory(), httpprovider.NewFactory(), httpsprovider.NewFactory(),
		},
	})
	if err != nil {
		return nil, err
	}
	conf, err := resolver.Resolve(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: ask where the service runs, with its environment and its rights", strings.Join(uris, " + "), err)
	}
	c.data = conf.ToStringMap()
	return c, resolver.Shutdown(ctx)
}

// lookAt collects what values say of providers. Comments are none of it, and neither is what a doubled dollar escapes.
func (c *configuration) lookAt(v any) {
	switch v := v.(type) {
	case string:
		text := strings.ReplaceAll(v, "$$", "")
		for _, found := range schemeOf.FindAllStringSubmatch(text, -1) {
			if scheme := found[1]; !slices.Contains(known, scheme) && !slices.Contains(c.schemes, scheme) {
				c.schemes = append(c.schemes, scheme)
			}
		}
		for _, found := range bareName.FindAllStringSubmatch(text, -1) {
			if name := found[2]; !slices.Contains(c.bare, name) {
				c.bare = append(c.bare, name)
			}
		}
	case []any:
		for _, one := range v {
			c.lookAt(one)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			c.lookAt(v[key])
		}
	}
}

// section returns what is declared under a key of the configuration, by component id.
func (c *configuration) section(name string) map[string]any { return asMap(c.data[name]) }

// pipelines returns the service's, by id.
func (c *configuration) pipelines() map[string]any {
	return asMap(asMap(c.data["service"])["pipelines"])
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// ids gives a list of component ids, such as a pipeline's receivers.
func ids(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, id := range list {
		if s, ok := id.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// kindOf is the type of a component id.
func kindOf(id string) string {
	kind, _, _ := strings.Cut(id, "/")
	return strings.TrimSpace(kind)
}
