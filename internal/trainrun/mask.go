package trainrun

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const (
	// Mask is written in place of a secret.
	Mask = "***"

	maxScanned = 32 << 10 // bytes of a text that are searched for secrets; a longer one is cut before
	maxAhead   = 4 << 10  // bytes that are looked at to tell what a place is
)

// clean gives a text of at most n bytes without the secrets in it, and how many there were.
func clean(s string, n int, urls urlMode) (string, int64) {
	if len(s) > maxScanned {
		s = trainrecord.CutText([]byte(s), maxScanned)
	}
	s, masked := maskText(s, urls)
	if len(s) > n {
		s = trainrecord.CutText([]byte(s), n)
	}
	return s, masked
}

// maskCommand gives the command line, a text or a list of words, without the values that are secret.
func maskCommand(v pcommon.Value) (string, int64) {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return clean(v.Str(), MaxText, wholeURL)
	case pcommon.ValueTypeSlice:
		t := treeReader{}
		list, _ := t.list(v.Slice(), 1, keyPlain).([]any)
		args := make([]string, 0, len(list))
		for _, a := range list {
			args = append(args, argument(a))
		}
		s := strings.Join(args, " ")
		if len(s) > MaxText {
			s = trainrecord.CutText([]byte(s), MaxText)
		}
		return s, t.masked
	default:
		return "", 0
	}
}

func argument(t Tree) string {
	v := pcommon.NewValueEmpty()
	if v.FromRaw(t) != nil {
		return ""
	}
	return v.AsString()
}

// secretValue says whether a value with a name of this kind is to be masked.
func secretValue(kind keyKind, value string) bool {
	if value == "" || value == Mask || isNothing(value) {
		return false
	}
	switch kind {
	case keySecret, keyToken:
		return true
	case keyTokens:
		return !isNumbers(value)
	case keyMaybe:
		for _, w := range strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune(" \t\n,[]{}()\"'", c) }) {
			if looksRandom(w) {
				return true
			}
		}
		return false
	default:
		return false
	}
}

// isNothing knows the words for no value and for a switch; in a printed call a sign may follow.
func isNothing(s string) bool {
	switch strings.ToLower(strings.TrimRight(s, ",;)]}")) {
	case "true", "false", "none", "null", "nil":
		return true
	default:
		return false
	}
}

// isNumbers says that a text holds nothing but numbers and what stands between them.
func isNumbers(s string) bool { return strings.Trim(s, "0123456789.-+, \t\n[]()eE") == "" }

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

// secretPrefixes begin known forms of tokens; least is the number of letters and digits that must follow.
var secretPrefixes = []struct {
	text  string
	least int
}{
	{"ghp_", 4}, {"gho_", 4}, {"ghu_", 4}, {"ghs_", 4}, {"ghr_", 4}, {"github_pat_", 4}, {"glpat-", 4}, {"dckr_pat_", 4}, {"pypi-AgE", 4},
	{"xoxb-", 4}, {"xoxp-", 4}, {"xoxa-", 4}, {"hf_", 16}, {"sk-", 16}, {"npm_", 16}, {"AKIA", 12}, {"ASIA", 12}, {"AIza", 12},
}

// secretShape says that a word is a secret whatever its name: a known form of token, or a signed token.
func secretShape(w string) bool {
	for _, p := range secretPrefixes {
		for at := 0; ; {
			i := strings.Index(w[at:], p.text)
			if i < 0 {
				break
			}
			i += at
			at = i + len(p.text)
			if (i == 0 || !isAlnum(w[i-1])) && alnumAt(w[at:]) >= p.least {
				return true
			}
		}
	}
	i := strings.Index(w, "eyJ")
	return i >= 0 && (i == 0 || !isAlnum(w[i-1])) && strings.Count(w[i:], ".") >= 2 && len(w)-i > 40
}

// alnumAt counts the letters and digits that a text begins with; a token may have hyphens in it.
func alnumAt(s string) int {
	n := 0
	for i := 0; i < len(s) && (isAlnum(s[i]) || s[i] == '-'); i++ {
		if s[i] != '-' {
			n++
		}
	}
	return n
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
