package ports

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNoTestAsksForAPortByItself: who asks for any port, and lets it go for a process to take, shares it with all who ask meanwhile.
func TestNoTestAsksForAPortByItself(t *testing.T) {
	t.Parallel()
	anyPort := regexp.MustCompile("(127\\.0\\.0\\.1|0\\.0\\.0\\.0|localhost|\\[::1?\\]|[\"'`]):0[\"'`]")
	root := filepath.Join("..", "..")
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || filepath.Dir(path) == filepath.Join(root, "internal", "ports") {
			return err
		}
		text, err := os.ReadFile(path) //nolint:gosec // the repository's
		assert.NotRegexp(t, anyPort, string(text), "%s: take an address of ports.Free, and listen there", path)
		return err
	}))
}
