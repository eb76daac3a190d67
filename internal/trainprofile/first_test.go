package trainprofile

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// The first epoch of a stream tells how it counts; the profile is never certain.
const countingProfile = `
profile: loop
framework: other
detect: {weak: {has_any: [epoch, config]}}
rules: [{name: epoch, when: {has: epoch}, event: epoch.end, phase: train, set: {epoch: {from: epoch, base: first}}}]
`

// TestEpochsThatNothingTellsHowToCountAreTold of the second file of a loop that counts from 1 and resumed, above all.
func TestEpochsThatNothingTellsHowToCountAreTold(t *testing.T) {
	t.Parallel()
	p, err := Parse("loop.yaml", []byte(countingProfile))
	require.NoError(t, err)
	set, err := NewSet("", p)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		start  int64
		epochs []string
		want   []bool
	}{
		"from 1":                 {0, []string{"1", "2"}, []bool{false, false}},
		"from 0":                 {0, []string{"0", "1"}, []bool{false, false}},
		"a resumed run":          {0, []string{"6", "7"}, []bool{true, true}},
		"the start was not seen": {300, []string{"0", "1"}, []bool{false, true}},
		"fractions":              {0, []string{"6.5", "7.0"}, []bool{false, false}},
		"no number":              {0, []string{`"six"`}, []bool{false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, stream := NewMapper(nil), &Stream{}
			for i, epoch := range c.epochs {
				out, _ := process(m, set, stream, rowAt(t, fmt.Sprintf(`{"epoch": %s}`, epoch), c.start+int64(100*i)))
				assert.Equal(t, c.want[i], out.AsWritten, epoch)
			}
		})
	}
}

func TestTheFirstEpochTellsHowAStreamCounts(t *testing.T) {
	t.Parallel()
	p, err := Parse("loop.yaml", []byte(countingProfile))
	require.NoError(t, err)
	set, err := NewSet("", p)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		start  int64  // offset of the first object, -1: objects have none
		before string // an object that stands before it
		epochs []string
		want   []int64
	}{
		"from 1":                         {0, "", []string{"1", "2", "3"}, []int64{0, 1, 2}},
		"from 0":                         {0, "", []string{"0", "1", "2"}, []int64{0, 1, 2}},
		"a resumed run":                  {0, "", []string{"5", "6"}, []int64{5, 6}},
		"after an object without epochs": {0, `{"config": {}}`, []string{"1", "2"}, []int64{0, 1}},
		"after an unknown object":        {0, `{"note": "x"}`, []string{"1", "2"}, []int64{0, 1}},
		"behind a byte order mark":       {3, "", []string{"1", "2"}, []int64{0, 1}},
		"the start was not seen":         {300, "", []string{"1", "2"}, []int64{1, 2}},
		"without places":                 {-1, "", []string{"1", "2"}, []int64{0, 1}},
		"whole floats":                   {0, "", []string{"1.0", "2.0"}, []int64{0, 1}},
		"whole floats from 0":            {0, "", []string{"0.0", "1.0"}, []int64{0, 1}},
		"finished ones":                  {0, "", []string{"0.5", "2.0", "2.5"}, []int64{0, 1, 2}},
		"finished ones from 0":           {0, "", []string{"0.0", "0.5", "1.0", "2"}, []int64{0, 0, 0, 2}},
		"finished ones in the middle":    {300, "", []string{"4.5", "5.0"}, []int64{4, 5}},
		"begun anew":                     {0, "", []string{"1", "2", "1"}, []int64{0, 1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stream, offset := &Stream{}, c.start
			if c.before != "" {
				process(NewMapper(nil), set, stream, rowAt(t, c.before, offset))
				offset += 100
			}
			for reading := range 2 {
				assert.Equal(t, c.want, epochsOf(t, set, stream, c.epochs, offset), "reading %d", reading)
				d, told := stream.Decision()
				assert.Equal(t, told, d.Likely)
				life := stream.Life()
				stream = &Stream{} // a restart
				stream.Restore(d)
				stream.RestoreLife(life)
			}
		})
	}
}

// epochsOf maps rows with these epochs, one behind the other, and gives the indexes that they became.
func epochsOf(t *testing.T, set *Set, stream *Stream, epochs []string, offset int64) (got []int64) {
	m := NewMapper(nil)
	for i, epoch := range epochs {
		at := offset
		if at >= 0 {
			at += int64(100 * i)
		}
		out, all := process(m, set, stream, rowAt(t, fmt.Sprintf(`{"epoch": %s}`, epoch), at))
		require.Equal(t, Mapped, out.Kind)
		assert.True(t, out.Weak)
		v, ok := all[0].Body().Map().Get(trainrecord.BodyEpoch)
		require.True(t, ok)
		got = append(got, v.Int())
	}
	return got
}

// rowAt decodes an object that stands at an offset of its stream; -1: it has no place.
func rowAt(t *testing.T, line string, offset int64) plog.LogRecord {
	lr := decode(t, line)
	if offset >= 0 {
		lr.Attributes().PutInt(trainrecord.AttrLogFileRecordOffset, offset)
	}
	return lr
}

// TestAStrongConditionRevisesWhatWasLikely has a stream that began with rows that any loop may write.
func TestAStrongConditionRevisesWhatWasLikely(t *testing.T) {
	t.Parallel()
	loop, err := Parse("loop.yaml", []byte(countingProfile))
	require.NoError(t, err)
	all, err := Embedded()
	require.NoError(t, err)
	set, err := NewSet("", append(all, loop)...)
	require.NoError(t, err)
	rows := []struct {
		line, profile string
		weak, revised bool
	}{
		{`{"epoch": 1}`, "loop", true, false},
		{`{"epoch": 2}`, "loop", true, false},
		{hfRow, "huggingface", false, true},
		{`{"epoch": 2}`, "huggingface", false, false},
	}
	stream := &Stream{}
	for reading := range 2 {
		m := NewMapper(nil)
		for i, r := range rows {
			lr := decode(t, r.line)
			lr.Attributes().PutInt(trainrecord.AttrLogFileRecordOffset, int64(100*i))
			out, records := process(m, set, stream, lr)
			require.Equal(t, r.profile, out.Profile.Name(), "reading %d, row %d", reading, i)
			assert.Equal(t, r.weak, out.Weak)
			assert.Equal(t, r.revised && reading == 0, out.Revised)
			if i == 1 {
				v, _ := records[0].Body().Map().Get(trainrecord.BodyEpoch)
				assert.Equal(t, int64(1), v.Int())
			}
		}
		d, _ := stream.Decision()
		stream = &Stream{} // a restart
		stream.Restore(d)
	}
}

func TestTheSameProfileBecomesSurer(t *testing.T) {
	t.Parallel()
	set := embeddedSet(t)
	stream := &Stream{}
	stream.Restore(Decision{Profile: set.Profile("lightning"), Likely: true, Base: &EpochBase{First: 1}})
	lr := decode(t, `{"lr-Adam": 0.1, "step": 4}`)
	out, _ := process(NewMapper(nil), set, stream, lr)
	assert.True(t, out.Detected)
	assert.False(t, out.Revised)
	d, _ := stream.Decision()
	assert.Equal(t, Decision{Profile: set.Profile("lightning"), Base: &EpochBase{First: 1}}, d)
}
