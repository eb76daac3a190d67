package secret

import (
	"slices"
	"strings"
)

// notGiven are words that stand behind password, token and the like where none is given.
var notGiven = strings.Fields(`a an and are as at authentication auth based be been but by can cannot change changed changes check checking
	could credentials decoded does dialog empty encrypted entry error errors exists expired expires fail failed failing failure field file files flow for
	found from generation generator given had has hash hashes hashing have helper hidden if in incorrect input invalid is it its length limit login lookup
	manager managers may mismatch missing more must near needed needs never no none not null of ok okay on only option or out parameter partially
	policy policies prompt protected protection provided recovery refused rejected required requires reset rotation rules same set setting should
	similar so storage store strength than that the then this to too type unchanged undefined unknown unset update updated use used user using valid
	validated validation value values via vault was were when which will with without wrong you your`)

// told masks what a sentence tells behind a word: password X, the token is X, api key X. The word is s[i:j].
func (m *textMasker) told(i, j int) int {
	kind := secretKey(m.s[i:j])
	if m.joined(i) {
		kind = max(kind, secretKey(m.s[m.prevStart:j]))
	}
	if kind < keyToken || !strings.ContainsRune(" \t", m.at(j)) || m.isScheme(i, j) {
		return -1
	}
	from := skip(m.s, j, " \t")
	word := m.sentenceWord(from)
	firm := false // is X, was X
	switch strings.ToLower(word) {
	case "is", "was", "equals":
		from = skip(m.s, from+len(word), " \t")
		word, firm = m.sentenceWord(from), true
	}
	if word == "" || word == Mask || slices.Contains(notGiven, strings.ToLower(word)) || isNothing(word) {
		return -1
	}
	name := strings.ToLower(strings.TrimRight(m.s[i:j], "."))
	switch {
	case kind == keySecret && firm, strings.HasPrefix(name, "passw"), strings.HasPrefix(name, "passphrase"):
	case firm && len(word) >= 6 && !isNumbers(word) && strings.ToLower(word) != word, isGiven(word):
	default:
		return -1
	}
	return m.mask(from, from+len(word))
}

// isGiven says that a word looks like something that was made up: digits and letters, and no name with a number.
func isGiven(word string) bool {
	if len(word) < 6 || isNumbers(word) || !strings.ContainsAny(word, "0123456789") || strings.ContainsAny(word, "(<[{=") {
		return false
	}
	return !wordlike(word) || strings.ToLower(word) != word
}

// joined says that the word before belongs to the one that begins at i: api key.
func (m *textMasker) joined(i int) bool {
	return m.prevEnd >= 0 && i-m.prevEnd == 1 && m.s[m.prevEnd] == ' '
}

func (m *textMasker) at(k int) rune {
	if k < len(m.s) {
		return rune(m.s[k])
	}
	return 0
}

func (m *textMasker) isScheme(i, j int) bool { return isScheme(m.s[i:j]) }

// sentenceWord is the word of a sentence that begins at k, without the signs around it.
func (m *textMasker) sentenceWord(k int) string {
	limit, _ := m.limit(k)
	limit = min(limit, k+maxAhead)
	if k >= limit || m.s[k] == '-' && k+1 < limit && (m.s[k+1] == '-' || m.s[k+1] == ' ') {
		return ""
	}
	end := k
	for end < limit && strings.IndexByte(" \t\r\n\"'`", m.s[end]) < 0 {
		end++
	}
	return strings.TrimRight(m.s[k:end], ".,;:!?)]}>")
}
