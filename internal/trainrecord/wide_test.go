package trainrecord

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"
)

// TestAWideObjectIsTheSameObject puts keys through a Wide and one by one.
func TestAWideObjectIsTheSameObject(t *testing.T) {
	t.Parallel()
	key := rapid.OneOf(rapid.StringMatching("[a-c]{0,2}"), rapid.String(), rapid.SampledFrom([]string{"", strings.Repeat("long", 200)}))
	var w Wide // used again and again
	rapid.Check(t, func(t *rapid.T) {
		want, got := pcommon.NewMap(), pcommon.NewMap()
		for i, k := range rapid.SliceOfN(key, 0, 10).Draw(t, "own") {
			want.PutInt(k, int64(i))
			got.PutInt(k, int64(i))
		}
		for i, k := range rapid.SliceOfN(key, 0, 30).Draw(t, "put") {
			a, foundA := want.GetOrPutEmpty(k)
			b, foundB := w.Put(got, k)
			require.Equal(t, foundA, foundB)
			a.SetInt(int64(100 + i))
			b.SetInt(int64(100 + i))
		}
		w.Flush(got)
		require.Equal(t, pairs(want), pairs(got))
		w.Flush(got)
		require.Equal(t, pairs(want), pairs(got))
	})
}

func pairs(m pcommon.Map) (all []string) {
	for k, v := range m.All() {
		all = append(all, fmt.Sprintf("%q %s", k, v.AsString()))
	}
	return all
}

// TestAWideRowIsReadInItsOrder has more keys than a Wide begins with, one of them twice on each side of that.
func TestAWideRowIsReadInItsOrder(t *testing.T) {
	t.Parallel()
	line, want := &strings.Builder{}, []string{`"again" 3`}
	line.WriteString(`{"again": 1`)
	for i := range 3 * WideFrom {
		fmt.Fprintf(line, `, "key_%d": {"n": %d}`, i, i)
		want = append(want, fmt.Sprintf(`"key_%d" {"n":%d}`, i, i))
	}
	want[1+2*WideFrom] = fmt.Sprintf(`"key_%d" late`, 2*WideFrom)
	fmt.Fprintf(line, `, "key_%d": "late", "again": 2, "again": 3}`, 2*WideFrom)
	lr := plog.NewLogRecord()
	l := NewDecoder(DecoderOptions{}).Decode([]byte(line.String()), lr)
	require.Equal(t, LineObject, l.Kind)
	assert.Equal(t, want, pairs(lr.Body().Map()))
}
