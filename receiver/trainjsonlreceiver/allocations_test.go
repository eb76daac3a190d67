//go:build !race

// The race detector makes pools forget at random: what they spare is counted without it.

package trainjsonlreceiver

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainlines"
)

// floor is how many allocations log data takes for what it holds: one for each record, each list of keys, and each value; a
// map is one more.
func floor(logs plog.Logs) (n int) {
	for _, rl := range logs.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				n += 1 + floorOfMap(lr.Attributes()) + floorOfValue(lr.Body())
			}
		}
	}
	return n
}

func floorOfMap(m pcommon.Map) (n int) {
	for _, v := range m.All() {
		n += floorOfValue(v)
	}
	if m.Len() > 0 {
		n++
	}
	return n
}

func floorOfValue(v pcommon.Value) int {
	if v.Type() == pcommon.ValueTypeMap {
		return 2 + floorOfMap(v.Map())
	}
	return 1
}

// TestAllocationsOfARecord is a gate: lines as trainers write them take at most 25 allocations a record, and lines of any shape
// hardly more than log data takes for what it holds. It does not run beside others, whose allocations would count.
func TestAllocationsOfARecord(t *testing.T) { //nolint:paralleltest // see above
	const most = 25
	for name, c := range map[string]struct {
		text string
		more float64
	}{
		"stream": {streamText(), 0.6}, // at the change from steps to epochs and back the list of keys grows
		"heavy":  {heavyText(), 0.1},
		"rows":   {rowText(), 2.1}, // the match of a prefix, and its rank, for which the list grows
	} {
		lines := make([]line, 0, maxBatch)
		b := newBuilders(trainlines.Options{Prefixes: mustPrefixes(t)}).pool.New().(*builder)
		var built *batch
		got := testing.AllocsPerRun(20, func() {
			lines, _ = cut(lines[:0], []byte(c.text), 0, 1<<20, maxBatch)
			built = b.build(benchSource, lines).batches[0]
		}) / maxBatch
		least := float64(floor(built.logs)) / maxBatch
		t.Logf("%s: %.2f, of which log data needs %.2f", name, got, least)
		assert.LessOrEqual(t, got, least+c.more, name)
		if name == "stream" {
			assert.LessOrEqual(t, got, float64(most), name)
		}
	}
}
