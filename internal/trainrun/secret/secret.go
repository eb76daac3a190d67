package secret

import (
	"strings"
	"unicode"
)

// Mask is written in place of a secret.
const Mask = "***"

// maxAhead is the number of bytes that are looked at to tell what a place is.
const maxAhead = 4 << 10

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
	case keyAlone:
		return len(value) >= 8 && !strings.ContainsAny(value, " \t\n") && (len(value) > 2*maxToken || !wordlike(value))
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

// wordlike says that a text is made of words, numbers and words with a short number, as names of layers, files and models are.
func wordlike(s string) bool {
	for _, w := range strings.FieldsFunc(s, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		letters := strings.TrimRight(w, "0123456789")
		switch digits := len(w) - len(letters); {
		case letters == "" && digits > 8, letters != "" && digits > 3, strings.ContainsAny(letters, "0123456789"), len(letters) > 5 && isJumble(letters):
			return false
		}
	}
	return true
}

// isJumble says that upper and lower case change as in no word, nor in several that are written in one.
func isJumble(letters string) bool {
	changes := 0
	for i := 1; i < len(letters); i++ {
		if (letters[i] < 'a') != (letters[i-1] < 'a') {
			changes++
		}
	}
	return 2*changes > len(letters)
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
