package dvcresultexporter

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/resultfile"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

var secretNames = []string{
	"password", "PGPASSWORD", "db_password", "mysqlPwd", "passphrase", "client_secret", "AWS_SECRET_ACCESS_KEY", "aws_access_key_id",
	"api_key", "apiKey", "OPENAI_API_KEY", "private_key", "credential", "credentials", "authorization", "token", "tokens", "auth_tokens",
	"hf_token", "HFToken", "token_value", "TOKEN_1", "auth", "X-Auth-Token", "webhook", "sshkey", "accesskey", "bearer",
}

// drawSecret gives a value that occurs nowhere else; spaced ones hold spaces.
func drawSecret(t *rapid.T, spaced bool) string {
	letters := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=_.~!@%^*,:|?#-"
	piece := func() string {
		return "Qx" + rapid.StringOfN(rapid.RuneFrom([]rune(letters)), 4, 40, -1).Draw(t, "secret") + "xQ"
	}
	if !spaced {
		return piece()
	}
	return piece() + " " + piece()
}

// quoteIn writes a text as a shell, or a language, does.
func quoteIn(t *rapid.T, s string) string {
	switch rapid.IntRange(0, 2).Draw(t, "quotes") {
	case 0:
		return "'" + s + "'"
	case 1:
		return `"` + s + `"`
	default:
		b, _ := json.Marshal(s) // a text
		return string(b)
	}
}

// hideInText puts a secret into a text of some kind. Whatever follows it is harmless.
func hideInText(t *rapid.T, name string) (text, secret string) {
	secret = drawSecret(t, rapid.Bool().Draw(t, "spaced"))
	flag := strings.Repeat("-", rapid.IntRange(1, 2).Draw(t, "dashes")) + name
	space := rapid.SampledFrom([]string{" ", "\t", "  ", " \\\n"}).Draw(t, "space")
	bare := strings.ReplaceAll(secret, " ", `\ `)
	item := func() string { b, _ := json.Marshal(secret); return string(b) }
	switch rapid.IntRange(0, 12).Draw(t, "form") {
	case 0:
		text = flag + space + quoteIn(t, secret)
	case 1:
		text = flag + "=" + quoteIn(t, secret)
	case 2:
		text = flag + space + bare
	case 3:
		text = name + "=" + bare
	case 4:
		text = `--config '{"a":1,"` + name + `":` + item() + `,"b":[2]}'`
	case 5:
		text = `--config '{"` + name + `":[` + item() + `,` + item() + `]}'`
	case 6:
		inner, _ := json.Marshal(`{"` + name + `": ` + item() + `}`)
		text = "--config " + string(inner)
	case 7:
		secret = strings.ReplaceAll(secret, " ", "")
		text = `-H "` + name + `: ` + secret + `"`
	case 8:
		secret = strings.ReplaceAll(secret, " ", "")
		text = `-H 'Authorization: Bearer ` + secret + `'`
	case 9:
		secret = strings.NewReplacer(" ", "", "#", "", "&", "").Replace(secret)
		text = "https://host:80/path?a=1&" + name + "=" + secret
	case 10:
		secret = strings.NewReplacer(" ", "", "/", "", "?", "", "#", "", "@", "").Replace(secret)
		text = "https://user:" + secret + "@host/path"
	case 11:
		text = "Server=x;" + name + "=" + strings.ReplaceAll(secret, ";", "") + ";Database=y"
	default:
		text = "['train.py', '" + flag + "', '" + secret + "', '--lr', '1']"
	}
	before := rapid.SampledFrom([]string{"", "train.py --lr 0.1 ", "python -m train\t", "failed: "}).Draw(t, "before")
	after := rapid.SampledFrom([]string{"", " --epochs 3", "\nnext line"}).Draw(t, "after")
	return before + text + after, secret
}

// hideInTree puts a secret below a name, somewhere in a tree of parameters.
func hideInTree(t *rapid.T, name string) (tree any, secret string) {
	secret = drawSecret(t, rapid.Bool().Draw(t, "spaced"))
	switch rapid.IntRange(0, 7).Draw(t, "place") {
	case 0:
		tree = map[string]any{name: secret}
	case 1:
		tree = map[string]any{name: []any{"x", secret}}
	case 2:
		tree = map[string]any{name: map[string]any{"x": []any{map[string]any{"y": secret}}}}
	case 3:
		tree = map[string]any{"argv": []any{"train.py", "--" + name, secret, "--lr", 0.1}}
	case 4:
		tree = map[string]any{"overrides": []any{"lr=1", name + "=" + secret}}
	case 5:
		tree = map[string]any{"env": []any{map[string]any{"name": name, "value": secret}}}
	case 6:
		tree = map[string]any{"environ": map[string]any{"HOME": "/x", name: secret}}
	default:
		var text string
		text, secret = hideInText(t, name)
		tree = map[string]any{"note": text}
	}
	for range rapid.IntRange(0, 3).Draw(t, "depth") {
		if rapid.Bool().Draw(t, "list") {
			tree = []any{1, tree}
		} else {
			tree = map[string]any{"sub": tree, "lr": 0.1}
		}
	}
	return map[string]any{"all": tree}, secret
}

// A secret is in no file, and in nothing that the storage gets.
func TestNoSecretIsKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom(secretNames).Draw(rt, "name")
		params, inParams := hideInTree(rt, name)
		command, inCommand := hideInText(rt, name)
		message, inMessage := hideInText(rt, name)
		body := func(key string, v any) string {
			b, err := json.Marshal(v)
			require.NoError(rt, err)
			return fmt.Sprintf("%q:%s", key, b)
		}
		start := body("params", params) + "," + body("command", command)
		failure := body("message", message) + "," + body("stack", "line\n"+message) + "," + body("error_type", "E")
		logs := logsOf(t, stream(record("a", 0, "run.start", start), epoch("a", 0), record("a", 90, "run.failure", failure),
			record("a", 91, "run.end", body("stop_reason", message)))...)
		b := batch{}
		b.reduce(logs, &tally{ignored: map[string]int64{}})
		entries := b.entries
		require.Len(rt, entries, 4)
		fold := trainrun.New("a")
		for _, e := range entries {
			fold.Apply(e)
		}
		all := string(trainrun.AppendEntries(nil, entries)) + string(fold.Snapshot())
		for _, f := range resultfile.Render(fold.State(), resultfile.Verdict{Final: true}, resultfile.Options{MaxPoints: 10}) {
			all += string(f.Bytes)
		}
		for _, secret := range []string{inParams, inCommand, inMessage} {
			for _, word := range strings.Fields(secret) {
				if strings.Contains(all, word) {
					rt.Fatalf("%q of %q in\n%q\n%q\n%q", word, secret, params, command, message)
				}
			}
		}
		require.Contains(rt, all, trainrun.Mask)
	})
}
