package trainrecord

import (
	_ "embed"
	"fmt"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed registry.yaml
var registryYAML []byte

// Kinds of names in the registry.
const (
	KindEvent     = "event"
	KindAttribute = "attribute"
	KindRecord    = "record"
	KindBody      = "body"
	KindMetric    = "metric"
)

// Registry is the parsed registry.yaml. It is shared: do not change it.
type Registry struct {
	Schema             string              `yaml:"schema"`
	Namespace          string              `yaml:"namespace"`
	SchemaURL          string              `yaml:"schema_url"`
	Version            int                 `yaml:"version"`
	Names              []Name              `yaml:"names"`
	Values             map[string][]string `yaml:"values"`
	ForbiddenOnMetrics map[string][]string `yaml:"forbidden_on_metrics"`
}

// AnyKey stands for all keys of an object that are not named.
const AnyKey = "*"

// Name is one entry of the vocabulary.
type Name struct {
	Name     string            `yaml:"name"`
	Kind     string            `yaml:"kind"`
	Type     string            `yaml:"type"`
	Unit     string            `yaml:"unit"`
	Meaning  string            `yaml:"meaning"`
	Values   string            `yaml:"values"` // the key of a bounded set in Registry.Values
	Pattern  string            `yaml:"pattern"`
	Minimum  *int64            `yaml:"minimum"`
	Maximum  *int64            `yaml:"maximum"`
	Required bool              `yaml:"required"`
	Closed   bool              `yaml:"-"` // a value off the list is left out; off another list it becomes other
	Signals  []string          `yaml:"signals"`
	Events   []string          `yaml:"events"`   // body keys: the events that carry it
	Keys     map[string]string `yaml:"keys"`     // body objects, or those in an array: known inner keys and their types (see Inner), AnyKey for those of any other name
	Elements string            `yaml:"elements"` // body arrays: the type of the elements

	Instrument string    `yaml:"instrument"` // metrics: counter, updowncounter, histogram or gauge
	Attributes []string  `yaml:"attributes"` // metrics: the attributes besides the base ones
	Bounds     []float64 `yaml:"bounds"`     // histograms: the upper bounds of the buckets
}

// Pattern is a concept that may not be a dimension of a metric and one token pattern of it.
type Pattern struct{ Concept, Tokens string }

var load = sync.OnceValue(func() *Registry {
	var r Registry
	if err := yaml.Unmarshal(registryYAML, &r); err != nil {
		panic(fmt.Errorf("registry.yaml: %w", err))
	}
	return &r
})

// Load gives the embedded registry.
func Load() *Registry { return load() }

// Bounded gives value when the named set holds it, else the word for values off a list. An empty value stays empty.
func (r *Registry) Bounded(set, value string) string {
	if value == "" || slices.Contains(r.Values[set], value) {
		return value
	}
	return Other
}

// Metric gives the entry of a metric.
func (r *Registry) Metric(name string) (Name, bool) {
	for _, n := range r.Names {
		if n.Kind == KindMetric && n.Name == name {
			return n, true
		}
	}
	return Name{}, false
}

// ForbiddenKeys lists, sorted, the full attribute keys that may not be on metrics: every name whose signals lack metric.
func (r *Registry) ForbiddenKeys() []string {
	allowed := map[string]bool{}
	var keys []string
	for _, n := range r.Names {
		if slices.Contains(n.Signals, "metric") {
			allowed[r.Namespace+"."+n.Name] = true
		}
	}
	for _, n := range r.Names {
		if key := r.Namespace + "." + n.Name; !allowed[key] {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// ForbiddenPatterns lists, sorted, the token patterns of the concepts that may not be on metrics.
func (r *Registry) ForbiddenPatterns() []Pattern {
	var ps []Pattern
	for concept, tokens := range r.ForbiddenOnMetrics {
		for _, t := range tokens {
			ps = append(ps, Pattern{Concept: concept, Tokens: t})
		}
	}
	slices.SortFunc(ps, func(a, b Pattern) int {
		if a.Tokens < b.Tokens {
			return -1
		}
		return 1
	})
	return ps
}

// OnMetrics gives the values of a set that a derived metric carries: a phase is never run, and an outcome is one of those that
// an attempt can have.
func OnMetrics(set string) []string {
	values := Load().Values[set]
	skip := map[string]string{"phase": PhaseRun, "outcome": Other}[set]
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == skip })
}
