package trainprofile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const (
	hfRow        = `{"loss": 0.5, "learning_rate": 0.1, "epoch": 0.5}`
	lightningRow = `{"lr-Adam": 0.1, "step": 1}`
	weakRow      = `{"val_loss": 0.5, "epoch": 0, "step": 1}`
	unknownRow   = `{"speed": 0.5, "step": 1}`
)

func TestFirstRecognisedObjectDecidesForItsStream(t *testing.T) {
	t.Parallel()
	m, set, stream := NewMapper(nil), embeddedSet(t), &Stream{}
	for _, step := range []struct {
		line, profile string
		kind          Kind
		detected      bool
		weak          bool
	}{
		{unknownRow, "", Unmapped, false, false},
		{weakRow, "lightning", Mapped, false, true}, // decides nothing
		{hfRow, "huggingface", Mapped, true, false},
		{lightningRow, "huggingface", Unmapped, false, false}, // no rule of the stream's profile
		{`{"accuracy": 0.5, "epoch": 1}`, "huggingface", Mapped, false, false},
	} {
		out, _ := process(m, set, stream, decode(t, step.line))
		assert.Equal(t, step.kind, out.Kind, step.line)
		assert.Equal(t, step.detected, out.Detected, step.line)
		assert.Equal(t, step.weak, out.Weak, step.line)
		if step.profile == "" {
			assert.Nil(t, out.Profile, step.line)
			continue
		}
		assert.Equal(t, step.profile, out.Profile.Name(), step.line)
	}
	stream.Forget()
	out, _ := process(m, set, stream, decode(t, lightningRow))
	assert.Equal(t, "lightning", out.Profile.Name())
	assert.Same(t, out.Profile, stream.Profile())
}

func TestNamedFrameworkWins(t *testing.T) {
	t.Parallel()
	const object = `{"framework": "lightning", "loss": 0.5, "learning_rate": 0.1, "epoch": 0.5, "step": 3}`
	plain, err := Embedded()
	require.NoError(t, err)
	byConfig, err := NewSet("ultralytics", plain...)
	require.NoError(t, err)
	decided := func() *Stream {
		s := &Stream{}
		_, _ = process(NewMapper(nil), embeddedSet(t), s, decode(t, hfRow))
		return s
	}
	for name, c := range map[string]struct {
		set                     *Set
		attribute, line         string
		profile, wantsFramework string
	}{
		"the attribute, over the object": {byConfig, "ultralytics", object, "ultralytics", "ultralytics"},
		"the object, over the setting":   {byConfig, "", object, "lightning", "lightning"},
		"the setting, over the stream":   {byConfig, "", hfRow, "ultralytics", "ultralytics"},
		"no profile of that name":        {embeddedSet(t), "paddle", hfRow, "huggingface", "paddle"},
		"a name that nobody knows":       {embeddedSet(t), "mine", hfRow, "huggingface", "huggingface"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lr := decode(t, c.line)
			if c.attribute != "" {
				lr.Attributes().PutStr(trainrecord.AttrFramework, c.attribute)
			}
			out, _ := process(NewMapper(nil), c.set, decided(), lr)
			require.Equal(t, Mapped, out.Kind)
			assert.Equal(t, c.profile, out.Profile.Name())
			v, _ := lr.Attributes().Get(trainrecord.AttrFramework)
			assert.Equal(t, c.wantsFramework, v.Str())
		})
	}
}

func TestFrameworkOfSeveralProfilesLetsThemRecognise(t *testing.T) {
	t.Parallel()
	parse := func(name, key string) *Profile {
		p, err := Parse(name+".yaml", []byte("profile: "+name+"\nframework: jax\ndetect: {strong: {has: "+key+
			"}}\nrules: [{name: a, event: step.end, set: {step: "+key+"}}]"))
		require.NoError(t, err)
		return p
	}
	set, err := NewSet("jax", parse("one", "a"), parse("two", "b"), parse("jax", "c"))
	require.NoError(t, err)
	for line, want := range map[string]string{`{"b": 1}`: "two", `{"a": 1}`: "one", `{"c": 1}`: "jax", `{"d": 1}`: "jax"} {
		out, _ := process(NewMapper(nil), set, nil, decode(t, line))
		assert.Equal(t, want, out.Profile.Name(), line)
	}
}

// TestAFrameworkWithoutAProfileOfItsNameTakesWhatHasARule names a framework whose first profile has nothing for the object.
func TestAFrameworkWithoutAProfileOfItsNameTakesWhatHasARule(t *testing.T) {
	t.Parallel()
	parse := func(name, key string) *Profile {
		p, err := Parse(name+".yaml", []byte("profile: "+name+"\nframework: jax\ndetect: {strong: {has: "+key+
			"_x}}\nrules: [{name: a, when: {has: "+key+"}, event: step.end}]"))
		require.NoError(t, err)
		return p
	}
	set, err := NewSet("jax", parse("one", "a"), parse("two", "b"))
	require.NoError(t, err)
	for line, want := range map[string]Kind{`{"a": 1}`: Mapped, `{"b": 1}`: Mapped, `{"c": 1}`: Unmapped} {
		out, _ := process(NewMapper(nil), set, nil, decode(t, line))
		assert.Equal(t, want, out.Kind, line)
	}
}

// TestEachKindOfRowIsRecognisedByItself is what a restart in the middle of a file needs.
func TestEachKindOfRowIsRecognisedByItself(t *testing.T) {
	t.Parallel()
	set := embeddedSet(t)
	for _, f := range fixtures(t, "*") {
		if !f.alone {
			continue
		}
		m, stream := NewMapper(nil), &Stream{}
		for _, line := range f.in {
			alone, ok := receive(t, line)
			if !ok {
				continue
			}
			inStream, _ := receive(t, line)
			out, all := process(m, set, nil, alone)
			require.Equal(t, Mapped, out.Kind, line)
			_, want := process(m, set, stream, inStream)
			require.Len(t, all, len(want))
			for i := range all {
				assert.Equal(t, show(want[i]), show(all[i]))
			}
		}
	}
}

func TestWhatIsARecordPassesUntouched(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(lr plog.LogRecord){
		"a record":        func(lr plog.LogRecord) { lr.SetEventName(trainrecord.EventName(trainrecord.EventLog)) },
		"another's event": func(lr plog.LogRecord) { lr.SetEventName("app.event") },
		"a sentence":      func(lr plog.LogRecord) { lr.Body().SetStr("epoch done") },
		"bytes":           func(lr plog.LogRecord) { lr.Body().SetEmptyBytes().FromRaw([]byte{1}) },
		"nothing":         func(lr plog.LogRecord) { plog.NewLogRecord().CopyTo(lr) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lr := decode(t, hfRow)
			edit(lr)
			before := show(lr)
			out, all := process(NewMapper(nil), embeddedSet(t), nil, lr)
			assert.Equal(t, Untouched, out.Kind)
			assert.Len(t, all, 1)
			assert.Equal(t, before, show(lr))
		})
	}
}

func TestFurtherRecordsHaveUIDsOfTheirOwn(t *testing.T) {
	t.Parallel()
	p, err := Parse("x.yaml", []byte("profile: x\nframework: other\nrules: [{name: a, event: phase.end, continue: true}, {name: b, event: run.end}]"))
	require.NoError(t, err)
	set, err := NewSet("x", p)
	require.NoError(t, err)
	uid := trainrecord.UID{RunID: "a/b", File: 7, Offset: 9, CRC: 5}
	second := uid
	second.Index = 1
	for given, want := range map[string]string{uid.String(): second.String(), "theirs": "theirs/1", "": ""} {
		lr := decode(t, `{"epoch": 3}`)
		if given != "" {
			lr.Attributes().PutStr(trainrecord.AttrLogRecordUID, given)
		}
		_, all := process(NewMapper(nil), set, nil, lr)
		require.Len(t, all, 2)
		for i, want := range []string{given, want} {
			v, ok := all[i].Attributes().Get(trainrecord.AttrLogRecordUID)
			assert.Equal(t, want != "", ok)
			if ok {
				assert.Equal(t, want, v.Str())
			}
		}
	}
}

func TestAnObjectMaySayThatTrainingIsOver(t *testing.T) {
	t.Parallel()
	set, err := Load("", nil)
	require.NoError(t, err)
	for text, closes := range map[string]bool{
		`{"epoch": 3, "time": 39.7, "train/box_loss": 1.3, "metrics/mAP50(B)": 0.5, "val/box_loss": 1.2, "lr/pg0": 0.1}`: false,
		`{"epoch": 3, "train/box_loss": 1.3, "metrics/mAP50(B)": 0.5, "lr/pg0": 0.1}`:                                    true,
	} {
		lr := plog.NewLogRecord()
		trainrecord.NewDecoder(trainrecord.DecoderOptions{}).Decode([]byte(text), lr)
		out := NewMapper(nil).Process(set, nil, lr, plog.NewLogRecord)
		assert.Equal(t, Mapped, out.Kind)
		assert.Equal(t, closes, out.Closes, text)
	}
}

// TestARecordWithNullAsItsTimeHasNone: no rule of a loop reads its event and leaves its body.
func TestARecordWithNullAsItsTimeHasNone(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`{"ts": null, "event": "run.end", "run_id": "n", "body": {"outcome": "failed"}}`,
		`{"event": "run.end", "run_id": "n", "body": {"outcome": "failed"}}`,
	} {
		out, _ := process(NewMapper(nil), embeddedSet(t), &Stream{}, decode(t, line))
		assert.Equal(t, Unmapped, out.Kind, line)
	}
}
