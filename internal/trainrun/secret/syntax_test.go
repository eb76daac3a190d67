package secret

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

const hexKey = "0123456789abcdef0123456789abcdef01234567"

// otherSyntaxes are texts, and how they look masked.
var otherSyntaxes = map[string]string{
	"wandb login " + hexKey:                                     "wandb login ***",
	"wandb login --relogin " + hexKey + " && python x":          "wandb login --relogin *** && python x",
	"!wandb login --host https://w.example " + hexKey:           "!wandb login --host https://w.example ***",
	"huggingface-cli login --token X9":                          "huggingface-cli login --token ***",
	"hf auth login --token X9 --add-to-git-credential":          "hf auth login --token *** --add-to-git-credential",
	"docker login -u bob -p X9 registry.example":                "docker login -u bob -p *** registry.example",
	"docker login -pX9":                                         "docker login -p***",
	"podman login -p 'my word' r":                               "podman login -p '***' r",
	"helm registry login -p X9 r":                               "helm registry login -p *** r",
	"aws configure set aws_secret_access_key X9":                "aws configure set aws_secret_access_key ***",
	"aws configure set aws_secret_access_key 'X 9' --profile p": "aws configure set aws_secret_access_key '***' --profile p",
	"dvc remote modify --local r secret_access_key X9":          "dvc remote modify --local r secret_access_key ***",
	"poetry config pypi-token.pypi X9 ; ls":                     "poetry config pypi-token.pypi *** ; ls",
	"setenv HF_TOKEN X9":                                        "setenv HF_TOKEN ***",
	"sshpass -p 'X9' ssh h":                                     "sshpass -p '***' ssh h",

	"('api_key', 'X9')":                       "('api_key', '***')",
	`"api_key", "X9"`:                         `"api_key", "***"`,
	"[('lr', 0.1), ('password', 'X9')]":       "[('lr', 0.1), ('password', '***')]",
	"('password', 1234)":                      "('password', ***)",
	`os.environ.setdefault("HF_TOKEN", "X9")`: `os.environ.setdefault("HF_TOKEN", "***")`,
	`<property name="password" value="X9"/>`:  `<property name="password" value="***"/>`,

	"<password>X9</password>":                   "<password>***</password>",
	"<ns:password>X9</ns:password>":             "<ns:password>***</ns:password>",
	`<password type="plain">my word</password>`: `<password type="plain">***</password>`,
	"<password><![CDATA[X<9]]></password>":      "<password><![CDATA[***]]></password>",
	"<apiKey>X9":                                "<apiKey>***",
	"<key>password</key>\n<string>X9</string>":  "<key>password</key>\n<string>***</string>",
	`<password value="X9"/>`:                    `<password value="***"/>`,
	"<a><lr>1</lr><hf_token>X9</hf_token></a>":  "<a><lr>1</lr><hf_token>***</hf_token></a>",

	"password: |\n  X9":                       "password: |\n  ***",
	"a: 1\npassword: >-\n  X9\n  Y9\nlr: 0.1": "a: 1\npassword: >-\n  ***\nlr: 0.1",
	"x:\n  password: |\n\n    X9\n  lr: 0.1":  "x:\n  password: |\n\n    ***\n  lr: 0.1",
	"passwords:\n  - X9\n  - Y9\nlr: 0.1":     "passwords:\n  ***\nlr: 0.1",

	"token -> X9":      "token -> ***",
	"token->X9":        "token->***",
	"token => X9":      "token => ***",
	"'token' => 'X9'":  "'token' => '***'",
	"password -> X9 y": "password -> *** y",

	`{"pass\u0077ord": "X9"}`:        `{"pass\u0077ord": "***"}`,
	`{"\u0070assword":"X9","lr":1}`:  `{"\u0070assword":"***","lr":1}`,
	`"{\"pass\\u0077ord\": \"X9\"}"`: `"{\"pass\\u0077ord\": \"***\"}"`,
	`{'pass\x77ord': 'X9'}`:          `{'pass\x77ord': '***'}`,

	"CREATE USER u IDENTIFIED BY 'X9'":                          "CREATE USER u IDENTIFIED BY '***'",
	"identified by 'X9'":                                        "identified by '***'",
	"IDENTIFIED WITH mysql_native_password BY 'X9' REQUIRE SSL": "IDENTIFIED WITH mysql_native_password BY '***' REQUIRE SSL",
	"IDENTIFIED BY PASSWORD '*X9'":                              "IDENTIFIED BY PASSWORD '***'",
	"IDENTIFIED BY X9;":                                         "IDENTIFIED BY ***;",
	"ALTER USER u WITH PASSWORD 'X9'":                           "ALTER USER u WITH PASSWORD '***'",
}

// What tells in another way than by a name, a sign and a value.
func TestSecretsInOtherSyntaxes(t *testing.T) {
	t.Parallel()
	for text, want := range otherSyntaxes {
		got, masked := maskText(text, UserInfo, nil)
		assert.Equal(t, want, got)
		assert.Equal(t, strings.Count(want, Mask), int(masked), text)
	}
}

func TestInnocentsOfOtherSyntaxesStay(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"tokenizer -> x", "vocab: token -> 1234", "token->id", "step->12", "layer1 -> layer2", "lambda x -> y",
		"<password_policy>none</password_policy>", "<password></password>", "<password/>", "<token>5</token>", "<key>layer4</key>", "<key>name</key><string>x</string>",
		"wandb login failed", "try wandb login again", "wandb login --relogin", "wandb: run a8zk29dl is at https://w.example/runs/a8zk29dl", "docker run -p 8080:80 img", "docker login failed: -1",
		"aws configure set region us-east-1", "git config user.name bob", "aws s3 cp a b --profile p", "git commit " + hexKey, "git checkout -p main",
		"('tokenizer', 'bert')", `["username", "password", "email"]`, `["password", "username"]`, `("token", "position")`, "('lr', 0.1)", "('num_tokens', 5)", "('password', None)",
		"identified by researchers", "the run is identified by its 'id'", "tokenizer: |\n  bert", "description: |\n  a text\nlr: 1", "tokens: |\n",
		`{"le\u0061rning_rate": 0.1}`, `{"tok\u0065nizer": "bert"}`, `{"num_tok\u0065ns": 5}`, "Access denied for user 'x' (using password: YES)"[:31],
	} {
		got, masked := maskText(text, UserInfo, nil)
		assert.Equal(t, text, got)
		assert.Zero(t, masked, text)
	}
}

func TestSecretsOfCommandsThatAreLists(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]any{
		"wandb login ***":                             {"wandb", "login", hexKey},
		"docker login -u bob -p *** r":                {"docker", "login", "-u", "bob", "-p", "X9", "r"},
		"aws configure set aws_secret_access_key ***": {"aws", "configure", "set", "aws_secret_access_key", "X9"},
		"docker run -p 8080:80 img":                   {"docker", "run", "-p", "8080:80", "img"},
		"git checkout " + hexKey:                      {"git", "checkout", hexKey},
	} {
		list := pcommon.NewValueSlice()
		require.NoError(t, list.FromRaw(args))
		assert.Equal(t, want, (&Walker{}).Command(list))
	}
}
