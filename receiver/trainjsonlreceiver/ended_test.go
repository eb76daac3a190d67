package trainjsonlreceiver

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/pathologize/otelcol-train/internal/trainlines"
)

// TestWorkAfterTheEndOfARunGoesOn: a requeued training, or another attempt, is no ended stream.
func TestWorkAfterTheEndOfARunGoesOn(t *testing.T) {
	t.Parallel()
	const end = `{"ts":1800000000,"event":"run.end","run_id":"a","body":{"outcome":"success"}}` + "\n"
	for text, want := range map[string]int{
		end:                                     1,
		`{"loss":1.5,"epoch":0.5}` + "\n" + end: 1,
		end + `{"loss":1.5,"epoch":0.5}` + "\n": -1,
		end + `{"ts":1800000000,"event":"step.end","run_id":"a","body":{"step":3}}` + "\n": -1,
		end + `{"ts":1800000000,"event":"epoch.end","run_id":"a","body":{}}` + "\n":        -1,
		end + `{"ts":1800000000,"event":"heartbeat","run_id":"a","body":{}}` + "\n":        -1,
		end + `{"ts":1800000000,"event":"run.start","run_id":"a","body":{}}` + "\n":        -1,
		end + `{"ts":1800000000,"event":"log","run_id":"a","body":{}}` + "\n":              1,
		end + `{"ts":1800000000,"event":"artifact","run_id":"a","body":{}}` + "\n":         1,
		`{"ts":1800000000,"event":"log","run_id":"a","body":{}}` + "\n":                    0,
	} {
		b := newBuilders(trainlines.Options{Prefixes: mustPrefixes(t)}).pool.New().(*builder)
		lines, _ := cut(nil, []byte(text), 0, 1<<20, maxBatch)
		built := b.build(source{id: pathID{run: "a", rank: -1}}, lines)
		assert.EqualValues(t, want, built.lines[len(built.lines)-1].ended, text)
	}
}
