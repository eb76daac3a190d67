package resultfile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/quoted"
)

// object is a JSON object under construction; put leaves out what is unknown.
type object = map[string]any

// encodeJSON writes a value with keys in code-point order, an indent of four spaces and a final newline. Nothing is
// escaped that JSON does not demand. A float that is not finite becomes the text "nan", "inf" or "-inf".
func encodeJSON(v any) []byte {
	return append(appendJSON(nil, v, 0), '\n')
}

func appendJSON(b []byte, v any, depth int) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return appendJSONString(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		if !isFinite(v) {
			return append(appendFloat(append(b, '"'), v), '"')
		}
		return appendFloat(b, v)
	case []any:
		return appendJSONArray(b, v, depth)
	case object:
		return appendJSONObject(b, v, depth)
	default: // the builders of this package make nothing else; the schema test would see an empty value
		return append(b, `""`...)
	}
}

func appendJSONArray(b []byte, v []any, depth int) []byte {
	if len(v) == 0 {
		return append(b, "[]"...)
	}
	b = append(b, '[')
	for i, e := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSON(appendIndent(b, depth+1), e, depth+1)
	}
	return append(appendIndent(b, depth), ']')
}

func appendJSONObject(b []byte, v object, depth int) []byte {
	if len(v) == 0 {
		return append(b, "{}"...)
	}
	b = append(b, '{')
	for i, key := range slices.Sorted(maps.Keys(v)) { // byte order of UTF-8 is code-point order
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendJSONString(appendIndent(b, depth+1), key), ": "...)
		b = appendJSON(b, v[key], depth+1)
	}
	return append(appendIndent(b, depth), '}')
}

func appendIndent(b []byte, depth int) []byte {
	b = append(b, '\n')
	for range depth {
		b = append(b, "    "...)
	}
	return b
}

func appendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s { // invalid UTF-8 reads as U+FFFD
		short := false
		if b, short = quoted.Append(b, r); short {
			continue
		}
		if r < 0x20 {
			b = fmt.Appendf(b, `\u%04x`, r)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
