package secret

import (
	"slices"
	"strings"
)

// pair masks the second of two things in quotes, of which the first is the name of a secret: ('api_key', 'x'), name="token"
// value="x". The name is s[i:j].
func (m *textMasker) pair(i, j int) int {
	size := quoteAt(m.s, j)
	if size == 0 || i < size || quoteAt(m.s, i-size) != size {
		return -1
	}
	kind := secretKey(m.s[i:j])
	if kind < keyTokens {
		return -1
	}
	at := skip(m.s, j+size, " \t\r\n")
	attribute := at > j+size && strings.HasPrefix(m.s[at:], "value=")
	switch {
	case attribute:
		at += len("value=")
	case m.at(at) == ',' && !m.isItem(i-size):
		at = skip(m.s, at+1, " \t\r\n")
	default:
		return -1
	}
	end, _ := m.limit(j + size)
	if at >= end {
		return -1
	}
	v := m.value(at, valueContext{literal: true})
	if !v.quoted && (kind < keySecret || !isNumbers(v.text[:len(v.text)-len(strings.TrimLeft(v.text, "0123456789.-"))])) {
		return -1
	}
	if !v.quoted {
		v.text = v.text[:len(v.text)-len(strings.TrimLeft(v.text, "0123456789.-"))]
		v.to = v.from + len(v.text)
		v.end = v.to
	}
	if !attribute && (strings.HasPrefix(m.s[skip(m.s, v.end, " \t\r\n"):], ",") || isName(v.text, kind, m.s[i:j])) || !secretValue(kind, v.text) {
		return -1
	}
	m.mask(v.from, v.to)
	return v.end
}

// isItem says that something stands before in the same list: it may be one of many names.
func (m *textMasker) isItem(k int) bool {
	before := strings.TrimRight(m.s[max(0, k-maxName):k], " \t\r\n")
	return strings.HasSuffix(before, ",")
}

// isName says that what stands behind a name is another one, as in a list of columns.
func isName(text string, kind keyKind, name string) bool {
	if slices.Contains(notGiven, strings.ToLower(text)) || secretKey(text) > keyPlain {
		return true
	}
	switch strings.ToLower(text) {
	case "username", "user_name", "email", "name", "host", "port", "url":
		return true
	}
	return kind < keySecret && len(words(name)) == 1 && !isGiven(text) // token and another word
}

// sentence masks what is told in words, of English or of SQL.
func (m *textMasker) sentence(i, j int) int {
	switch w := m.s[i:j]; {
	case strings.EqualFold(w, "identified"):
		m.sql = true
	case m.sql && (strings.EqualFold(w, "by") || strings.EqualFold(w, "as")):
		at := skip(m.s, j, " \t\r\n")
		if quoteAt(m.s, at) > 0 {
			return m.quotedSecret(at)
		}
		if w == "BY" && m.joined(i) && m.s[m.prevStart:m.prevEnd] == "IDENTIFIED" && at > j && m.sentenceWord(at) != "PASSWORD" {
			if word := m.sentenceWord(at); word != "" && word != Mask {
				return m.mask(at, at+len(word))
			}
		}
	}
	if next := m.told(i, j); next >= 0 {
		return next
	}
	lower := strings.ToLower(m.s[i:j])
	if at := skip(m.s, j, " \t"); at > j && (lower == "password" || lower == "passwd") && quoteAt(m.s, at) > 0 {
		return m.quotedSecret(at)
	}
	return -1
}

// quotedSecret masks what is in quotes.
func (m *textMasker) quotedSecret(at int) int {
	limit, _ := m.limit(at)
	if at >= limit || at+quoteAt(m.s, at) > limit {
		return -1
	}
	v := m.quotedValue(at, limit)
	if slices.Contains(notGiven, strings.ToLower(strings.TrimSpace(v.text))) || !secretValue(keySecret, v.text) {
		return -1
	}
	m.mask(v.from, v.to)
	return v.end
}
