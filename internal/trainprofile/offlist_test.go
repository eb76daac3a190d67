package trainprofile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const offListProfile = `
profile: house
framework: other
header: {phase: {from: stage}}
rules:
  - name: start
    when: {has: begins}
    event: run.start
    phase: run
    set: {task_family: {from: task}}
  - name: end
    when: {has: ends}
    event: run.end
    phase: run
    continue: true
    set: {outcome: how}
  - {name: further, when: {has: ends}, event: phase.end}
  - {name: step, event: step.end, set: {step: it}}
`

// TestValuesOffTheirListAreKeptAndCounted has what an object or its log record says of framework, phase and task family.
func TestValuesOffTheirListAreKeptAndCounted(t *testing.T) {
	t.Parallel()
	p, err := Parse("house.yaml", []byte(offListProfile))
	require.NoError(t, err)
	offList := func(fields ...string) (errs []FieldError) {
		for _, f := range fields {
			errs = append(errs, FieldError{Field: f, Reason: ReasonOffList})
		}
		return errs
	}
	for name, c := range map[string]struct {
		line             string
		framework, phase string // of the log record
		want             [2]string
		kept             map[string]any
		errs             []FieldError
	}{
		"on their lists":             {`{"it": 1, "framework": "jax", "stage": "test"}`, "", "", [2]string{"jax", "test"}, nil, nil},
		"nothing said":               {`{"it": 1}`, "", "", [2]string{"other", ""}, nil, nil},
		"other is a value":           {`{"it": 1, "framework": "other", "stage": "other"}`, "", "", [2]string{"other", "other"}, nil, nil},
		"framework of the object":    {`{"it": 1, "framework": "ours"}`, "", "", [2]string{"other", ""}, map[string]any{"framework": "ours"}, offList("framework")},
		"framework of the record":    {`{"it": 1}`, "ours", "", [2]string{"other", ""}, map[string]any{"framework": "ours"}, offList("framework")},
		"the profile's name":         {`{"it": 1, "framework": "house"}`, "", "", [2]string{"other", ""}, map[string]any{"framework": "house"}, nil},
		"two frameworks":             {`{"it": 1, "framework": "ours"}`, "jax", "", [2]string{"jax", ""}, map[string]any{"framework": "ours"}, nil},
		"phase of the object":        {`{"it": 1, "stage": "warm-up"}`, "", "", [2]string{"other", "other"}, map[string]any{"phase": "warm-up"}, offList("phase")},
		"phase of the record":        {`{"it": 1, "x": 2}`, "", "warm-up", [2]string{"other", "other"}, map[string]any{"phase": "warm-up", "x": int64(2)}, offList("phase")},
		"both, and a key of its own": {`{"it": 1, "phase": "own", "framework": "ours"}`, "", "warm-up", [2]string{"other", "other"}, map[string]any{"phase": "own", "framework": "ours"}, offList("framework", "phase")},
		"outcome":                    {`{"ends": 1, "how": "fine"}`, "", "", [2]string{"other", "run"}, map[string]any{"ends": int64(1), "how": "fine"}, offList("outcome")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := NewSet("house", p)
			require.NoError(t, err)
			lr := decode(t, c.line)
			for key, v := range map[string]string{trainrecord.AttrFramework: c.framework, trainrecord.AttrPhase: c.phase} {
				if v != "" {
					lr.Attributes().PutStr(key, v)
				}
			}
			out, _ := process(NewMapper(nil), set, nil, lr)
			require.Equal(t, Mapped, out.Kind)
			assert.Equal(t, c.want, [2]string{attribute(lr, trainrecord.AttrFramework), attribute(lr, trainrecord.AttrPhase)})
			kept, _ := lr.Body().Map().AsRaw()[trainrecord.BodyFramework].(map[string]any)
			assert.Equal(t, c.kept, kept)
			assert.ElementsMatch(t, c.errs, out.Errors)
		})
	}
}

func TestATaskFamilyOffItsListIsOther(t *testing.T) {
	t.Parallel()
	p, err := Parse("house.yaml", []byte(offListProfile))
	require.NoError(t, err)
	set, err := NewSet("house", p)
	require.NoError(t, err)
	for task, want := range map[string]string{"detection": "detection", "other": "other", "origami": "other"} {
		lr := decode(t, `{"begins": true, "task": "`+task+`"}`)
		out, _ := process(NewMapper(nil), set, nil, lr)
		body := lr.Body().Map().AsRaw()
		assert.Equal(t, want, body[trainrecord.BodyTaskFamily])
		assert.Equal(t, want, attribute(lr, trainrecord.AttrTaskFamily))
		kept := map[string]any{"begins": true}
		if task != want {
			kept["task"] = task
			assert.Equal(t, []FieldError{{Field: trainrecord.BodyTaskFamily, Reason: ReasonOffList}}, out.Errors)
		} else {
			assert.Empty(t, out.Errors)
		}
		assert.Equal(t, kept, body[trainrecord.BodyFramework])
	}
}

func attribute(lr plog.LogRecord, key string) string {
	v, ok := lr.Attributes().Get(key)
	if !ok {
		return ""
	}
	return v.Str()
}
