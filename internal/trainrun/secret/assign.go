package secret

import "strings"

// assignment masks the value behind a name and a sign, -1 when there is none, or it is no secret. The word is s[i:j].
func (m *textMasker) assignment(i, j int) int {
	k := j
	quoted := false
	if size := quoteAt(m.s, k); size > 0 {
		k, quoted = k+size, true
		if k < len(m.s) && m.s[k] == ']' { // os.environ["NAME"] = value
			k++
		}
	}
	spaced := k
	k = skip(m.s, k, " \t")
	spaced = k - spaced
	from, colon := sign(m.s, k)
	arrow := from > 0 && m.s[from-1] == '>'
	if k == j && m.s[j-1] == '-' && m.at(j) == '>' { // name->value
		from, arrow = j+1, true
		j--
	}
	if from < 0 || i == j {
		return -1
	}
	gap := from
	from = skip(m.s, from, " \t\r\n")
	gap = from - gap
	query := i > 0 && (m.s[i-1] == '?' || m.s[i-1] == '&' || m.s[i-1] == '#')
	if m.omit != nil && m.omit(m.s[i:j]) {
		return m.omitted(from)
	}
	kind := m.kindOf(i, j, query, colon || spaced > 0)
	if kind == keyPlain || gap > 0 && m.isFlag(from) {
		return -1
	}
	if colon && kind >= keyTokens {
		if v, ok := m.block(i, from-gap, from); ok {
			if v.text == "" {
				return -1
			}
			m.mask(v.from, v.to)
			return v.end
		}
	}
	v := m.value(from, valueContext{
		maybe: kind == keyMaybe || kind == keyAlone, literal: quoted, query: query, fields: !query && m.inFields(i, from),
		line: colon && !quoted && isHeader(m.s[i:j]),
	})
	number := (quoted || arrow || v.list) && !v.quoted && kind < keySecret && isNumbers(v.text) // of JSON, or many
	if number || arrow && kind < keySecret && isTarget(v.text) || !secretValue(kind, v.text) {
		return -1
	}
	m.mask(v.from, v.to)
	return v.end
}

// kindOf classifies a name; with its sign apart from it, it may be the last of two words: api key: abc.
func (m *textMasker) kindOf(i, j int, query, apart bool) keyKind {
	name := m.s[i:j]
	kind := secretKey(name)
	if apart && m.joined(i) {
		kind = max(kind, secretKey(m.s[m.prevStart:j]))
	}
	if query {
		switch strings.ToLower(name) {
		case "key", "sig", "signature", "x-amz-signature", "x-goog-signature", "code", "sas", "hmac", "pw", "pin", "x-oss-signature", "q-signature":
			kind = max(kind, keyToken)
		}
	}
	return kind
}

// isTarget knows what a piece of text is mapped to: token -> id.
func isTarget(s string) bool {
	switch strings.ToLower(strings.Trim(s, ",;.()[]")) {
	case "id", "ids", "idx", "index", "int", "str", "count", "embedding", "embeddings", "vector", "logit", "logits", "text", "string", "bytes":
		return true
	default:
		return false
	}
}

func isHeader(name string) bool {
	ws := words(name)
	return len(ws) > 0 && (ws[len(ws)-1] == "authorization" || ws[len(ws)-1] == "cookie")
}

// sign finds what stands between a name and its value, and says where it ends, -1 when there is nothing of the kind.
func sign(s string, k int) (end int, colon bool) {
	switch rest := s[k:]; {
	case strings.HasPrefix(rest, "::"), strings.HasPrefix(rest, "://"):
		return -1, false
	case strings.HasPrefix(rest, "=="), strings.HasPrefix(rest, "=>"), strings.HasPrefix(rest, ":="), strings.HasPrefix(rest, "->"):
		return k + 2, false
	case strings.HasPrefix(rest, "="):
		return k + 1, false
	case strings.HasPrefix(rest, ":"):
		return k + 1, true
	default:
		return -1, false
	}
}

func skip(s string, k int, any string) int {
	for k < len(s) && strings.IndexByte(any, s[k]) >= 0 {
		k++
	}
	return k
}

// omitted masks a value that is left out, when it has brackets or quotes: where it ends is plain.
func (m *textMasker) omitted(from int) int {
	limit, _ := m.limit(from)
	if from >= limit || quoteAt(m.s, from) == 0 && strings.IndexByte("[{(", m.s[from]) < 0 {
		return -1
	}
	v := m.value(from, valueContext{})
	if v.text == "" || v.text == Mask {
		return -1
	}
	m.mask(v.from, v.to)
	return v.end
}

// inFields says that a name and its value stand among fields that semicolons separate: Server=x;Password=y z. Such a value
// may hold spaces.
func (m *textMasker) inFields(i, from int) bool {
	if k := strings.TrimRight(m.s[:i], " "); strings.HasSuffix(k, ";") {
		line := k[max(len(k)-maxAhead, 0):]
		line = line[strings.LastIndexByte(line, '\n')+1:]
		return strings.IndexByte(line, '=') >= 0
	}
	end, _ := m.limit(from)
	end = max(min(end, from+maxAhead), from)
	if k := strings.IndexByte(m.s[from:end], '\n'); k >= 0 {
		end = from + k
	}
	_, next, ok := strings.Cut(m.s[from:end], ";")
	if !ok {
		return false
	}
	name, _, ok := strings.Cut(next, "=")
	return ok && !strings.ContainsAny(name, ";\"'")
}

// valueContext says where a value ends.
type valueContext struct {
	maybe   bool // it may well be no secret: one word, not far
	literal bool // behind a quoted name: a value without quotes is a number or a word
	query   bool // of an URL
	fields  bool // between semicolons
	line    bool // a header: to the end of its line
	shell   bool // a word of a command
}

// valueSpan is a value: s[from:to] is to be masked, the search goes on at end.
type valueSpan struct {
	from, to, end int
	text          string
	quoted, list  bool
}

// value finds the value that begins at k.
func (m *textMasker) value(k int, ctx valueContext) valueSpan {
	limit, size := m.limit(k)
	if ctx.maybe {
		limit = min(limit, k+maxAhead)
	}
	switch {
	case k >= limit, ctx.maybe && strings.IndexByte("[{(", m.s[k]) >= 0:
		return valueSpan{from: k, to: k, end: k}
	case quoteAt(m.s, k) > 0 && k+quoteAt(m.s, k) <= limit:
		return m.quotedValue(k, limit)
	case strings.IndexByte("[{(", m.s[k]) >= 0 && !ctx.shell:
		end := bracketed(m.s, k, limit)
		return valueSpan{from: k, to: end, end: end, text: strings.Trim(m.s[k:end], "[]{}() "), list: true}
	}
	end := m.bareEnd(k, limit, ctx)
	if end == limit && size > 0 && limit+size < len(m.s) && isAlnum(m.s[limit+size]) { // the quote was none
		for end = limit + size; end < len(m.s) && strings.IndexByte(" \t\r\n", m.s[end]) < 0; end++ {
		}
	}
	return valueSpan{from: k, to: end, end: end, text: m.s[k:end]}
}

// quotedValue reads a value in quotes. One that goes on behind them, as words of a shell may, is taken whole.
func (m *textMasker) quotedValue(k, limit int) valueSpan {
	size := quoteAt(m.s, k)
	end := closing(m.s, k+size, size, m.s[k+size-1])
	if end < 0 || end > limit {
		return valueSpan{from: k + size, to: limit, end: limit, text: m.s[k+size : limit], quoted: true}
	}
	after := end + size
	if after < limit && (isAlnum(m.s[after]) || quoteAt(m.s, after) > 0) {
		to := m.bareEnd(after, limit, valueContext{shell: true})
		return valueSpan{from: k, to: to, end: to, text: m.s[k:to], quoted: true}
	}
	return valueSpan{from: k + size, to: end, end: after, text: m.s[k+size : end], quoted: true}
}

// bareEnd finds the end of a value without quotes.
func (m *textMasker) bareEnd(k, limit int, ctx valueContext) int {
	stop := " \t\r\n"
	switch {
	case ctx.line:
		stop = "\r\n"
	case ctx.fields:
		stop = ";\r\n"
	case ctx.query:
		stop = "&# \t\r\n"
	case ctx.literal:
		stop = ",]} \t\r\n"
	}
	end := k
	for end < limit && strings.IndexByte(stop, m.s[end]) < 0 {
		size := quoteAt(m.s, end)
		switch {
		case size > 0 && !ctx.line:
			if to := closing(m.s, end+size, size, m.s[end+size-1]); to >= 0 && to+size <= limit {
				end = to
			}
			end += size
		case m.s[end] == '\\' && end+1 < limit:
			end += 2
		default:
			end++
		}
	}
	end = min(end, limit)
	if isCredentialScheme(m.s[k:end]) { // Bearer abc
		if next := skip(m.s, end, " \t"); next > end && next < limit {
			return m.bareEnd(next, limit, ctx)
		}
	}
	return end
}

func isCredentialScheme(w string) bool {
	switch strings.ToLower(w) {
	case "bearer", "basic", "token", "digest", "apikey":
		return true
	default:
		return false
	}
}

// bracketed finds the end of a printed list or map.
func bracketed(s string, k, limit int) int {
	depth := 0
	for i := k; i < limit; {
		if size := quoteAt(s, i); size > 0 {
			if end := closing(s, i+size, size, s[i+size-1]); end >= 0 && end+size <= limit {
				i = end
			}
			i += size
			continue
		}
		switch s[i] {
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return limit
}
