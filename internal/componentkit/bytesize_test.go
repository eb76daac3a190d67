package componentkit

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"pgregory.net/rapid"
)

func TestSizesAreReadFromConfigurations(t *testing.T) {
	t.Parallel()
	for in, want := range map[any]ByteSize{
		0: 0, 16777216: 16 << 20, -1: -1,
		"0": 0, "4096": 4096, "4096B": 4096, "16KiB": 16 << 10, "16 MiB": 16 << 20, "3GiB": 3 << 30,
		"64KB": 64_000, "64MB": 64_000_000, "2GB": 2_000_000_000, "9223372036854775807": 1<<63 - 1,
	} {
		var got struct {
			Size ByteSize `mapstructure:"size"`
		}
		require.NoError(t, confmap.NewFromStringMap(map[string]any{"size": in}).Unmarshal(&got), in)
		assert.Equal(t, want, got.Size, in)
	}
}

func TestWhatIsNoSizeIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"", "MiB", "-1", "-1MiB", "1.5MiB", "16MIB", "16mib", "16M", "1 2", "9223372036854775808", "9007199254740992KiB", "1e6"} {
		s := ByteSize(7)
		require.EqualError(t, s.UnmarshalText([]byte(in)), `want a size such as 4096 or 16MiB, got "`+in+`"`)
		assert.Equal(t, ByteSize(7), s)
	}
}

func TestNoTextGivesANegativeSize(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s ByteSize
		_ = s.UnmarshalText([]byte(rapid.StringMatching(`-?[0-9]{1,20} ?[KMG]?i?B?`).Draw(t, "text")))
		assert.GreaterOrEqual(t, s, ByteSize(0))
	})
}

func TestUnitsMultiply(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 1<<32).Draw(t, "n")
		u := rapid.SampledFrom(byteUnits[:]).Draw(t, "unit")
		var s ByteSize
		require.NoError(t, s.UnmarshalText(fmt.Appendf(nil, "%d%s", n, u.suffix)))
		assert.Equal(t, n*u.bytes, int64(s))
	})
}
