package secret

import "strings"

// Mode says how much of an URL with user information is masked.
type Mode uint8

const (
	WholeURL Mode = iota // all of it
	UserInfo             // the rest may tell what went wrong
)

// textMasker searches a text for secrets: values behind a name (key=value, "key": value, Key: value, --key value, ?key=value),
// user information of URLs, and words that have the form of a token. It knows quotes, so that a value may hold anything.
type textMasker struct {
	s      string
	urls   Mode
	omit   func(name string) bool // values that are left out whatever they hold; nil for none
	out    strings.Builder
	copied int
	masked int64

	open      []quote // around the current place
	prevStart int     // the word before
	prevEnd   int
	cmd       command
	sql       bool // IDENTIFIED was said
}

// quote is a part of the text in quotes. In a text within a text they are written with backslashes.
type quote struct {
	end  int // of what it holds
	size int // of the quote with its backslashes
}

// maskText gives a text without the secrets in it, and says how many there were.
func maskText(s string, urls Mode, omit func(name string) bool) (string, int64) {
	if harmless(s) {
		return s, 0
	}
	m := &textMasker{s: s, urls: urls, omit: omit, prevEnd: -1}
	for i := 0; i < len(s); {
		for n := len(m.open); n > 0 && m.open[n-1].end < i; n-- {
			m.open = m.open[:n-1]
		}
		switch n := len(m.open); {
		case n > 0 && m.open[n-1].end == i:
			i += m.open[n-1].size
			m.open = m.open[:n-1]
		case isKeyByte(s[i]):
			i = m.word(i)
		default:
			i = m.other(i)
		}
	}
	if isCut(s) {
		m.begun()
	}
	if m.masked == 0 {
		return s, 0
	}
	m.out.WriteString(s[m.copied:])
	return m.out.String(), m.masked
}

func isKeyByte(c byte) bool { return isAlnum(c) || c == '_' || c == '-' || c == '.' }

// other passes what is no word; a quote that is closed again is noted.
func (m *textMasker) other(i int) int {
	if strings.IndexByte("\n;|&", m.s[i]) >= 0 { // the end of a command
		m.cmd, m.sql = command{}, false
	}
	size := quoteAt(m.s, i)
	if size == 0 {
		return max(skip(m.s, i, "\\"), i+1)
	}
	if i == 0 || !isAlnum(m.s[i-1]) {
		if end := closing(m.s, i+size, size, m.s[i+size-1]); end >= 0 {
			if next := m.escapedName(i+size, end, size); next >= 0 {
				return next
			}
			m.open = append(m.open, quote{end, size})
		}
	}
	return i + size
}

// quoteAt gives the size of the quote that begins at i, its backslashes included, 0 when none does.
func quoteAt(s string, i int) int {
	k := i
	for k < len(s) && s[k] == '\\' {
		k++
	}
	if k < len(s) && (s[k] == '"' || s[k] == '\'' || s[k] == '`') {
		return k - i + 1
	}
	return 0
}

// closing finds where a quoted text ends, -1 when nowhere.
func closing(s string, from, size int, mark byte) int {
	slashes := 0
	for k := from; k < len(s); k++ {
		switch {
		case s[k] == '\\':
			slashes++
			continue
		case s[k] == mark && (slashes == size-1 || size == 1 && slashes%2 == 0):
			return k - (size - 1)
		}
		slashes = 0
	}
	return -1
}

// limit is where the quote around a place ends.
func (m *textMasker) limit(at int) (end, size int) {
	for n := len(m.open) - 1; n >= 0; n-- {
		if m.open[n].end >= at {
			return m.open[n].end, m.open[n].size
		}
	}
	return len(m.s), 0
}

// mask replaces a part of the text.
func (m *textMasker) mask(from, to int) int {
	m.out.WriteString(m.s[m.copied:from])
	m.out.WriteString(Mask)
	m.copied = to
	m.masked++
	m.prevEnd = -1
	return to
}

// word looks at the word that begins at i and says where to go on.
func (m *textMasker) word(i int) int {
	j := i
	for j < len(m.s) && isKeyByte(m.s[j]) {
		j++
	}
	next := m.form(i, j)
	if next < 0 {
		next = m.markup(i, j)
	}
	if next < 0 {
		next = m.assignment(i, j)
	}
	if next < 0 {
		next = m.pair(i, j)
	}
	if next < 0 {
		next = m.flag(i, j)
	}
	if next < 0 {
		next = m.commandWord(i, j)
	}
	if next < 0 {
		next = m.sentence(i, j)
	}
	if next < 0 {
		next = m.glued(i, j)
	}
	if next >= 0 {
		return next
	}
	m.prevStart, m.prevEnd = i, j
	return j
}

// glued says where a word begins of which the first bytes are none: the rest of a written escape or of a colour, or text before a block of keys.
func (m *textMasker) glued(i, j int) int {
	if k := j - len("-----BEGIN"); k > i && m.at(j) == ' ' && strings.HasSuffix(m.s[i:j], "-----BEGIN") {
		return k
	}
	if i == 0 {
		return -1
	}
	k := i
	switch m.s[i-1] {
	case '\\': // \n
		if strings.IndexByte("nrtfvbae", m.s[i]) >= 0 {
			k++
		}
	case '[', ';': // ESC[1;32m
		if d := skip(m.s, i, "0123456789"); m.at(d) == 'm' {
			k = d + 1
		}
	}
	if k == i || k >= j {
		return -1
	}
	return k
}

// form looks at what tells by its own form, whatever its name. The word is s[i:j].
func (m *textMasker) form(i, j int) int {
	w := m.s[i:j]
	switch {
	case strings.HasPrefix(m.s[i:], "-----BEGIN "):
		return m.mask(i, m.endOfPEM(j))
	case strings.HasPrefix(m.s[j:], "://"):
		return m.url(i, j)
	case isShape(w):
		return m.mask(i, i+len(strings.TrimRight(w, ".")))
	case m.at(j) == '/' && strings.IndexByte(w, '.') > 0:
		return m.hook(i, j)
	case isScheme(w):
		return m.credentials(w, j)
	default: // a name, or nothing
		return -1
	}
}

func (m *textMasker) endOfPEM(from int) int {
	i := strings.Index(m.s[from:], "-----END ")
	if i < 0 {
		return len(m.s)
	}
	i += from + len("-----END ")
	if k := strings.Index(m.s[i:], "-----"); k >= 0 {
		return i + k + len("-----")
	}
	return len(m.s)
}

// isScheme knows the words before credentials in a header.
func isScheme(w string) bool {
	switch strings.ToLower(w) {
	case "bearer", "basic":
		return true
	default:
		return false
	}
}

// credentials masks the word behind Bearer or Basic, when it looks like credentials.
func (m *textMasker) credentials(scheme string, j int) int {
	from := j
	for from < len(m.s) && (m.s[from] == ' ' || m.s[from] == '\t') {
		from++
	}
	end, _ := m.limit(j)
	to := from
	for to < end && strings.IndexByte(" \t\r\n\"'`,;<>\\", m.s[to]) < 0 {
		to++
	}
	if from == j || from >= to {
		return -1
	}
	w := m.s[from:to]
	mixed := strings.ContainsAny(w, "0123456789=") || w[1:] != strings.ToLower(w[1:])
	if scheme == "Bearer" && len(w) >= 3 && w != Mask || mixed && len(w) >= 6 || len(w) >= 24 {
		return m.mask(from, to)
	}
	return -1
}
