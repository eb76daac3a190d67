package trainrun

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

const randomText = "a8Zk29dLq0PmX7vR"

type maskCase struct {
	value  any
	masked bool
}

// maskCases are parameters by name.
func maskCases() map[string]maskCase {
	random := randomText
	return map[string]maskCase{
		"hf_token":               {"anything", true},
		"hub_token":              {nil, false},
		"pad_token":              {"<pad>", false},
		"max_new_tokens":         {int64(512), false},
		"token":                  {int64(7), false},
		"tokenizer":              {"bert-base", false},
		"num_tokens":             {"12", false},
		"password":               {int64(1234), true},
		"dbPassword":             {"x", true},
		"MY_SECRET":              {"x", true},
		"secret.empty":           {"", false},
		"aws_access_key_id":      {"plain", true},
		"api_key":                {"plain", true},
		"apiKey":                 {"plain", true},
		"wandb_key":              {"plain", true},
		"image_key":              {"jpg", false},
		"some_key":               {random, true},
		"monitor":                {"val/loss", false},
		"a.shape":                {"ghp_0123456789abcdefghij", true},
		"another.shape":          {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl", true},
		"data_url":               {"postgres://user:pw@host/db", true},
		"data_url_without":       {"https://host/path@2x", false},
		"mail":                   {"somebody@example.org", false},
		"credentials":            {map[string]any{"user": "u", "id": int64(3), "on": true}, true},
		"private_key":            {"x", true},
		"lr":                     {0.1, false},
		"keyboard":               {random, false},
		"author":                 {"x", false},
		"secret_list":            {[]any{"a", "b"}, true},
		"model.pretrained.paths": {[]any{"https://u:p@h/x"}, true},
		"auth_tokens":            {[]any{"plain"}, true},
		"tokens":                 {[]any{int64(1), int64(2)}, false},
		"token_value":            {"plain", true},
		"PGPASSWORD":             {"plain", true},
		"secrets":                {[]any{[]any{map[string]any{"a": "plain"}}}, true},
		"switches.secret":        {map[string]any{"on": true}, false},
		"argv":                   {[]any{"train.py", "--password", "plain"}, true},
		"flags":                  {[]any{"--max_tokens", "plain", "--lr", int64(1234)}, false},
		"pairs":                  {[]any{[]any{"password", "plain"}}, true},
		"k8s":                    {[]any{map[string]any{"name": "HF_TOKEN", "value": "plain"}}, true},
		"connection":             {"Server=x;Password=plain", true},
		"callback":               {"https://h/x?token=plain", true},
		"json":                   {`{"lr": 1, "api_key": "plain"}`, true},
		"env":                    {map[string]any{"SOME_KEY": "plain"}, true},
		"environ":                {[]any{"A=b", "TOKEN=plain"}, true},
		"env_vars":               {map[string]any{"HOME": "x"}, false},
		"short.shape":            {"ghp_0123", true},
		"key_dim":                {int64(1234), false},
		"num_key_value_heads":    {int64(1234), false},
		"keyword":                {"plain", false},
		"max_tokens":             {int64(1234), false},
		"password.on":            {true, false},
	}
}

func TestSecretsInParams(t *testing.T) {
	t.Parallel()
	for name, tc := range maskCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, ok := Reduce(record("run.start", nil, map[string]any{"params": map[string]any{"sub": map[string]any{name: tc.value}}}))
			require.True(t, ok)
			got := dump(e.Detail.Params)
			assert.Equal(t, tc.masked, strings.Contains(got, Mask), got)
			assert.Equal(t, tc.masked, e.Masked > 0)
			if !tc.masked {
				raw := pcommon.NewValueEmpty()
				require.NoError(t, raw.FromRaw(map[string]any{"sub": map[string]any{name: tc.value}}))
				assert.Equal(t, dump(raw.AsRaw()), got)
			} else {
				for _, s := range []string{"plain", randomText, "pw@", "ghp_", "eyJ", "1234"} {
					assert.NotContains(t, got, s)
				}
			}
		})
	}
}

func TestGoal(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"val/loss": ModeMin, "accuracy_loss": ModeMin, "val/mAP50(B)": ModeMax, "val/mAP50-95(B)": ModeMax, "top5": ModeMax,
		"rougeL": ModeMax, "train/grad_norm": "", "val/box_loss": ModeMin, "f1": ModeMax, "valloss": ModeMin, "epoch": "", "val/F2": ModeMax,
	} {
		mode, ok := Goal(name)
		assert.Equal(t, want, mode, name)
		assert.Equal(t, want != "", ok, name)
	}
}

func TestBoundsOfAnEntry(t *testing.T) {
	t.Parallel()
	deep := any(int64(1))
	for range 100 {
		deep = map[string]any{"d": deep}
	}
	wide := make([]any, 20_000)
	for i := range wide {
		wide[i] = "0123456789"
	}
	e, ok := Reduce(record("run.start", nil, map[string]any{"params": map[string]any{
		"deep": deep, "wide": wide, "long": strings.Repeat("é", 5000), strings.Repeat("k", 2000): 1,
	}}))
	require.True(t, ok)
	params := e.Detail.Params.(map[string]any)
	assert.Len(t, params["long"], MaxText)
	assert.LessOrEqual(t, len(params["wide"].([]any)), maxTreeNodes)
	assert.Positive(t, e.Cut)
	back, err := DecodeEntries(AppendEntries(nil, []Entry{e}))
	require.NoError(t, err, "the deepest tree that Reduce makes can be read")
	assert.Equal(t, dump([]Entry{e}), dump(back))

	e, _ = Reduce(record("step.end", nil, map[string]any{
		"step": -1, "epoch": 0.5, "epoch_progress": inf,
		"measurements": map[string]any{"": 1, "text": "high", "list": []any{1}, strings.Repeat("n", 2000): 1, "flag": true, "ok": "NaN"},
	}))
	assert.False(t, e.Step.Set)
	assert.False(t, e.Epoch.Set)
	assert.Negative(t, e.Progress)
	require.Len(t, e.Values, 1)
	assert.Equal(t, "ok", e.Values[0].Name)
	assert.Equal(t, int64(8), e.Cut, "those, and the epoch, the step and the progress")
}
