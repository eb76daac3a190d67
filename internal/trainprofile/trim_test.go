package trainprofile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// TestTrimmedKeys compares the keys of what stays with what the rule says: without white space, unless another key is spelled so,
// in their order, each with its value.
func TestTrimmedKeys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfDistinct(rapid.StringMatching(`[ \t]{0,2}[ab ]{0,3}[ \t]{0,2}`), rapid.ID).Draw(t, "keys")
		if rapid.Bool().Draw(t, "wide") {
			for i := range trainrecord.WideFrom {
				keys = append(keys, fmt.Sprintf(" x%d", i))
			}
		}
		m, want := pcommon.NewMap(), pcommon.NewMap()
		for i, k := range keys {
			m.PutInt(k, int64(i))
		}
		for i, k := range keys {
			key := strings.TrimSpace(k)
			if _, taken := m.Get(key); taken {
				key = k
			}
			if _, taken := want.Get(key); taken {
				key = k
			}
			want.PutInt(key, int64(i))
		}
		trimKeys(m)
		require.True(t, want.Equal(m), "%v %v", want.AsRaw(), m.AsRaw())
		require.Equal(t, orderOf(want), orderOf(m))
	})
}

func orderOf(m pcommon.Map) (keys []string) {
	for k := range m.All() {
		keys = append(keys, k)
	}
	return keys
}
