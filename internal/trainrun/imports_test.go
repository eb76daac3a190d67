package trainrun

import (
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// allowed are all packages that the fold may import.
var allowed = []string{
	"bytes", "cmp", "crypto/sha256", "encoding/binary", "encoding/hex", "errors", "fmt", "maps", "math", "math/bits", "slices", "sort",
	"strconv", "strings", "unsafe",
	"go.opentelemetry.io/collector/pdata/pcommon",
	"github.com/pathologize/otelcol-train/internal/trainrecord",
	"github.com/pathologize/otelcol-train/internal/trainrun/secret",
}

func checkImports(t *testing.T, name string) {
	t.Helper()
	if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
		return
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
	require.NoError(t, err)
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		assert.Contains(t, allowed, path, name)
	}
}
