package secret

import "strings"

// Texts come cut: what a reader keeps of a line that is no record, and what is searched of a long text. Where such a cut falls into a
// secret, its beginning has no form yet.
const (
	Kept     = 4 << 10  // bytes of a line that is no record
	Searched = 32 << 10 // bytes of a text
	rune4    = 4        // a rune that a cut leaves out has up to so many bytes
)

// isCut says that a text may have been cut, by its length.
func isCut(s string) bool {
	return len(s) <= Kept && len(s) > Kept-rune4 || len(s) <= Searched && len(s) > Searched-rune4
}

// begun masks the word that a cut ended when it may be the beginning of a secret: all of it, for nobody knows how it goes on.
func (m *textMasker) begun() {
	from := m.copied
	if k := strings.LastIndexAny(m.s[from:], " \t\r\n\"'`<>,;"); k >= 0 {
		from += k + 1
	}
	w, before := m.s[from:], m.s[:from]
	if w == "" || len(w) > maxAhead/2 && wordlike(w[:maxToken]) {
		return
	}
	before = strings.TrimRight(before, " \t")
	before = before[strings.LastIndexAny(before, " \t\r\n\"'`<>,;:=")+1:]
	if !wordlike(w) || isScheme(before) || strings.Contains(w, "://") || strings.Contains(strings.ToLower(w), "hook") || beginsShape(w) {
		m.mask(from, len(m.s))
	}
}

// beginsShape says that a word holds the beginning of a known form, however little of it.
func beginsShape(w string) bool {
	for i := range len(w) {
		if i > 0 && isAlnum(w[i-1]) && w[i-1] < 0x80 || w[i] >= 0x80 {
			continue
		}
		if strings.HasPrefix(w[i:], "eyJ") {
			return true
		}
		for _, s := range shapes[w[i]] {
			if strings.HasPrefix(w[i:], s.text) {
				return true
			}
		}
	}
	return false
}
