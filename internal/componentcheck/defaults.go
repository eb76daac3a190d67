package componentcheck

import (
	"encoding"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// longDefault is the number of entries from which a list may be shown elsewhere in the README.
const longDefault = 4

// absent are the words for a default that is nothing.
var absent = []string{"", "-", "—", "none", "required", "unset", `""`, "''", "[]", "{}"}

var remark = regexp.MustCompile(`\s*\([^()]*\)$`)

// matchDefault says whether a cell of the key table shows the value.
func matchDefault(cell string, v reflect.Value) error {
	shown := remark.ReplaceAllString(cell, "")
	shown = strings.TrimSpace(strings.Trim(strings.TrimSpace(shown), "`"))
	word := strings.ToLower(shown)
	if isEmpty(v) && slices.Contains(absent, word) {
		return nil
	}
	if (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() > longDefault && strings.HasPrefix(word, "see below") {
		return nil
	}
	want := yamlValue(v)
	if d, err := time.ParseDuration(shown); err == nil {
		if v.Type() == reflect.TypeFor[time.Duration]() && int64(d) == v.Int() {
			return nil
		}
	}
	var got any
	if err := yaml.Unmarshal([]byte(shown), &got); err != nil {
		return fmt.Errorf("default %q is no YAML: %w", cell, err)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		return fmt.Errorf("want default %v, got %q", want, cell)
	}
	return nil
}

// isEmpty says whether a default is nothing at all; false and 0 are something.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String, reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Pointer, reflect.Interface:
		return v.IsNil()
	case reflect.Struct:
		return v.IsZero()
	default:
		return false
	}
}

// yamlValue is the value as reading its YAML would give it.
func yamlValue(v reflect.Value) any {
	if v.Type() == reflect.TypeFor[time.Duration]() {
		return time.Duration(v.Int()).String()
	}
	if v.CanInterface() {
		if m, ok := v.Interface().(encoding.TextMarshaler); ok {
			if text, err := m.MarshalText(); err == nil {
				return string(text)
			}
		}
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		out := make([]any, 0, v.Len())
		for i := range v.Len() {
			out = append(out, yamlValue(v.Index(i)))
		}
		return out
	case reflect.Map:
		out := map[string]any{}
		for iter := v.MapRange(); iter.Next(); {
			out[fmt.Sprint(iter.Key().Interface())] = yamlValue(iter.Value())
		}
		return out
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return yamlValue(v.Elem())
	default:
		return v.Interface()
	}
}
