package secret

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Kinds of texts that hold a secret, which is X9 with what stands around it, and nothing else.
func TestKindsOfSecretsInTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"password hunter2":                                   "password ***",
		"using password SECRET001zq and more":                "using password *** and more",
		"password is swordfish.":                             "password is ***.",
		"the password was Tr0ub4dor, really":                 "the password was ***, really",
		"secret is SECRETb6":                                 "secret is ***",
		"api key SECRETb9":                                   "api key ***",
		"passwd SECRETc7":                                    "passwd ***",
		"token is SECRETb6x":                                 "token is ***",
		"hf_token a8Zk29dL":                                  "hf_token ***",
		"password:\nSECRETb8":                                "password:\n***",
		"--password X9":                                      "--password ***",
		"sig=SECRETc1":                                       "sig=***",
		"token=abc,SECRETc3":                                 "token=***",
		"AKIASECRETC2AAAAAAAA":                               "***",
		"key ASIAIOSFODNN7EXAMPLE was":                       "key *** was",
		"gho_0123456789abcdef":                               "***",
		"github_pat_11ABCDEFG0abcdefghij_klmnop":             "***",
		"glpat-abcdefghij0123456789":                         "***",
		"x hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345 y":            "x *** y",
		"sk-proj-abcd1234efgh5678":                           "***",
		"sk-ant-api03-abcd1234efgh5678":                      "***",
		"xoxr-1234-abcdef":                                   "***",
		"npm_abcdefghijklmnopqrstuvwxyz0123456789":           "***",
		"pypi-AgEIcHlwaS5vcmcCJDU0":                          "***",
		"nvapi-abcdefghijklmnop0123456789":                   "***",
		"m=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.abcDEF1234": "m=***",
		"mysql -uroot -pX9abc db":                            "mysql -uroot -p*** db",
		"/usr/bin/mysqldump -h h -p'my word' db":             "/usr/bin/mysqldump -h h -p*** db",
		"https://hooks.slack.com/services/T000/B000/X9":      "https://hooks.slack.com/***",
		"hooks.slack.com/services/T000/B000/X9 ok":           "hooks.slack.com/*** ok",
		"https://discord.com/api/webhooks/123/aB3dE5gH7jK9m": "https://discord.com/api/webhooks/***",
		"https://corp.webhook.office.com/webhookb2/a@b/c":    "https://corp.webhook.office.com/***",
		"https://prod-1.logic.azure.com/workflows/abc?sig=x": "https://prod-1.logic.azure.com/***",
		"https://api.telegram.org/bot123:AAab/sendMessage":   "https://api.telegram.org/***",
		"https://chat.corp.example/hooks/a8zk29dlq0pm7xvr":   "https://chat.corp.example/hooks/***",
		"https://x.blob.core.windows.net/c?sv=1&sig=X9":      "https://x.blob.core.windows.net/c?sv=1&sig=***",
		"https://s3/x?X-Amz-Signature=X9&X-Amz-Credential=Y": "https://s3/x?X-Amz-Signature=***&X-Amz-Credential=***",
		"https://h/cb#access_token=X9":                       "https://h/cb#access_token=***",
		`params={"k": 1, "password": "X9"}`:                  `params={"k": 1, "password": "***"}`,
		`params="{\"api_key\": \"X9\"}"`:                     `params="{\"api_key\": \"***\"}"`,
		"m token=X9":                                         "m token=***",
		"redis://:X9@h/0":                                    "redis://***@h/0",
		"p\u0430ssword=X9":                                   "p\u0430ssword=***",
		"pass_word=X9":                                       "pass_word=***",
		`"pass_word": "X9"`:                                  `"pass_word": "***"`,
		"key=a8Zk29dLq":                                      "key=***",
	} {
		got, masked := maskText(text, UserInfo, nil)
		assert.Equal(t, want, got)
		assert.Equal(t, strings.Count(want, Mask), int(masked), text)
	}
}

// innocents hold no secret; a false alarm takes an answer away.
var innocents = []string{
	"key: 3", "tokens: 5000", "num_tokens=512", "num_tokens: 5000", "password_policy: none", "password_policy=strict", "tokenizer=bert-base", "tokenizer: bert",
	"val/loss", "train/tokens_per_second", "m(key=3)", "metrics/mAP50-95(B)", "lr/pg0", "token", "tokens", "key", "learning_rate", "top-1", "acc@1",
	"password authentication failed for user bob", "wrong password for user", "the password is required", "password is incorrect", "password protected archive",
	"forgot password?", "enter your password", "secret santa dataset", "token limit exceeded", "token embedding layer12", "token 5 of 10", "tokens 128k",
	"processed 5000 tokens in 3s", "Unexpected token } in JSON at position 3", "api key not set", "key error: 'loss'", "key val_loss", "key: val/loss",
	"key=layer4.1.conv2", "sort_key=top5", "sk-learn-pipeline-classifier-model", "hf_internal_testing_tiny_random_model", "npm_config_registry_url_with_name",
	"https://github.com/pytorch/pytorch/blob/main/torch/hooks/utils.py", "https://docs.example.org/webhooks/intro.html", "https://huggingface.co/bert/resolve/main/x.bin?download=true",
	"s3://bucket/runs/2024-01-01/best.pt", "/data/runs/a1b2c3d4/last.ckpt", "git@github.com:org/repo.git", "somebody@example.org", "python train.py -p 8080",
	"ssh -p22 host", "mkdir -pv x", "0123456789abcdef0123456789abcdef01234567", "a3f5c1d2-7b6e-4c2a-9f1d-0a1b2c3d4e5f", "resnet50_v1.5", "ViT-B/32",
	"CUDA error: device-side assert triggered", "basic block", "bearer of news", "pass 3 of 5", "author: A B", "secretary problem", "authentication=none",
	"step=100, loss=0.5, lr=1e-05, epoch=3", "Adam(betas=(0.9, 0.999), eps=1e-08)", "signature=serving_default", "sha256:0123456789abcdef", "torch==2.9.0+cu130",
	"eyJ.a.b", "dapi", "monitor=val_acc mode=max", "image:tag@sha256:0123", "x@y:z", "nccl://node-1:29500", "tcp://10.0.0.1:1234", "rank=3 pid=1234 host=gpu-01",
	"tokenizer.json", "special_tokens_map.json", "token_type_ids", "pad_token=<pad> eos_token=</s>", "max_new_tokens=512", "objective: val/loss (min)",
}

func TestInnocentTextsStay(t *testing.T) {
	t.Parallel()
	for _, text := range innocents {
		for _, mode := range []Mode{UserInfo, WholeURL} {
			got, masked := maskText(text, mode, nil)
			assert.Equal(t, text, got)
			assert.Zero(t, masked, text)
		}
	}
}

func TestKindsOfSecretsInTrees(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in, want any
		masked   int64
		removed  int64
	}{
		"a key called key":      {in: map[string]any{"key": "SECRET036zq"}, want: map[string]any{"key": Mask}, masked: 1},
		"a number as key":       {in: map[string]any{"key": int64(3), "num_tokens": int64(5)}, want: map[string]any{"key": int64(3), "num_tokens": int64(5)}},
		"a name as key":         {in: map[string]any{"key": "val_loss"}, want: map[string]any{"key": "val_loss"}},
		"key and value":         {in: map[string]any{"key": "HF_TOKEN", "value": "x"}, want: map[string]any{"key": "HF_TOKEN", "value": Mask}, masked: 1},
		"an address as key":     {in: map[string]any{"http://u:X9@h": int64(1)}, want: map[string]any{"http://***@h": int64(1)}, masked: 1},
		"keys that become one":  {in: map[string]any{"a token=x": int64(1), "a token=y": int64(2)}, want: map[string]any{"a token=***": int64(1), "a token=***-2": int64(2)}, masked: 2},
		"client":                {in: []any{"mysql", "-uroot", "-pX9", "db"}, want: []any{"mysql", "-uroot", "-p***", "db"}, masked: 1},
		"look-alike":            {in: map[string]any{"p\u0430ssword": "x", "pass_word": "y"}, want: map[string]any{"p\u0430ssword": Mask, "pass_word": Mask}, masked: 2},
		"bytes":                 {in: map[string]any{"raw": []byte("token=x")}, want: map[string]any{"raw": []byte("token=***")}, masked: 1},
		"omitted":               {in: map[string]any{"params": map[string]any{"lr": 1.0}, "a": []any{map[string]any{"params": "x", "b": int64(1)}}}, want: map[string]any{"a": []any{map[string]any{"b": int64(1)}}}, removed: 2},
		"omitted within a text": {in: []any{`x params={"k": "v"} y`, `{"params": {"k": [1]}, "b": 1}`, `{"params": {"k": [1`, "params=3"}, want: []any{`x params=*** y`, `{"params": ***, "b": 1}`, `{"params": ***`, "params=3"}, masked: 3},
		"password policy":       {in: map[string]any{"password_policy": "none", "passwordPolicy": "strict"}, want: map[string]any{"password_policy": "none", "passwordPolicy": "strict"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := pcommon.NewValueEmpty()
			require.NoError(t, v.FromRaw(tc.in))
			w := Walker{URLs: UserInfo, Omit: func(key string) bool { return key == "params" }}
			w.Value(v)
			assert.Equal(t, tc.want, v.AsRaw())
			assert.Equal(t, tc.masked, w.Masked)
			assert.Equal(t, tc.removed, w.Omitted)
		})
	}
}

func TestWhatLiesTooDeepIsMasked(t *testing.T) {
	t.Parallel()
	deep := any("x9")
	for range 100 {
		deep = []any{deep}
	}
	v := pcommon.NewValueEmpty()
	require.NoError(t, v.FromRaw(deep))
	w := Walker{}
	w.Value(v)
	assert.NotContains(t, v.AsString(), "x9")
	assert.Equal(t, int64(1), w.Masked)
}
