package secret

import (
	"slices"
	"strings"
)

// keyKind says what the name of a value tells about it. A greater one is the more secret.
type keyKind uint8

const (
	keyPlain  keyKind = iota
	keyMaybe          // some key: secret when it looks random
	keyAlone          // key, and nothing else: secret unless it is made of words
	keyTokens         // tokens: a text is secret; numbers are numbers of tokens, or their ids
	keyToken          // a text is secret, a number is none
	keySecret         // whatever it holds is secret
)

var (
	// secretParts make a word secret wherever they stand in it.
	secretParts = []string{
		"password", "passwd", "passphrase", "passwort", "secret", "credential", "apikey", "accesskey", "privatekey", "authorization",
	}
	// secretEnds make a name secret that ends in them.
	secretEnds = []string{"bearer", "dsn", "cookie", "cookies", "pw"}
	// keyOwners make a secret of the word key behind them.
	keyOwners = []string{
		"api", "access", "secret", "private", "auth", "encryption", "signing", "ssh", "account", "storage", "service", "license", "wandb",
		"comet", "neptune", "openai", "anthropic", "hf", "aws", "azure", "gcp", "google", "master", "session", "sas", "deploy", "subscription",
	}
	// passOwners make a secret of the word pass behind them.
	passOwners = []string{"db", "user", "smtp", "mysql", "pg", "postgres", "redis", "ftp", "http", "https", "proxy", "admin", "root", "mongo", "mail"}
	// plainSecrets stand behind a word such as password where it is none.
	plainSecrets = []string{
		"policy", "policies", "required", "enabled", "length", "field", "fields", "strength", "rule", "rules", "expiry", "expires", "prompt", "manager",
		"reset", "count", "min", "max", "type",
	}
	// plainTokens stand before token where it is a piece of text, or before a number of them.
	plainTokens = []string{
		"pad", "eos", "bos", "unk", "mask", "masked", "sep", "cls", "special", "additional", "image", "video", "audio", "visual", "vision",
		"text", "patch", "start", "end", "stop", "new", "per", "class", "decoder", "encoder", "forced", "suppress", "system", "user",
		"assistant", "prompt", "completion", "generated", "next", "multi", "num", "max", "min", "n", "total", "count", "seen", "input",
		"output", "target", "source", "train", "training", "eval", "val", "test", "valid", "avg", "mean", "batch", "global", "ignored",
		"vocab", "extra", "added", "register", "memory", "object", "query", "context", "billion", "million", "warmup", "sub", "pre", "of",
		"with", "all", "trained", "processed", "consumed",
	}
	// afterTokens stand behind token where it is a secret all the same.
	afterTokens = []string{
		"value", "values", "string", "raw", "header", "env", "hf", "hub", "github", "gitlab", "gh", "wandb", "slack", "aws", "azure", "gcp", "openai",
	}
	// plainAuth stand behind auth where it is no secret.
	plainAuth = []string{
		"type", "mode", "method", "enabled", "required", "url", "uri", "host", "port", "endpoint", "provider", "user", "username", "timeout",
		"backend", "realm", "scope", "scopes", "plugin", "version",
	}
)

// words splits a folded name at what is no letter or digit, and at steps from lower to upper case. Digits at the end of a word are
// left out: password2.
func words(name string) []string {
	name = fold(name)
	var out []string
	add := func(w string) {
		w = strings.ToLower(w)
		if t := strings.TrimRight(w, "0123456789"); t != "" {
			w = t
		}
		out = append(out, w)
	}
	start, lower := -1, false
	for i, c := range name {
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c > 0x7f
		upper := c >= 'A' && c <= 'Z'
		if start >= 0 && (!alnum || upper && lower) {
			add(name[start:i])
			start = -1
		}
		if alnum && start < 0 {
			start = i
		}
		lower = alnum && !upper
	}
	if start >= 0 {
		add(name[start:])
	}
	return out
}

// secretKey classifies the name of a value: a parameter, a flag, a variable, a header.
func secretKey(name string) keyKind {
	var ws []string
	for _, w := range words(name) {
		ws = append(ws, splitJoined(w)...)
	}
	kind := keyPlain
	for i := range ws {
		kind = max(kind, secretWord(ws, i))
	}
	if kind < keySecret && len(ws) > 1 && spelled(ws) {
		return keySecret
	}
	if len(ws) == 1 && ws[0] == "key" {
		return keyAlone
	}
	return kind
}

// spelled knows a secret's name that is written in pieces: pass_word, s.e.c.r.e.t.
func spelled(ws []string) bool {
	is := func(s string) bool {
		return slices.Contains(secretParts, s) || slices.Contains(secretParts, strings.TrimSuffix(s, "s"))
	}
	for i := 1; i < len(ws); i++ {
		if is(ws[i-1]+ws[i]) && (i+1 == len(ws) || !slices.Contains(plainSecrets, ws[i+1])) {
			return true
		}
	}
	return len(ws) < 16 && is(strings.Join(ws, ""))
}

// splitJoined takes apart what is written in one: hftoken, sshkey, dbpass.
func splitJoined(w string) []string {
	for _, end := range []string{"token", "tokens", "key", "keys", "pass", "pwd"} {
		head, ok := strings.CutSuffix(w, end)
		if !ok || head == "" {
			continue
		}
		owner := func(o string) bool { return strings.HasSuffix(head, o) && len(o) > 1 }
		switch {
		case strings.HasPrefix(end, "key") && !slices.ContainsFunc(keyOwners, owner),
			end == "pass" && !slices.ContainsFunc(passOwners, func(o string) bool { return o == head }):
			return []string{w}
		case strings.HasPrefix(end, "key"):
			i := slices.IndexFunc(keyOwners, owner)
			return []string{keyOwners[i], end}
		default:
			return []string{head, end}
		}
	}
	return []string{w}
}

// secretWord says what the i-th word of a name makes of it.
func secretWord(ws []string, i int) keyKind {
	w, last := ws[i], i == len(ws)-1
	before := ""
	if i > 0 {
		before = ws[i-1]
	}
	switch {
	case w == "secretary":
		return keyPlain
	case !last && slices.Contains(plainSecrets, ws[i+1]) && (w == "password" || w == "passwd" || w == "secret" || w == "passphrase"):
		return keyPlain
	case slices.ContainsFunc(secretParts, func(p string) bool { return strings.Contains(w, p) }), w == "pwd",
		last && slices.Contains(secretEnds, w), (w == "key" || w == "keys") && slices.Contains(keyOwners, before):
		return keySecret
	case w == "token" || w == "tokens":
		return tokenWord(ws[i+1:], w, before)
	case (w == "auth" || w == "oauth") && (last || !slices.Contains(plainAuth, ws[i+1])), w == "webhook", last && (w == "sas" || w == "sig"),
		w == "pass" && last && (before == "" || slices.Contains(passOwners, before)):
		return keyToken
	case last && (w == "key" || w == "keys" || w == "signature"):
		return keyMaybe
	default:
		return keyPlain
	}
}

func tokenWord(after []string, w, before string) keyKind {
	if slices.Contains(plainTokens, before) {
		return keyPlain
	}
	for _, a := range after {
		if !slices.Contains(afterTokens, a) && strings.Trim(a, "0123456789") != "" && a != "key" && a != "keys" {
			return keyPlain
		}
	}
	if w == "tokens" {
		return keyTokens
	}
	return keyToken
}
