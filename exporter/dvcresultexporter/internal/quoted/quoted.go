// Package quoted writes what texts in double quotes escape alike in JSON, as Python writes it, and in YAML.
package quoted

// Append writes a character that has an escape of two characters, and says whether it has one.
func Append(b []byte, r rune) ([]byte, bool) {
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r)), true
	case '\b':
		return append(b, `\b`...), true
	case '\t':
		return append(b, `\t`...), true
	case '\n':
		return append(b, `\n`...), true
	case '\f':
		return append(b, `\f`...), true
	case '\r':
		return append(b, `\r`...), true
	}
	return b, false
}
