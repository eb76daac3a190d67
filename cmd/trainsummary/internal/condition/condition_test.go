package condition

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/pathologize/otelcol-train/internal/trainview"
)

// The second validation of an epoch turns the axis of a metric: its best is at a step then, and no other one.
func TestTheSameBestOnAnotherAxisIsNoChange(t *testing.T) {
	t.Parallel()
	at := func(value float64, epoch, step *int64) *trainview.Document {
		return &trainview.Document{Best: &trainview.Best{Metric: "val/loss", Value: trainview.Number(value), Epoch: epoch, Step: step}}
	}
	zero, hundred := int64(0), int64(100)
	start := Of(at(0.9, &zero, nil))
	for _, c := range []Condition{{word: best}, {word: change}} {
		assert.False(t, c.Met(at(0.9, nil, &hundred), start), c.word)
		assert.True(t, c.Met(at(0.4, nil, &hundred), start), c.word)
	}
}

// A run.end whose outcome is off the vocabulary's list is an end all the same: whoever waits for one has it.
func TestAnEndOfUnknownOutcomeIsAnEnd(t *testing.T) {
	t.Parallel()
	end := &trainview.Document{State: trainview.Unknown, Evidence: trainview.Basis{Basis: trainview.BasisEnd}}
	silent := &trainview.Document{State: trainview.Unknown, Evidence: trainview.Basis{Basis: trainview.BasisGrowth}}
	c := Condition{word: ended}
	assert.True(t, c.Met(end, Start{}))
	assert.False(t, c.Met(silent, Start{}))
}
