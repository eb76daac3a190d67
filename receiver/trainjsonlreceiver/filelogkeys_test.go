package trainjsonlreceiver

import (
	"reflect"
	"strings"
	"testing"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/adapter"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator/input/file"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
)

// keysOf gives the keys that an operator may write for a struct.
func keysOf(t reflect.Type) map[string]bool {
	keys := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, tagged := strings.Cut(f.Tag.Get("mapstructure"), ",")
		if tagged && strings.Contains(options, "squash") {
			for key := range keysOf(f.Type) {
				keys[key] = true
			}
		} else if name != "" && name != "-" {
			keys[name] = true
		}
	}
	return keys
}

// TestEachKeyOfFileLogIsTakenOrSaysWhatToDo compares with the keys that file_log has.
func TestEachKeyOfFileLogIsTakenOrSaysWhatToDo(t *testing.T) {
	t.Parallel()
	theirs := keysOf(reflect.TypeFor[file.Config]())
	for key := range keysOf(reflect.TypeFor[adapter.BaseConfig]()) {
		theirs[key] = true
	}
	require.Greater(t, len(theirs), 30)
	ours := keysOf(reflect.TypeFor[Config]())
	for key := range theirs {
		_, refused := fileLogKeys[key]
		assert.True(t, refused != (ours[key] || key == keyMaxLog), "%s: taken, or refused with a remedy", key)
	}
	for key := range fileLogKeys {
		assert.True(t, theirs[key], "%s is no key of file_log", key)
	}
}

func TestKeysOfFileLogThatHaveNoPlaceSayWhatToDo(t *testing.T) {
	t.Parallel()
	for key := range fileLogKeys {
		cfg := createDefaultConfig().(*Config)
		err := confmap.NewFromStringMap(map[string]any{"include": []any{"/x"}, key: "1"}).Unmarshal(cfg)
		require.ErrorContains(t, err, key+": ")
	}
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, confmap.NewFromStringMap(map[string]any{"include": []any{"/x"}, "max_log_size": "1MiB"}).Unmarshal(cfg))
	assert.EqualValues(t, 1<<20, cfg.MaxLineSize)
	require.ErrorContains(t, confmap.NewFromStringMap(map[string]any{"max_log_size": 1, "max_line_size": 1}).Unmarshal(cfg), "max_log_size: ")
	require.Error(t, confmap.NewFromStringMap(map[string]any{"no_such_key": 1}).Unmarshal(cfg))
}
