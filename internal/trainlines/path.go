package trainlines

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParentFolder names the folder of a file, which names the run of lines that name none; "" when that is the root or the working
// directory.
func ParentFolder(path string) string {
	name := filepath.Base(filepath.Dir(path))
	if name == "." || name == ".." || name == string(filepath.Separator) {
		return ""
	}
	return name
}

// ValidText gives a path as text. Bytes that are no UTF-8 are written as %FF, and a % that looks like that, or like its own
// spelling, as %25: two folders stay two.
func ValidText(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, '%') < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 || looksSpelled(s) {
			fmt.Fprintf(&b, "%%%02X", s[0])
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}

// looksSpelled says whether a text begins as ValidText spells a byte.
func looksSpelled(s string) bool {
	if len(s) < 3 || s[0] != '%' {
		return false
	}
	n, err := strconv.ParseUint(s[1:3], 16, 8)
	return err == nil && (n >= utf8.RuneSelf || n == '%')
}
