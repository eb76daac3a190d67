package trainrecord

import (
	"crypto/sha256"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDerivedIDsAreThoseOfTheShell(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "f4705d0fcb27dd35a6a3a47af3d5c22f", DerivedTraceID("", "run-a", 1).String())
	assert.Equal(t, "4694bada95eca655", DerivedSpanID("", "run-a", 1, RunSpan).String())

	sum := sha256.Sum256([]byte("train-trace-v1:pepper\x00run-a\x002"))
	salted := DerivedTraceID("pepper", "run-a", 2)
	assert.Equal(t, sum[:16], salted[:])
	sum = sha256.Sum256([]byte("train-span-v1:pepper\x00run-a\x002\x00train\x003\x00s17@fold=0"))
	phase := DerivedSpanID("pepper", "run-a", 2, SpanKey{What: "train", Epoch: "3", Anchor: "s17@fold=0"})
	assert.Equal(t, sum[:8], phase[:])
}

func TestDerivedIDsOfOtherThingsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, id := range []string{
		DerivedSpanID("", "run-a", 1, RunSpan).String(),
		DerivedSpanID("", "run-b", 1, RunSpan).String(),
		DerivedSpanID("", "run-a", 2, RunSpan).String(),
		DerivedSpanID("x", "run-a", 1, RunSpan).String(),
		DerivedSpanID("", "run-a", 1, SpanKey{What: SpanOfStart, Epoch: NoAnchor, Anchor: NoAnchor}).String(),
		DerivedSpanID("", "run-a", 1, SpanKey{What: SpanOfRun, Epoch: "0", Anchor: NoAnchor}).String(),
	} {
		assert.False(t, seen[id], id)
		seen[id] = true
	}
}
