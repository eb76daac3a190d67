package quoted

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.yaml.in/yaml/v3"
)

func TestEscapesReadBackInJSONAndYAML(t *testing.T) {
	t.Parallel()
	escaped := 0
	for r := range rune(0x80) {
		text, ok := Append([]byte{'"'}, r)
		if !ok {
			assert.Equal(t, `"`, string(text))
			continue
		}
		escaped++
		whole := append(text, '"')
		assert.Len(t, whole, 4)
		for name, read := range map[string]func([]byte, any) error{"JSON": json.Unmarshal, "YAML": yaml.Unmarshal} {
			var got string
			assert.NoError(t, read(whole, &got), name)
			assert.Equal(t, string(r), got, fmt.Sprintf("%s of %q", name, r))
		}
	}
	assert.Equal(t, 7, escaped)
}
