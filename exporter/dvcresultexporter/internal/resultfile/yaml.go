package resultfile

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/quoted"
)

var (
	plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`)
	// words that YAML 1.1 or 1.2 reads as something other than text
	yamlWord = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null)$`)
)

// encodeYAML writes a mapping that YAML 1.1 and YAML 1.2 readers take for the same values: block style, sorted keys, bare
// where they cannot be mistaken, every text in double quotes.
func encodeYAML(m object) []byte {
	return appendYAMLMap(nil, m, 0, false)
}

// appendYAMLMap writes a mapping that is not empty. An inline one continues the line of a list's hyphen.
func appendYAMLMap(b []byte, m object, depth int, inline bool) []byte {
	for i, key := range slices.Sorted(maps.Keys(m)) {
		if i > 0 || !inline {
			b = appendYAMLIndent(b, depth)
		}
		b = append(appendYAMLKey(b, key), ':')
		switch v := m[key].(type) {
		case object:
			if len(v) > 0 {
				b = appendYAMLMap(append(b, '\n'), v, depth+1, false)
				continue
			}
		case []any:
			if len(v) > 0 {
				b = appendYAMLList(append(b, '\n'), v, depth, false)
				continue
			}
		}
		b = append(appendYAMLScalar(append(b, ' '), m[key]), '\n')
	}
	return b
}

// appendYAMLList writes a list that is not empty; hyphens stand in the column of the key above.
func appendYAMLList(b []byte, list []any, depth int, inline bool) []byte {
	for i, e := range list {
		if i > 0 || !inline {
			b = appendYAMLIndent(b, depth)
		}
		b = append(b, "- "...)
		switch v := e.(type) {
		case object:
			if len(v) > 0 {
				b = appendYAMLMap(b, v, depth+1, true)
				continue
			}
		case []any:
			if len(v) > 0 {
				b = appendYAMLList(b, v, depth+1, true)
				continue
			}
		}
		b = append(appendYAMLScalar(b, e), '\n')
	}
	return b
}

func appendYAMLIndent(b []byte, depth int) []byte {
	for range depth {
		b = append(b, "  "...)
	}
	return b
}

func appendYAMLKey(b []byte, key string) []byte {
	if plainKey.MatchString(key) && !yamlWord.MatchString(key) {
		return append(b, key...)
	}
	return appendYAMLString(b, key)
}

func appendYAMLScalar(b []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		return appendYAMLFloat(b, v)
	case string:
		if isBigInteger(v) {
			return append(b, v...)
		}
		return appendYAMLString(b, v)
	case object:
		return append(b, "{}"...)
	case []any:
		return append(b, "[]"...)
	default:
		return append(b, "null"...)
	}
}

// appendYAMLString writes a text in double quotes; what a YAML 1.1 reader refuses or reads as a line break is escaped.
func appendYAMLString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		short := false
		if b, short = quoted.Append(b, r); short {
			continue
		}
		switch {
		case isYAMLPrintable(r):
			b = utf8.AppendRune(b, r)
		case r <= 0xff:
			b = fmt.Appendf(b, `\x%02x`, r)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return append(b, '"')
}

func isYAMLPrintable(r rune) bool {
	if strings.ContainsRune("\u0085\u2028\u2029\ufeff", r) {
		return false
	}
	return r >= 0x20 && r <= 0x7e || r >= 0xa0 && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd || r >= 0x10000
}
