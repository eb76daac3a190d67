package trainrun

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Mask is written in place of a secret.
const Mask = "***"

// keyKind says what the name of a parameter tells about its value.
type keyKind uint8

const (
	keyPlain  keyKind = iota
	keySecret         // whatever it holds is secret
	keyToken          // a text is secret; a number is a number of tokens
	keyMaybe          // some key: secret when it looks random
)

var (
	secretWords = []string{
		"password", "passwd", "passphrase", "passwort", "pwd", "secret", "secrets", "credential", "credentials",
		"apikey", "authorization", "bearer", "dsn", "cookie",
	}
	keyQualifiers = []string{
		"api", "access", "secret", "private", "auth", "encryption", "signing", "ssh", "account", "storage", "service",
		"license", "wandb", "comet", "neptune", "openai", "hf", "aws", "azure", "gcp", "master", "session", "sas",
	}
	// plainTokens stand before "token" in the names of a vocabulary's special tokens.
	plainTokens = []string{
		"pad", "eos", "bos", "unk", "mask", "sep", "cls", "special", "additional", "image", "video", "audio", "start", "end",
		"stop", "new", "per", "class", "decoder", "forced", "system", "user", "assistant", "prompt", "next", "multi",
	}
	secretPrefixes = []string{
		"hf_", "sk-", "ghp_", "gho_", "ghu_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xoxa-", "AKIA", "ASIA", "AIza",
		"Bearer ", "Basic ", "dckr_pat_", "pypi-AgE", "npm_", "-----BEGIN ",
	}
)

// words splits a name at what is no letter or digit, and at steps from lower to upper case.
func words(name string) []string {
	var out []string
	start, lower := -1, false
	for i, c := range name {
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c > 0x7f
		upper := c >= 'A' && c <= 'Z'
		if start >= 0 && (!alnum || upper && lower) {
			out = append(out, strings.ToLower(name[start:i]))
			start = -1
		}
		if alnum && start < 0 {
			start = i
		}
		lower = alnum && !upper
	}
	if start >= 0 {
		out = append(out, strings.ToLower(name[start:]))
	}
	return out
}

// secretKey classifies the name of a parameter.
func secretKey(name string) keyKind {
	ws := words(name)
	for i, w := range ws {
		switch {
		case slices.Contains(secretWords, w):
			return keySecret
		case w == "token" && i == len(ws)-1 && (i == 0 || !slices.Contains(plainTokens, ws[i-1])):
			return keyToken
		case w == "auth" && i == len(ws)-1:
			return keyToken
		case w == "key" && i > 0 && slices.Contains(keyQualifiers, ws[i-1]):
			return keyToken
		default: // look at the next word
		}
	}
	if n := len(ws); n > 0 && (ws[n-1] == "key" || ws[n-1] == "keys") {
		return keyMaybe
	}
	return keyPlain
}

// looksRandom says that a text is long, without spaces, and mixes letters and digits.
func looksRandom(s string) bool {
	if len(s) < 16 {
		return false
	}
	digits, letters := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
		case strings.IndexByte("+/=_-.", c) < 0:
			return false
		}
	}
	return digits >= 3 && letters >= 3
}

// secretShape says that a text is a secret whatever its name: a known form of token, a private key, a signed token, or an
// URL with user information.
func secretShape(s string) bool {
	for _, p := range secretPrefixes {
		if strings.HasPrefix(s, p) && len(s) >= len(p)+12 {
			return true
		}
	}
	if strings.HasPrefix(s, "eyJ") && strings.Count(s, ".") == 2 && len(s) > 40 {
		return true
	}
	return hasUserInfo(s)
}

// hasUserInfo finds scheme://user@host anywhere in a text.
func hasUserInfo(s string) bool {
	for {
		_, rest, ok := strings.Cut(s, "://")
		if !ok {
			return false
		}
		authority := rest
		if i := strings.IndexAny(rest, "/?# \t\n\"'"); i >= 0 {
			authority = rest[:i]
		}
		if strings.LastIndexByte(authority, '@') > 0 {
			return true
		}
		s = rest
	}
}

// maskCommand gives the command line, a text or a list of words, without the values that are secret.
func maskCommand(v pcommon.Value) (string, int64) {
	var args []string
	switch v.Type() {
	case pcommon.ValueTypeStr:
		args = strings.Split(v.Str(), " ")
	case pcommon.ValueTypeSlice:
		for _, a := range v.Slice().All() {
			args = append(args, a.AsString())
		}
	default:
		return "", 0
	}
	masked := int64(0)
	next := keyPlain
	for i, a := range args {
		name, value, assigned := strings.Cut(a, "=")
		kind := next
		next = keyPlain
		switch {
		case assigned && value != "" && secretArgument(secretKey(name), value):
			args[i] = name + "=" + Mask
			masked++
		case !assigned && strings.HasPrefix(a, "-"):
			next = secretKey(a)
		case a != "" && secretArgument(kind, a):
			args[i] = Mask
			masked++
		case a == "":
			next = kind // spaces in a row
		default: // a plain word
		}
	}
	s := strings.Join(args, " ")
	if len(s) > MaxText {
		s = trainrecord.CutText([]byte(s), MaxText)
	}
	return s, masked
}

func secretArgument(kind keyKind, value string) bool {
	value = strings.Trim(value, `"'`)
	return kind == keySecret || kind == keyToken || kind == keyMaybe && looksRandom(value) || secretShape(value)
}
