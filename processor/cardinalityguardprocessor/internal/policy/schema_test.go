package policy

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheSchemaIsThatOfTheTypes builds the schema from the types and compares it with the shipped one; -update rewrites that.
func TestTheSchemaIsThatOfTheTypes(t *testing.T) {
	t.Parallel()
	schema := schemaOf(t, reflect.TypeFor[Document](), false)
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = "Policy of cardinality_guard"
	want, err := json.MarshalIndent(schema, "", "  ")
	require.NoError(t, err)
	file := filepath.Join(shippedDir, "policy.schema.json")
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		require.NoError(t, os.WriteFile(file, append(want, '\n'), 0o644))
	}
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got))
}

// schemaOf describes a type as the decoder reads it.
func schemaOf(t *testing.T, typ reflect.Type, one bool) map[string]any {
	if w, ok := reflect.Zero(typ).Interface().(worded); ok {
		return map[string]any{"enum": w.Words()}
	}
	switch typ {
	case reflect.TypeFor[Text]():
		return map[string]any{"type": []string{"string", "number", "boolean"}}
	case reflect.TypeFor[Globs]():
		text := map[string]any{"type": "string"}
		return map[string]any{"oneOf": []any{text, map[string]any{"type": "array", "items": text}}}
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return schemaOf(t, typ.Elem(), one)
	case reflect.Struct:
		return objectOf(t, typ)
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t, typ.Elem(), one)}
	case reflect.Slice:
		item := schemaOf(t, typ.Elem(), false)
		list := map[string]any{"type": "array", "items": item}
		if one {
			return map[string]any{"oneOf": []any{item, list}}
		}
		return list
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	}
	t.Fatalf("no schema for %s", typ)
	return nil
}

func objectOf(t *testing.T, typ reflect.Type) map[string]any {
	properties := map[string]any{}
	for _, f := range reflect.VisibleFields(typ) {
		if f.Anonymous {
			continue
		}
		name, flags, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		require.NotEmpty(t, name, "%s.%s", typ, f.Name)
		property := schemaOf(t, f.Type, flags == "one")
		property["description"] = f.Tag.Get("doc")
		require.NotEmpty(t, property["description"], "%s.%s", typ, f.Name)
		properties[name] = property
	}
	return map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
}
