package componentcheck

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
)

// Option changes what Run does.
type Option func(*suite)

// WithDir reads metadata.yaml, README.md and go.mod from dir instead of the working directory.
func WithDir(dir string) Option {
	return func(s *suite) { s.dir = dir }
}

// WithConfig edits every configuration made from tests.config before it is validated.
func WithConfig(edit func(cfg component.Config)) Option {
	return func(s *suite) { s.edit = edit }
}

// WithFeed hands the component more than the default batch of its signal in the check of its self-metrics' attributes: what
// makes it count.
func WithFeed(feed func(ctx context.Context, c component.Component) error) Option {
	return func(s *suite) { s.feed = feed }
}

// Run holds the component in the working directory to its metadata.yaml and README.md, and runs its lifecycle.
func Run(t *testing.T, factory component.Factory, opts ...Option) {
	t.Helper()
	s, err := newSuite(factory, opts...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.checks() {
		t.Run(c.name, func(t *testing.T) {
			for _, err := range c.run(t) {
				t.Error(err)
			}
		})
	}
}

// suite is all that the checks know about one component.
type suite struct {
	factory component.Factory
	target  target
	meta    metadata
	readme  *readme
	module  string
	dir     string
	edit    func(component.Config)
	feed    func(context.Context, component.Component) error
}

type check struct {
	name string
	run  func(t testing.TB) []error
}

func newSuite(factory component.Factory, opts ...Option) (*suite, error) {
	s := &suite{
		factory: factory,
		dir:     ".",
		feed:    nothing,
	}
	for _, opt := range opts {
		opt(s)
	}
	var err error
	if s.target, err = newTarget(factory); err != nil {
		return nil, err
	}
	if s.meta, err = readMetadata(filepath.Join(s.dir, "metadata.yaml")); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "README.md"))
	if err != nil {
		return nil, fmt.Errorf("read the README: %w", err)
	}
	s.readme = parseReadme(string(text))
	if s.module, err = readModule(filepath.Join(s.dir, "go.mod")); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *suite) checks() []check {
	return []check{
		{"metadata", func(testing.TB) []error { return s.checkStatus() }},
		{"readme", func(testing.TB) []error { return s.checkReadme() }},
		{"keys", func(testing.TB) []error { return s.checkKeys() }},
		{"config", func(testing.TB) []error { return s.checkConfig() }},
		{"telemetry", s.checkTelemetry},
		{"attributes", s.checkAttributes},
		{"lifecycle", s.checkLifecycle},
	}
}

// checkConfig says whether the configuration has sound tags and tests.config is valid.
func (s *suite) checkConfig() []error {
	if err := componenttest.CheckConfigStruct(s.factory.CreateDefaultConfig()); err != nil {
		return []error{fmt.Errorf("config struct: %w", err)}
	}
	if _, err := s.config(); err != nil {
		return []error{err}
	}
	return nil
}

// config makes a fresh configuration from the defaults and tests.config.
func (s *suite) config() (component.Config, error) {
	cfg := s.factory.CreateDefaultConfig()
	if err := confmap.NewFromStringMap(s.meta.Tests.Config).Unmarshal(cfg); err != nil {
		return nil, fmt.Errorf("metadata.yaml: tests.config: %w", err)
	}
	if s.edit != nil {
		s.edit(cfg)
	}
	if err := confmap.Validate(cfg); err != nil {
		return nil, fmt.Errorf("metadata.yaml: tests.config: %w", err)
	}
	return cfg, nil
}
