package trainrun

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun/secret"
)

func TestFailuresAndPathsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	e, ok := Reduce(record("run.failure", nil, map[string]any{
		"error_type": "E", "message": "GET https://u:pw@h/ failed", "stack": "  login(\"x\", password='pw')",
	}))
	require.True(t, ok)
	assert.Equal(t, "GET https://***@h/ failed", e.Detail.Message)
	assert.Equal(t, "  login(\"x\", password='***')", e.Detail.Stack)
	assert.Equal(t, int64(2), e.Masked)
	e, _ = Reduce(record("checkpoint.save", nil, map[string]any{"path": "s3://id:pw@bucket/last.pt"}))
	assert.Equal(t, "s3://***@bucket/last.pt", e.Detail.Checkpoint.Path)
	assert.Equal(t, int64(1), e.Masked)
	e, _ = Reduce(record("run.end", nil, map[string]any{
		"stop_reason": "token=pw", "artifacts": []any{map[string]any{"path": "https://h/x?sig=pw"}},
	}))
	assert.Equal(t, "token=***", e.Detail.StopReason)
	assert.Equal(t, "https://h/x?sig=***", e.Detail.Artifacts[0].Path)
	e, _ = Reduce(record("run.start", nil, map[string]any{
		"versions": map[string]any{"torch": "2.9", "hub_token": "pw", "index": "https://u:pw@h"}, "git": map[string]any{"branch": "token=pw", "commit": "https://u:pw@h/c"},
	}))
	assert.NotContains(t, dump(e), "pw")
	assert.Equal(t, int64(4), e.Masked)
}

func TestSightingsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	attrs := pcommon.NewMap()
	require.NoError(t, attrs.FromRaw(map[string]any{
		"service.name": "s", "process.command_line": "train.py --password planted", "process.command_args": []any{"train.py", "--token", "planted"},
		"api_key": "planted", "db.url": "https://u:planted@h/",
	}))
	paths := [][]string{{"params", "hub", "token"}, {"params", "password", "value"}, {"params", "url"}, {"params", "cfg"}, {"params", "model"}}
	var list []Sighting
	replaced := map[string]Replaced{}
	for event, body := range map[string]map[string]any{
		"run.start": {"params": map[string]any{
			"hub": map[string]any{"token": "planted"}, "password": map[string]any{"value": "planted"}, "url": "https://u:planted@h/",
			"cfg": map[string]any{"secret": "planted"}, "model": "dqn",
		}},
		"run.failure": {"error_type": "E(password='planted')", "message": "password='planted' at https://u:planted@h"},
		"run.end":     {"outcome": "failed", "stop_reason": "token=planted"},
	} {
		r := record(event, nil, body)
		r.RunID, r.Part = "run token=planted", "https://u:planted@h/part"
		s, n, ok := Sight(&r, 1, Moment{}, paths)
		require.True(t, ok)
		replaced[event] = n
		if event == "run.start" {
			assert.Equal(t, "dqn", s.Detail.Extra[4])
		}
		e, _ := Reduce(r)
		assert.Equal(t, e.RunID, s.RunID, "the run of the result")
		var secrets int64
		s.Source, secrets = SourceOf(attrs)
		assert.Equal(t, int64(4), secrets)
		list = append(list, s)
	}
	assert.Equal(t, map[string]Replaced{"run.start": {Secrets: 6}, "run.failure": {Secrets: 5}, "run.end": {Secrets: 3}}, replaced)
	stored := string(AppendSightings(nil, list))
	assert.NotContains(t, stored, "planted")
	assert.Contains(t, stored, secret.Mask)
	kept, _ := attrs.Get("api_key")
	assert.Equal(t, "planted", kept.Str(), "the record itself is as it was")
}

func TestValuesOffAListAreCounted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		record trainrecord.Record
		want   int64
	}{
		"on the lists": {record("run.start", nil, map[string]any{"task_family": "other"}), 0},
		"family":       {record("run.start", nil, map[string]any{"task_family": "juggling"}), 1},
		"outcome":      {record("run.end", nil, map[string]any{"outcome": "splendid"}), 1},
		"none":         {record("run.end", nil, nil), 0},
		"of the run":   {record("run.start", map[string]any{trainrecord.AttrPhase: "run"}, nil), 0},
	} {
		r := tc.record
		_, n, ok := Sight(&r, 1, Moment{}, nil)
		require.True(t, ok, name)
		assert.Equal(t, Replaced{OffList: tc.want}, n, name)
		r.Framework, r.Phase = "abacus", "juggling"
		_, n, _ = Sight(&r, 1, Moment{}, nil)
		assert.Equal(t, Replaced{OffList: tc.want + 2}, n, name)
	}
}

func TestASecretAtTheCutStaysOut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x ", MaxText/2-8) + "token=" + strings.Repeat("secret", 10)
	e, _ := Reduce(record("run.failure", nil, map[string]any{"message": long}))
	assert.NotContains(t, e.Detail.Message, "sec")
	assert.LessOrEqual(t, len(e.Detail.Message), MaxText)
}

// The masker knows a text that was cut by its length.
func TestTheMaskerKnowsWhereTextsAreCut(t *testing.T) {
	t.Parallel()
	assert.Equal(t, trainrecord.MaxRaw, secret.Kept)
	token := "hf_Zq7Lm2Xv9Rt4Kw8Ys3Bn6Hd1Jf5Gp0Ca"
	raw := strings.Repeat("word ", 1000)[:trainrecord.MaxRaw-10] + token
	lr := plog.NewLogRecord()
	trainrecord.PutErrorLog(lr, trainrecord.ReasonNotJSON, []byte(raw))
	w := secret.Walker{}
	w.Value(lr.Body())
	v, _ := lr.Body().Map().Get(trainrecord.BodyMessage)
	assert.NotContains(t, v.Str(), token[:6])
	assert.EqualValues(t, 1, w.Masked)

	st := stateOf(t, line("run.failure", 1, "", `"message": "`+strings.Repeat("password=x ", 3000)[:secret.Searched-10]+token+`"`))
	assert.NotContains(t, st.Failures[0].Message, token[:6])
}
