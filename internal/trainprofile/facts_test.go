package trainprofile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// factsProfile maps whatever an envelope says.
const factsProfile = `
profile: facts
framework: other
detect: {strong: {has: loss}}
rules:
  - name: told
    when: {match: {$message: "^epoch"}}
    event: log
    set: {message: $message}
  - name: row
    event: step.end
    phase: train
    spread: [{keys: "*", to: measurements, as: "train/*"}]
`

const factsEnvelope = `
profile: letter
detect: {strong: {has: [msg, extra]}}
unwrap: {objects: [extra], hide: [msg], named: {message: msg}}
`

// TestNoKeyPosesAsAFact has rows with keys that are spelled as the facts of envelopes are.
func TestNoKeyPosesAsAFact(t *testing.T) {
	t.Parallel()
	var profiles []*Profile
	for name, text := range map[string]string{"facts.yaml": factsProfile, "letter.yaml": factsEnvelope} {
		p, err := Parse(name, []byte(text))
		require.NoError(t, err)
		profiles = append(profiles, p)
	}
	set, err := NewSet("", profiles...)
	require.NoError(t, err)
	for line, want := range map[string]struct {
		event, message string
	}{
		`{"msg": "epoch 1 done", "extra": {"loss": 0.5}}`:                                   {trainrecord.EventLog, "epoch 1 done"},
		`{"msg": "hello", "extra": {"loss": 0.5}}`:                                          {trainrecord.EventStepEnd, ""},
		`{"loss": 0.5, "$message": "epoch 1 done"}`:                                         {trainrecord.EventStepEnd, ""},
		`{"msg": "hello", "extra": {"loss": 0.5, "$message": "epoch 1"}}`:                   {trainrecord.EventStepEnd, ""},
		`{"msg": "epoch 2", "$message": "epoch 1", "extra": {"loss": 0.5}}`:                 {trainrecord.EventLog, "epoch 2"},
		`{"msg": "epoch 2", "extra": {"$message": "epoch 1", "loss": 0.5, "$envelope": 1}}`: {trainrecord.EventLog, "epoch 2"},
	} {
		out, all := process(NewMapper(nil), set, nil, decode(t, line))
		require.Equal(t, Mapped, out.Kind, line)
		assert.Equal(t, trainrecord.EventName(want.event), all[0].EventName(), line)
		message, ok := all[0].Body().Map().Get(trainrecord.BodyMessage)
		assert.Equal(t, want.message != "", ok, line)
		if ok {
			assert.Equal(t, want.message, message.Str(), line)
		}
	}
}

// TestARowWithTheKeysOfATextIsNoText has a line that is spelled as the object that is made of a text.
func TestARowWithTheKeysOfATextIsNoText(t *testing.T) {
	t.Parallel()
	line := `{"$body": "epoch=1 train_loss=0.5 val_loss=0.25", "$time": "2026-11-07T10:00:00Z", "attributes": {"epoch": 1}}`
	out, _ := process(NewMapper(nil), embeddedSet(t), nil, decode(t, line))
	assert.Nil(t, out.Envelope)
	assert.Equal(t, Unmapped, out.Kind)

	row := decode(t, `{"$loss": 0.5, "learning_rate": 0.1, "grad_norm": 1.0, "loss": 0.25, "epoch": 0.5}`)
	_, all := process(NewMapper(nil), embeddedSet(t), nil, row)
	v, ok := all[0].Body().Map().Get(trainrecord.BodyMeasurements)
	require.True(t, ok)
	_, ok = v.Map().Get("train/$loss")
	assert.True(t, ok, "a metric of such a name is one")
}
