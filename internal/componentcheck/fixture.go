package componentcheck

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"
)

// update is the flag that rewrites goldens.
var update = flag.Bool("update", false, "rewrite the expected parts of fixtures")

// Case is one fixture: a txtar file of named parts.
type Case struct {
	// Path is the file.
	Path string

	archive *txtar.Archive
	update  bool
}

// EachCase runs every .txt file of dir as a parallel subtest named after the file, and fails if there is none.
func EachCase(t *testing.T, dir string, test func(t *testing.T, c *Case)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, paths, "no fixtures in %s", dir)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			test(t, ReadCase(t, path))
		})
	}
}

// ReadCase reads one fixture.
func ReadCase(t testing.TB, path string) *Case {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	require.NoError(t, err)
	require.NotEmpty(t, archive.Files, "%s has no -- name -- line", path)
	return &Case{Path: path, archive: archive, update: *update}
}

// Comment is the text before the first part.
func (c *Case) Comment() string { return string(c.archive.Comment) }

// Names lists the parts in the order of the file.
func (c *Case) Names() []string {
	names := make([]string, 0, len(c.archive.Files))
	for _, f := range c.archive.Files {
		names = append(names, f.Name)
	}
	return names
}

// Has says whether the fixture has a part of that name.
func (c *Case) Has(name string) bool {
	_, ok := c.find(name)
	return ok
}

// Part returns a part's bytes and fails the test if it is missing.
func (c *Case) Part(t testing.TB, name string) []byte {
	t.Helper()
	data, ok := c.find(name)
	require.True(t, ok, "%s has no part %q", c.Path, name)
	return bytes.Clone(data)
}

func (c *Case) find(name string) ([]byte, bool) {
	for _, f := range c.archive.Files {
		if f.Name == name {
			return f.Data, true
		}
	}
	return nil, false
}

// Equal compares a part with text; -update rewrites the part instead. A missing part counts as empty.
func (c *Case) Equal(t testing.TB, name, got string) {
	t.Helper()
	if got != "" && !strings.HasSuffix(got, "\n") {
		got += "\n"
	}
	if c.update {
		c.rewrite(t, name, got)
		return
	}
	want, _ := c.find(name)
	assert.Equal(t, string(want), got, "%s: part %q (-update rewrites it)", c.Path, name)
}

func (c *Case) rewrite(t testing.TB, name, text string) {
	t.Helper()
	if want, _ := c.find(name); string(want) == text {
		return
	}
	if !c.Has(name) {
		c.archive.Files = append(c.archive.Files, txtar.File{Name: name})
	}
	for i := range c.archive.Files {
		if c.archive.Files[i].Name == name {
			c.archive.Files[i].Data = []byte(text)
		}
	}
	require.NoError(t, os.WriteFile(c.Path, txtar.Format(c.archive), 0o644))
}

// EqualTelemetry compares the part "telemetry" with the self-metrics whose names begin with prefix.
func (c *Case) EqualTelemetry(t testing.TB, tel *componenttest.Telemetry, prefix string) {
	t.Helper()
	c.Equal(t, "telemetry", strings.Join(FormatTelemetry(t, tel, prefix), "\n"))
}

// CaseConfig reads the part config.yaml over the factory's defaults and validates it; without the part it returns
// the defaults.
func CaseConfig[C component.Config](t testing.TB, c *Case, factory component.Factory) C {
	t.Helper()
	cfg, ok := factory.CreateDefaultConfig().(C)
	require.True(t, ok, "%s makes another type of configuration", factory.Type())
	if c.Has("config.yaml") {
		values := map[string]any{}
		require.NoError(t, yaml.Unmarshal(c.Part(t, "config.yaml"), &values), c.Path)
		require.NoError(t, confmap.NewFromStringMap(values).Unmarshal(cfg), c.Path)
	}
	require.NoError(t, confmap.Validate(cfg), c.Path)
	return cfg
}
