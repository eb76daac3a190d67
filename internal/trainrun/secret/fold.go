package secret

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// lookAlikes are letters of other scripts that look like Latin ones.
var lookAlikes = strings.NewReplacer(
	"\u0430", "a", "\u0435", "e", "\u043e", "o", "\u0440", "p", "\u0441", "c", "\u0443", "y", "\u0445", "x", "\u0455", "s", "\u0456", "i",
	"\u0458", "j", "\u0501", "d", "\u051b", "q", "\u051d", "w", "\u04bb", "h", "\u043a", "k", "\u0442", "t", "\u043c", "m", "\u0432", "b",
	"\u0410", "A", "\u0412", "B", "\u0415", "E", "\u041a", "K", "\u041c", "M", "\u041d", "H", "\u041e", "O", "\u0420", "P", "\u0421", "C",
	"\u0422", "T", "\u0425", "X", "\u0405", "S", "\u0406", "I",
	"\u03b1", "a", "\u03bf", "o", "\u03c1", "p", "\u03bd", "v", "\u03b9", "i", "\u03ba", "k", "\u03b5", "e", "\u03c4", "t", "\u03c5", "u",
	"\u0391", "A", "\u0392", "B", "\u0395", "E", "\u0397", "H", "\u0399", "I", "\u039a", "K", "\u039c", "M", "\u039d", "N", "\u039f", "O",
	"\u03a1", "P", "\u03a4", "T", "\u03a7", "X", "\u03a5", "Y", "\u0131", "i", "\u0261", "g", "\u0251", "a",
	"\u200b", "", "\u200c", "", "\u200d", "", "\u2060", "", "\ufeff", "", "\u00ad", "",
)

// fold writes the name of a value as it looks: wide and ornamental letters, and those of other scripts, as plain ones.
func fold(name string) string {
	for i := range len(name) {
		if name[i] >= 0x80 {
			return lookAlikes.Replace(strings.Map(withoutMarks, norm.NFKD.String(name)))
		}
	}
	return name
}

// withoutMarks drops accents that stand apart from their letters.
func withoutMarks(c rune) rune {
	if c >= 0x300 && c <= 0x36f {
		return -1
	}
	return c
}
