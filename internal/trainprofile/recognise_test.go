package trainprofile

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// TestTheIndexFindsWhatAskingEveryProfileFinds holds the index to what it replaces: asking each condition of each profile.
func TestTheIndexFindsWhatAskingEveryProfileFinds(t *testing.T) {
	t.Parallel()
	set, rows := embeddedSet(t), sampleLines(t)
	m := NewMapper(nil)
	rapid.Check(t, func(t *rapid.T) {
		lr := plog.NewLogRecord()
		if rapid.Bool().Draw(t, "sample") {
			trainrecord.NewDecoder(trainrecord.DecoderOptions{}).Decode([]byte(rapid.SampledFrom(rows).Draw(t, "row")), lr)
			if lr.EventName() != "" {
				return
			}
		} else {
			drawMap(t, lr.Body().SetEmptyMap(), 2)
		}
		m.open(lr.Body().Map())
		defer m.views.reset()
		for l := range levelCount {
			may := &m.candidates(set)[l]
			for i, p := range set.profiles {
				if c := p.condition(l); c != nil && c.met(&m.views, m.root) {
					require.True(t, may.has(i), "%s at level %d", p.name, l)
				}
			}
		}
	})
}

// TestRecognitionDoesNotGrowWithProfiles counts how many conditions are asked of a row among a hundred profiles.
func TestRecognitionDoesNotGrowWithProfiles(t *testing.T) {
	t.Parallel()
	var profiles []*Profile
	for i := range 100 {
		p, err := Parse("x.yaml", fmt.Appendf(nil,
			"profile: p%d\nframework: other\ndetect: {strong: {has: [epoch, step, own_%d], like: 'x_*'}}\nrules: [{name: a, event: step.end}]", i, i))
		require.NoError(t, err)
		profiles = append(profiles, p)
	}
	set, err := NewSet("", profiles...)
	require.NoError(t, err)
	m := NewMapper(nil)
	lr := decode(t, `{"epoch": 1, "step": 2, "own_7": 1, "x_a": 1}`)
	m.open(lr.Body().Map())
	candidates := 0
	for i := range set.profiles {
		if m.candidates(set)[levelStrong].has(i) {
			candidates++
		}
	}
	assert.Equal(t, 1, candidates)
	assert.Equal(t, "p7", m.recognise(set, levelStrong).Name())
	for i := range 29 {
		p, err := Parse("x.yaml", fmt.Appendf(nil, "profile: q%d\nframework: other\nrules: [{name: a, event: step.end}]", i))
		require.NoError(t, err)
		profiles = append(profiles, p)
	}
	_, err = NewSet("", profiles...)
	assert.EqualError(t, err, "there are 129 profiles; a set holds 128")
}

func TestWhatTwoFrameworksClaimNobodyHas(t *testing.T) {
	t.Parallel()
	parse := func(name, framework, level string, order int) *Profile {
		p, err := Parse("x.yaml", fmt.Appendf(nil,
			"profile: %s\nframework: %s\norder: %d\ndetect: {%s: {has: epoch}}\nrules: [{name: a, event: step.end}]", name, framework, order, level))
		require.NoError(t, err)
		return p
	}
	for name, c := range map[string]struct {
		one, two *Profile
		want     string
	}{
		"strong":                       {parse("a", "keras", "strong", 5), parse("b", "jax", "strong", 5), ""},
		"weak":                         {parse("a", "keras", "weak", 5), parse("b", "jax", "weak", 5), ""},
		"an order of their own":        {parse("a", "keras", "strong", 6), parse("b", "jax", "strong", 5), "b"},
		"two profiles of a framework":  {parse("a", "jax", "strong", 5), parse("b", "jax", "strong", 5), "a"},
		"a strong one before weak":     {parse("a", "keras", "weak", 1), parse("b", "jax", "strong", 5), "b"},
		"a sure one before strong":     {parse("a", "keras", "strong", 1), parse("b", "jax", "sure", 5), "b"},
		"only one of them is involved": {parse("a", "keras", "strong", 5), parse("b", "jax", "weak", 5), "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := NewSet("", c.one, c.two)
			require.NoError(t, err)
			out, _ := process(NewMapper(nil), set, &Stream{}, decode(t, `{"epoch": 1}`))
			assert.Equal(t, c.want == "", out.Ambiguous)
			if c.want == "" {
				assert.Equal(t, Unmapped, out.Kind)
				return
			}
			assert.Equal(t, c.want, out.Profile.Name())
		})
	}
}

// TestSurerKeysReviseADecision has a row of Hugging Face, then lines that only MLPerf writes: rows between the two stay what
// they were when they are read again.
func TestSurerKeysReviseADecision(t *testing.T) {
	t.Parallel()
	set := embeddedSet(t)
	const mllog = `{"namespace": "", "time_ms": 1790000000000, "event_type": "INTERVAL_END", "key": "epoch_stop", "value": null, "metadata": {"epoch_num": 3}}`
	rows := []struct {
		offset        int64
		line, profile string
	}{
		{0, hfRow, "huggingface"}, {50, `{"accuracy": 0.5, "epoch": 1}`, "huggingface"}, {90, mllog, "mlperf"}, {200, hfRow, "mlperf"},
	}
	stream := &Stream{}
	for reading := range 3 {
		m, revised := NewMapper(nil), 0
		for _, r := range rows {
			lr := decode(t, r.line)
			lr.Attributes().PutInt(trainrecord.AttrLogFileRecordOffset, r.offset)
			out, _ := process(m, set, stream, lr)
			require.Equal(t, r.profile, out.Profile.Name(), "reading %d, offset %d", reading, r.offset)
			if out.Revised {
				revised++
			}
		}
		assert.Equal(t, map[bool]int{true: 1, false: 0}[reading == 0], revised)
		d, _ := stream.Decision()
		stream = &Stream{} // a restart
		stream.Restore(d)
	}
}

func TestAnObjectFromTheMiddleStandsAlone(t *testing.T) {
	t.Parallel()
	set, m := embeddedSet(t), NewMapper(nil)
	at := func(line string, offset int64) plog.LogRecord {
		lr := decode(t, line)
		lr.Attributes().PutInt(trainrecord.AttrLogFileRecordOffset, offset)
		return lr
	}
	whole, middle := &Stream{}, &Stream{}
	out, _ := process(m, set, whole, at(`{"note": "x"}`, 0))
	assert.False(t, out.Alone)
	out, _ = process(m, set, whole, at(weakRow, 50))
	assert.False(t, out.Alone, "the stream was seen from its start")
	out, _ = process(m, set, middle, at(weakRow, 50))
	assert.True(t, out.Alone)
	out, _ = process(m, set, middle, at(hfRow, 90))
	assert.True(t, out.Alone, "its own keys decided")
	out, _ = process(m, set, middle, at(hfRow, 150))
	assert.False(t, out.Alone, "the stream is known")
	out, _ = process(m, set, nil, at(hfRow, 50))
	assert.False(t, out.Alone, "an object without a stream")
	for _, start := range []int64{3, 8} {
		out, _ = process(m, set, &Stream{}, at(hfRow, start))
		assert.False(t, out.Alone, "it is the first line, behind a byte order mark or blank lines")
	}
}
