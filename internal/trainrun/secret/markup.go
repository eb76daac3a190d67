package secret

import (
	"strconv"
	"strings"
)

// markup masks what an element of XML holds: <password>x</password>, and the value behind a key of a property list. The word is
// s[i:j].
func (m *textMasker) markup(i, j int) int {
	if m.at(j) == '<' && strings.HasPrefix(m.s[j:], "</key>") {
		return m.listed(i, j)
	}
	k := i
	if k > 0 && m.s[k-1] == ':' { // of a name space
		for k--; k > 0 && i-k < 64 && isKeyByte(m.s[k-1]); k-- {
		}
	}
	if k == 0 || m.s[k-1] != '<' {
		return -1
	}
	kind := secretKey(m.s[i:j])
	if kind == keyPlain {
		return -1
	}
	limit, _ := m.limit(i)
	from := j
	if strings.IndexByte(" \t\r\n", m.s[min(j, len(m.s)-1)]) >= 0 { // attributes
		ahead := m.s[j:max(min(limit, j+maxAhead), j)]
		n := strings.IndexAny(ahead, "<>")
		if n < 0 {
			return -1
		}
		if at := strings.Index(ahead[:n], " value="); at >= 0 && kind >= keyToken {
			return m.quotedSecret(j + at + len(" value="))
		}
		from = j + n
		if m.s[from-1] == '/' {
			return -1
		}
	}
	if m.at(from) != '>' {
		return -1
	}
	return m.element(from+1, limit, kind)
}

// element masks text from a place to the next tag.
func (m *textMasker) element(from, limit int, kind keyKind) int {
	if kind < keyToken {
		limit = min(limit, from+maxAhead)
	}
	if from >= limit {
		return -1
	}
	end, rest := from, m.s[from:limit]
	if data, ok := strings.CutPrefix(rest, "<![CDATA["); ok {
		from += len(rest) - len(data)
		end = limit
		if n := strings.Index(data, "]]>"); n >= 0 {
			end = from + n
		}
	} else if n := strings.IndexByte(rest, '<'); n >= 0 {
		end += n
	} else {
		end = limit
	}
	from = skip(m.s[:end], from, " \t\r\n")
	text := strings.TrimRight(m.s[from:end], " \t\r\n")
	if !secretValue(kind, text) || kind < keySecret && isNumbers(text) {
		return -1
	}
	m.mask(from, from+len(text))
	return end
}

// listed masks the text behind a key of a property list: <key>password</key><string>x</string>.
func (m *textMasker) listed(i, j int) int {
	kind := secretKey(m.s[i:j])
	if kind == keyPlain {
		return -1
	}
	at := skip(m.s, j+len("</key>"), " \t\r\n")
	limit, _ := m.limit(i)
	if !strings.HasPrefix(m.s[at:], "<string>") || at+len("<string>") > limit {
		return -1
	}
	return m.element(at+len("<string>"), limit, kind)
}

// block finds a block of YAML behind a name: | or > and deeper lines, or items of a list on lines of their own.
func (m *textMasker) block(i, sign, from int) (valueSpan, bool) {
	limit, _ := m.limit(i)
	var first int
	switch {
	case from >= limit:
		return valueSpan{}, false
	case m.s[from] == '|' || m.s[from] == '>':
		n := skip(m.s, skip(m.s, from+1, "+-0123456789"), " \t\r")
		if m.at(n) != '\n' || n >= limit {
			return valueSpan{}, false
		}
		first = n + 1
	case strings.HasPrefix(m.s[from:], "- ") && strings.IndexByte(m.s[sign:from], '\n') >= 0:
		first = strings.LastIndexByte(m.s[:from], '\n') + 1
	default:
		return valueSpan{}, false
	}
	deep := m.indent(i)
	end := first
	for at := first; at < limit; {
		next := limit
		if n := strings.IndexByte(m.s[at:limit], '\n'); n >= 0 {
			next = at + n + 1
		}
		text := skip(m.s[:next], at, " \t")
		blank := strings.TrimSpace(m.s[text:next]) == ""
		if !blank && text-at <= deep && !strings.HasPrefix(m.s[text:], "- ") {
			break
		}
		if !blank {
			end = next
		}
		at = next
	}
	begin := skip(m.s[:end], first, " \t\r\n")
	text := strings.TrimRight(m.s[begin:end], " \t\r\n")
	return valueSpan{from: begin, to: begin + len(text), end: begin + len(text), text: text}, true
}

// indent is the number of blanks before the line of a place.
func (m *textMasker) indent(i int) int {
	ahead := m.s[max(0, i-maxName):i]
	line := ahead[strings.LastIndexByte(ahead, '\n')+1:]
	return len(line) - len(strings.TrimLeft(line, " \t"))
}

// escapedName masks the value behind a name in quotes with letters that are written as numbers: "pass\u0077ord": "x". The name is
// s[i:end].
func (m *textMasker) escapedName(i, end, size int) int {
	name := m.s[i:end]
	if len(name) > maxName || !strings.Contains(name, "\\u") && !strings.Contains(name, "\\x") {
		return -1
	}
	kind := secretKey(unescape(name))
	from, _ := sign(m.s, skip(m.s, end+size, " \t"))
	if kind == keyPlain || from < 0 {
		return -1
	}
	v := m.value(skip(m.s, from, " \t\r\n"), valueContext{maybe: kind == keyMaybe || kind == keyAlone, literal: true})
	if !v.quoted && kind < keySecret && isNumbers(v.text) || !secretValue(kind, v.text) {
		return -1
	}
	m.mask(v.from, v.to)
	return v.end
}

// unescape writes letters for their numbers.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		k := skip(s, i, "\\")
		digits := 0
		if k > i && k < len(s) {
			digits = map[byte]int{'u': 4, 'x': 2}[s[k]]
		}
		if digits > 0 && k+1+digits <= len(s) {
			if n, err := strconv.ParseUint(s[k+1:k+1+digits], 16, 32); err == nil {
				b.WriteRune(rune(n))
				i = k + 1 + digits
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}
