package secret

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord/cputime"
)

func TestSecretsInCommands(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"train.py --lr 0.1 --epochs=3":                                         "train.py --lr 0.1 --epochs=3",
		"train.py --hf-token abc --lr 1":                                       "train.py --hf-token *** --lr 1",
		"train.py --api_key=abc":                                               "train.py --api_key=***",
		"WANDB_API_KEY=abc train.py":                                           "WANDB_API_KEY=*** train.py",
		"train.py --data s3://b/k":                                             "train.py --data s3://b/k",
		"train.py --data https://u:p@h/x":                                      "train.py --data ***",
		"train.py hf_abcdefghijklmnop":                                         "train.py ***",
		"train.py --password  x y":                                             "train.py --password  *** y",
		"train.py --url=https://u@h --max_tokens 5":                            "train.py --url=*** --max_tokens 5",
		"train.py --token --lr 1":                                              "train.py --token --lr 1",
		`train.py --password "my secret value" --lr 1`:                         `train.py --password "***" --lr 1`,
		`train.py --password='my secret "value"' x`:                            `train.py --password='***' x`,
		`train.py --password=ab"c d"'e f'g x`:                                  `train.py --password=*** x`,
		`train.py --password=my\ secret\ value x`:                              `train.py --password=*** x`,
		`train.py --password "my \"secret\" value" x`:                          `train.py --password "***" x`,
		`train.py --password "not closed value`:                                `train.py --password "***`,
		"train.py\t--password\tabc\n--lr 1":                                    "train.py\t--password\t***\n--lr 1",
		"train.py --password \\\n  abc --lr 1":                                 "train.py --password \\\n  *** --lr 1",
		`curl -H "Authorization: Bearer abc.def" x`:                            `curl -H "Authorization: ***" x`,
		`curl -H 'X-Api-Key: abc' x`:                                           `curl -H 'X-Api-Key: ***' x`,
		`curl -H "Cookie: a=b; c=d" x`:                                         `curl -H "Cookie: ***" x`,
		`curl -u name:abc https://h`:                                           `curl -u *** https://h`,
		`python -u train.py`:                                                   `python -u train.py`,
		`curl "https://h/x?token=abc&lr=1#y"`:                                  `curl "https://h/x?token=***&lr=1#y"`,
		`curl https://h/x?a=1&key=abc`:                                         `curl https://h/x?a=1&key=***`,
		`curl https://h/x?sv=1&sig=abc%2F`:                                     `curl https://h/x?sv=1&sig=***`,
		`train.py --config '{"token":"abc","lr":1}'`:                           `train.py --config '{"token":"***","lr":1}'`,
		`train.py --config "{\"token\": \"abc\", \"lr\": 1}"`:                  `train.py --config "{\"token\": \"***\", \"lr\": 1}"`,
		`train.py --config '{"auth_tokens":["a","b"],"x":1}'`:                  `train.py --config '{"auth_tokens":***,"x":1}'`,
		`train.py --config '{"tokens":[1,2],"token":5}'`:                       `train.py --config '{"tokens":[1,2],"token":5}'`,
		`train.py --config '{"password":1234,"lr":1}'`:                         `train.py --config '{"password":***,"lr":1}'`,
		"train.py --api-tokens abc def --lr 1":                                 "train.py --api-tokens *** *** --lr 1",
		"train.py --tokens 5 --token-dropout 0.1":                              "train.py --tokens 5 --token-dropout 0.1",
		"PGPASSWORD=a,b;c python train.py":                                     "PGPASSWORD=*** python train.py",
		"env TOKEN='a b' python train.py":                                      "env TOKEN='***' python train.py",
		"docker run -e HF_TOKEN=abc --env=API_KEY=def img":                     "docker run -e HF_TOKEN=*** --env=API_KEY=*** img",
		"train.py +hub.token=abc model.tokenizer=bert":                         "train.py +hub.token=*** model.tokenizer=bert",
		`x --dsn "Server=x;Password=y z;Database=d"`:                           `x --dsn "***"`,
		`x --db "Server=x;Password=y z;Database=d"`:                            `x --db "Server=x;Password=***;Database=d"`,
		`x --db "Password=y z;Database=d"`:                                     `x --db "Password=***;Database=d"`,
		"train.py --token ghp_abcd --other ghp_abcd":                           "train.py --token *** --other ***",
		"train.py --use_auth_token true":                                       "train.py --use_auth_token true",
		"train.py --password -Ab3+9Zk2/8Qm4xw":                                 "train.py --password ***",
		`train.py --author "A B" --keyword x --key_dim 64`:                     `train.py --author "A B" --keyword x --key_dim 64`,
		"train.py --tokenizer bert --tokens_per_second 5":                      "train.py --tokenizer bert --tokens_per_second 5",
		"train.py --num_key_value_heads=8 --num_tokens=12":                     "train.py --num_key_value_heads=8 --num_tokens=12",
		"x /c/hvs.CAESIAbCdEfGhIjKl/y /c/SG.AbCdEfGhIjKlMnOp.x/y":              "x /c/***/y /c/***/y",
		"pytest test_x.py::token::test_y":                                      "pytest test_x.py::token::test_y",
		"-----BEGIN RSA PRIVATE KEY-----\nAb\n-----END RSA PRIVATE KEY----- x": "*** x",
	} {
		v := pcommon.NewValueStr(command)
		w := Walker{}
		got := w.Command(v)
		assert.Equal(t, want, got)
		assert.Equal(t, strings.Count(want, Mask), int(w.Masked), command)
	}
}

func TestSecretsInCommandsThatAreLists(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]any{
		"python train.py --token ***":       {"python", "train.py", "--token", "x y z"},
		"x --password *** y":                {"x", "--password", int64(1234), "y"},
		"x --password=*** y":                {"x", "--password=a", "y"},
		"x --tokens *** *** --lr 0.1":       {"x", "--tokens", "a", "b", "--lr", 0.1},
		"x --tokens 5 --max_tokens 6 words": {"x", "--tokens", int64(5), "--max_tokens", int64(6), "words"},
		"curl -H Authorization: *** -u ***": {"curl", "-H", "Authorization: Bearer abc", "-u", "name:abc"},
		"x HF_TOKEN=*** ***":                {"x", "HF_TOKEN=a b", "https://u:p@h"},
	} {
		list := pcommon.NewValueSlice()
		require.NoError(t, list.FromRaw(args))
		got := (&Walker{}).Command(list)
		if !strings.Contains(want, "a b") {
			assert.NotContains(t, got, "abc")
		}
		assert.Equal(t, want, strings.ReplaceAll(got, "*** b", "***"))
	}
}

func TestSecretsInMessages(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"cannot reach https://u:p@h/x: refused":                           "cannot reach https://***@h/x: refused",
		"cannot reach postgres://u:p/w?@h/x: refused":                     "cannot reach postgres://***@h/x: refused",
		"401 for https://h:8080/x?token=abc&a=b":                          "401 for https://h:8080/x?token=***&a=b",
		"https://h/path@2x":                                               "https://h/path@2x",
		"header Bearer abc was refused":                                   "header Bearer *** was refused",
		"header Authorization: Bearer abc":                                "header Authorization: ***",
		"bearer of bad news, basic training":                              "bearer of bad news, basic training",
		"Basic dXNlcjpwdw==":                                              "Basic ***",
		"login(token=abc, x=1) failed":                                    "login(token=*** x=1) failed",
		"KeyError: 'tokenizer'":                                           "KeyError: 'tokenizer'",
		"CUDA out of memory. Tried to allocate 2 GiB":                     "CUDA out of memory. Tried to allocate 2 GiB",
		"Command '['train.py', '--password', 'abc', '--lr', '1']' failed": "Command '['train.py', '--password', '***', '--lr', '1']' failed",
		"TrainingArguments(hub_token=None, max_tokens=5)":                 "TrainingArguments(hub_token=None, max_tokens=5)",
		`os.environ["HF_TOKEN"] = "abc"`:                                  `os.environ["HF_TOKEN"] = "***"`,
		`config {'token': 'abc', 'n': 1}`:                                 `config {'token': '***', 'n': 1}`,
		"api key: abc":                                                    "api key: ***",
		"don't use password=it's here":                                    "don't use password=*** here",
		`5 " tall, password=ab"cd`:                                        `5 " tall, password=***`,
		"token:\n":                                                        "token:\n",
		"Unexpected token '<' in JSON":                                    "Unexpected token '<' in JSON",
		"sequence of 600 tokens: too long":                                "sequence of 600 tokens: *** long",
		"max tokens: 512":                                                 "max tokens: 512",
		"":                                                                "",
	} {
		got, masked := maskText(message, UserInfo, nil)
		assert.Equal(t, want, got)
		assert.Equal(t, strings.Count(want, Mask), int(masked), message)
	}
}

// What stands right before a token is often no blank: an escape as repr writes it, a colour, a sign of another script.
func TestSecretsBehindEscapesAndColours(t *testing.T) {
	t.Parallel()
	const key = "MIIEvQIBADANBgkqhkiG9w0"
	for message, want := range map[string]string{
		`b'log\nghp_abcdefghijklmnopqrstuvwxyz0123456789 refused'`:                `b'log\n*** refused'`,
		`log\thf_abcdefghijklmnopqrstuvwxyz01234567 refused`:                      `log\t*** refused`,
		`log\npassword=abc123 refused`:                                            `log\npassword=*** refused`,
		`C:\new\token=abc123 refused`:                                             `C:\new\token=*** refused`,
		"\x1b[0mhf_abcdefghijklmnopqrstuvwxyz01234567\x1b[0m":                     "\x1b[0m***\x1b[0m",
		`\x1b[1;32mhf_abcdefghijklmnopqrstuvwxyz01234567 refused`:                 `\x1b[1;32m*** refused`,
		"\x1b[32mpassword\x1b[0m is old":                                          "\x1b[32mpassword\x1b[0m is old",
		"密钥：hf_abcdefghijklmnopqrstuvwxyz01234567":                                "***",
		"text-----BEGIN PRIVATE KEY-----\n" + key + "\n-----END PRIVATE KEY-----": "text***",
		`b'Bag\r\n-----BEGIN RSA PRIVATE KEY-----\r\n` + key:                      `b'Bag\r\n***`,
		"-----END CERTIFICATE----------BEGIN PRIVATE KEY-----\n" + key:            "-----END CERTIFICATE-----***",
		`C:\nets\resnet\best.pt [3m] epoch\n12`:                                   `C:\nets\resnet\best.pt [3m] epoch\n12`,
	} {
		got, _ := maskText(message, UserInfo, nil)
		assert.Equal(t, want, got)
	}
}

func FuzzMaskText(f *testing.F) {
	for _, s := range []string{`--password "a b`, `{"token": ["a", {`, "https://u:p@h?key=a", `\"a\\\"`, "-----BEGIN ", "Bearer ", "k=;=", "é=é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, mode := range []Mode{WholeURL, UserInfo} {
			got, masked := maskText(s, mode, nil)
			if masked == 0 && got != s {
				t.Fatalf("%q became %q", s, got)
			}
			if n := int64(strings.Count(got, Mask)); n < masked {
				t.Fatalf("%d masks for %d secrets in %q", n, masked, got)
			}
		}
	})
}

// The work grows with the length of a text, not with its square.
func TestHostileTextsAreSearchedInTime(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{`key=[`, `key="`, `key=(a,`, `\`, `a://`, `x;key=`, `'"`, `token: `, `--key '[`, `password is `, `mysql -p`, `h.b/webhook/`, `params={`, `password `, `eyJ.`, `eyJ-`, `sk-`, `a.b/`, `api key `, `<password>`, `<password `, `<key>password</key>`, `<![CDATA[`, "password: |\n", "password: |\n ", "key: |\n", "- ", `"password", `, `("password",`, `{"pass\u0077ord`, `\u0077"`, `wandb login `, `docker login -p `, `aws configure set token `, `IDENTIFIED `, `IDENTIFIED BY `, `BY '`, `token->`, `token -> `, `<a:`, `a:`, `"token" value=`, `password '`, `-----BEGIN`, `x-----BEGIN `, `\n`, `[0m`, `[0`} {
		text := strings.Repeat(piece, (64<<10)/len(piece))
		took := cputime.Of(func() { maskText(text, UserInfo, func(key string) bool { return key == "params" }) })
		assert.Less(t, took, 5*time.Second, piece)
	}
}
