package trainrun

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTwoHostsThatCountAlike have records of equal attempt, rank, event and number: which one decides must not depend on the
// order of arrival.
func TestTwoHostsThatCountAlike(t *testing.T) {
	t.Parallel()
	of := func(host string, n int64, event Event, d *Detail) Entry {
		return Entry{
			RunID: testRun, Event: event, ID: ID{Kind: IDSeq}, Attempt: 1, Seq: n, Offset: -1, Progress: noProgress,
			Where: Where{Host: host}, Epoch: Int{0, event == EventEpochEnd}, Detail: d,
		}
	}
	list := []Entry{
		of("h1", 1, EventRunStart, &Detail{Params: map[string]any{"lr": 1.0}}),
		of("h2", 1, EventRunStart, &Detail{Params: map[string]any{"lr": 2.0}}),
		of("h1", 2, EventEpochEnd, &Detail{Best: &Objective{Metric: "a"}}),
		of("h2", 2, EventEpochEnd, &Detail{Best: &Objective{Metric: "b"}}),
	}
	one, other := New(testRun), New(testRun)
	for i := range list {
		one.Apply(list[i])
		other.Apply(list[len(list)-1-i])
	}
	assert.Equal(t, dump(one.State()), dump(other.State()))
	assert.Equal(t, one.Snapshot(), other.Snapshot())
}
