package trainprofile

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExampleOfTheREADME maps the row of the README by its profile and compares it with the record there.
func TestExampleOfTheREADME(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("README.md")
	require.NoError(t, err)
	row := regexp.MustCompile("Rows such as `(.*)`:").FindSubmatch(data)
	profile := regexp.MustCompile("(?s)```yaml\n(profile: .*?)```").FindSubmatch(data)
	want := regexp.MustCompile("(?s)```json\n(.*?)\n```").FindSubmatch(data)
	require.NotNil(t, row)
	require.NotNil(t, profile)
	require.NotNil(t, want)
	p, err := Parse("my_trainer.yaml", profile[1])
	require.NoError(t, err)
	set, err := NewSet("", p)
	require.NoError(t, err)
	lr := decode(t, string(row[1]))
	out, all := process(NewMapper(nil), set, nil, lr)
	require.Equal(t, Mapped, out.Kind)
	require.Len(t, all, 1)
	assert.Empty(t, out.Errors)
	assert.Equal(t, show(record(t, string(want[1]))), show(lr))
}

// TestProfilesOfTheREADMEAreRight parses every profile that the README shows.
func TestProfilesOfTheREADMEAreRight(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("README.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```yaml\n(profile: .*?)```").FindAllSubmatch(data, -1)
	require.Len(t, blocks, 4)
	for _, b := range blocks {
		_, err := Parse("readme.yaml", b[1])
		assert.NoError(t, err)
	}
}
