package trainprofile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// TestObjectsReadAgainAreMappedAsBefore has a row before the one that decides: in a second reading it is as unknown as in
// the first.
func TestObjectsReadAgainAreMappedAsBefore(t *testing.T) {
	t.Parallel()
	set, m := embeddedSet(t), NewMapper(nil)
	rows := []struct {
		offset int64
		line   string
		want   Kind
	}{
		{50, `{"speed": 0.5, "step": 4}`, Unmapped},
		{90, `{"lr-Adam": 0.1, "step": 4}`, Mapped},
		{120, `{"speed": 0.25, "step": 9}`, Mapped},
	}
	stream := &Stream{}
	for range 2 {
		for i, r := range rows {
			lr := decode(t, r.line)
			lr.Attributes().PutInt(trainrecord.AttrLogFileRecordOffset, r.offset)
			out, _ := process(m, set, stream, lr)
			assert.Equal(t, r.want, out.Kind, "row %d", i)
		}
		d, ok := stream.Decision()
		require.True(t, ok)
		assert.Equal(t, Decision{Profile: set.Profile("lightning"), Offset: 90}, d)
		stream = &Stream{} // a restart
		stream.Restore(d)
	}
}

func TestDecisionsWithoutAPlaceHoldForAll(t *testing.T) {
	t.Parallel()
	set, m := embeddedSet(t), NewMapper(nil)
	stream := &Stream{}
	out, _ := process(m, set, stream, decode(t, `{"lr-Adam": 0.1, "step": 4}`))
	require.True(t, out.Detected)
	for _, offset := range []int64{-1, 0, 5} {
		lr := decode(t, `{"train_loss": 0.5, "epoch": 0, "step": 4}`)
		if offset >= 0 {
			lr.Attributes().PutInt(trainrecord.AttrLogFileRecordOffset, offset)
		}
		out, _ = process(m, set, stream, lr)
		assert.Equal(t, Mapped, out.Kind)
	}
	stream.Forget()
	_, ok := stream.Decision()
	assert.False(t, ok)
	assert.Nil(t, stream.Profile())
	assert.Nil(t, set.Profile("nope"))
}

// TestAnEarlierObjectThatIsRecognisedDecidesAnew is a file that was written again without anybody noticing.
func TestAnEarlierObjectThatIsRecognisedDecidesAnew(t *testing.T) {
	t.Parallel()
	set, m := embeddedSet(t), NewMapper(nil)
	stream := &Stream{}
	stream.Restore(Decision{Profile: set.Profile("lightning"), Offset: 90})
	lr := decode(t, hfRow)
	lr.Attributes().PutInt(trainrecord.AttrLogFileRecordOffset, 20)
	out, _ := process(m, set, stream, lr)
	assert.True(t, out.Detected)
	d, _ := stream.Decision()
	assert.Equal(t, Decision{Profile: set.Profile("huggingface"), Offset: 20}, d)
}
