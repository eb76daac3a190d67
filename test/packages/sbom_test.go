package packages

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

// TestTheSbomHasEveryModuleOfEveryBinary that is packaged, and Go's own library: who looks for a hole looks there.
func TestTheSbomHasEveryModuleOfEveryBinary(t *testing.T) {
	t.Parallel()
	top := collector.Root(t)
	var sbom struct {
		Components   []struct{ Name, Version, Type string }
		Dependencies []struct{ DependsOn []string }
	}
	_, err := os.Stat(filepath.Join(top, "dist", "sbom.json"))
	require.NoError(t, err, "run make package")
	decode(t, filepath.Join(top, "dist", "sbom.json"), &sbom)
	listed, applications := map[string]bool{}, 0
	for _, c := range sbom.Components {
		key := c.Name + " " + c.Version
		require.False(t, listed[key], "%s stands there twice", key)
		listed[key] = true
		if c.Type == "application" {
			applications++
		}
	}
	assert.Equal(t, 2, applications, "the commands beside the Collector")
	for _, binary := range []string{"otelcol-train/otelcol-train", "otelcol-train-compat", "trainsummary"} {
		info, err := buildinfo.ReadFile(filepath.Join(top, "build", binary))
		require.NoError(t, err)
		assert.True(t, listed["std "+strings.TrimPrefix(info.GoVersion, "go")] || listed["std "+info.GoVersion], "%s: %s", binary, info.GoVersion)
		for _, d := range info.Deps {
			name, version := d.Path, d.Version
			if d.Replace != nil {
				version = d.Replace.Version
				if version != "(devel)" {
					name = d.Replace.Path
				}
			}
			assert.True(t, listed[name+" "+version], "%s: %s %s is not in the SBOM", binary, name, version)
		}
	}
}
