package merge

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// TestARefusedWindowJoinsTheNextOne: what came while a window of deltas was on its way may begin after it or before it.
func TestARefusedWindowJoinsTheNextOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ first, second [2]float64 }{
		"after":  {[2]float64{10, 20}, [2]float64{20, 30}},
		"before": {[2]float64{20, 30}, [2]float64{10, 18}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(testConfig(), plain{}, sec(0))
			r.now = sec(31)
			r.feed(one(DeltaSum, "a", sec(c.first[0]), sec(c.first[1]), 1))
			assert.Len(t, r.Flush(r.now, &r.counts, false), 1)
			r.feed(one(DeltaSum, "b", sec(c.second[0]), sec(c.second[1]), 2))
			r.Rollback("", r.now)
			p := onlyPoint(t, r.flush())
			assert.Equal(t, int64(3), p.IntValue())
			assert.Equal(t, pcommon.Timestamp(sec(10)), p.StartTimestamp())
			assert.Equal(t, pcommon.Timestamp(sec(30)), p.Timestamp())
		})
	}
}
