package componentcheck

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// metadata is what the check needs of upstream's metadata.yaml.
type metadata struct {
	DisplayName string `yaml:"display_name"`
	Type        string `yaml:"type"`
	Status      struct {
		Class     string              `yaml:"class"`
		Stability map[string][]string `yaml:"stability"`
	} `yaml:"status"`
	Attributes map[string]attributeSpec `yaml:"attributes"`
	Telemetry  struct {
		Metrics map[string]metricSpec `yaml:"metrics"`
	} `yaml:"telemetry"`
	Tests struct {
		Config map[string]any `yaml:"config"`
	} `yaml:"tests"`
}

// metricSpec is one entry of telemetry.metrics.
type metricSpec struct {
	Description string    `yaml:"description"`
	Unit        string    `yaml:"unit"`
	Sum         *kindSpec `yaml:"sum"`
	Gauge       *kindSpec `yaml:"gauge"`
	Histogram   *kindSpec `yaml:"histogram"`
	Attributes  []string  `yaml:"attributes"`
}

// attributeSpec is one entry of attributes. Without enum the values are free.
type attributeSpec struct {
	Description string   `yaml:"description"`
	Type        string   `yaml:"type"`
	Enum        []string `yaml:"enum"`
}

type kindSpec struct {
	ValueType string `yaml:"value_type"`
	Monotonic bool   `yaml:"monotonic"`
	Async     bool   `yaml:"async"`
}

func readMetadata(path string) (metadata, error) {
	var m metadata
	text, err := os.ReadFile(path)
	if err != nil {
		return m, fmt.Errorf("read the metadata: %w", err)
	}
	if err := yaml.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("metadata.yaml: %w", err)
	}
	return m, nil
}

// readModule returns the module path that go.mod declares.
func readModule(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the module file: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
			return strings.TrimSpace(name), nil
		}
	}
	return "", fmt.Errorf("%s: no module line", path)
}

// stabilities turns {alpha: [logs]} into {logs: alpha}.
func stabilities(byLevel map[string][]string) (map[string]string, error) {
	out := map[string]string{}
	for level, signals := range byLevel {
		for _, sig := range signals {
			if other, twice := out[sig]; twice {
				return nil, fmt.Errorf("stability of %s is given twice: %s and %s", sig, other, level)
			}
			out[sig] = strings.ToLower(level)
		}
	}
	return out, nil
}

func (s *suite) checkStatus() []error {
	var errs []error
	if want := s.factory.Type().String(); s.meta.Type != want {
		errs = append(errs, fmt.Errorf("metadata.yaml: type: want %s as the factory says, got %q", want, s.meta.Type))
	}
	if s.meta.Status.Class != s.target.class {
		errs = append(errs, fmt.Errorf("metadata.yaml: status.class: want %s, got %q", s.target.class, s.meta.Status.Class))
	}
	got, err := stabilities(s.meta.Status.Stability)
	if err != nil {
		return append(errs, fmt.Errorf("metadata.yaml: status.stability: %w", err))
	}
	return append(errs, diffStability("metadata.yaml: status.stability", s.target.stabilities(), got)...)
}

// diffStability compares what the factory says with what a document says.
func diffStability(where string, want, got map[string]string) []error {
	var errs []error
	for _, sig := range slices.Sorted(maps.Keys(want)) {
		if got[sig] != want[sig] {
			errs = append(errs, fmt.Errorf("%s: %s: want %s as the factory says, got %q", where, sig, want[sig], got[sig]))
		}
	}
	for _, sig := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[sig]; !ok {
			errs = append(errs, fmt.Errorf("%s: %s: the factory does not support it", where, sig))
		}
	}
	return errs
}
