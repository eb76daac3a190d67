package policy

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// tokens normalises a key: Unicode compatibility form, split at everything that is no letter and no digit and at steps
// from a lower to an upper case letter, lower case.
func tokens(key string) []string {
	var out []string
	var token []rune
	end := func() {
		if len(token) > 0 {
			out = append(out, string(token))
			token = token[:0]
		}
	}
	afterLower := false
	for _, c := range norm.NFKC.String(key) {
		if !unicode.IsLetter(c) && !unicode.IsNumber(c) {
			end()
			afterLower = false
			continue
		}
		if afterLower && unicode.IsUpper(c) {
			end()
		}
		afterLower = unicode.IsLower(c)
		token = append(token, unicode.ToLower(c))
	}
	end()
	return out
}
