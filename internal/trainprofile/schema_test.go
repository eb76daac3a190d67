package trainprofile

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// node is a part of the schema.
type node map[string]any

func (n node) at(t *testing.T, path ...any) node {
	t.Helper()
	var v any = map[string]any(n)
	for _, p := range path {
		switch p := p.(type) {
		case string:
			v = v.(map[string]any)[p]
		case int:
			v = v.([]any)[p]
		}
		require.NotNil(t, v, "the schema has no %v", path)
	}
	return v.(map[string]any)
}

func (n node) texts(key string) []string {
	var out []string
	for _, v := range n[key].([]any) {
		s, _ := v.(string)
		out = append(out, s)
	}
	return out
}

func readSchema(t *testing.T) (node, *jsonschema.Schema) {
	t.Helper()
	data, err := os.ReadFile("profile.schema.json")
	require.NoError(t, err)
	var n node
	require.NoError(t, json.Unmarshal(data, &n))
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("profile.schema.json", doc))
	s, err := c.Compile("profile.schema.json")
	require.NoError(t, err)
	return n, s
}

// TestSchemaHasTheKeysOfTheStructs fails when a key is added to one of the two only.
func TestSchemaHasTheKeysOfTheStructs(t *testing.T) {
	t.Parallel()
	schema, _ := readSchema(t)
	for typ, path := range map[reflect.Type][]any{
		reflect.TypeFor[document]():       {},
		reflect.TypeFor[detectDocument](): {"properties", "detect"},
		reflect.TypeFor[commonDocument](): {"properties", "common"},
		reflect.TypeFor[ruleDocument]():   {"$defs", "rule"},
		reflect.TypeFor[condition]():      {"$defs", "condition"},
		reflect.TypeFor[spreadDoc]():      {"$defs", "spread"},
		reflect.TypeFor[unwrapDocument](): {"properties", "unwrap"},
		reflect.TypeFor[attributesDoc]():  {"properties", "attributes"},
		reflect.TypeFor[gaugesDoc]():      {"properties", "gauges"},
		reflect.TypeFor[gaugeNameDoc]():   {"properties", "gauges", "properties", "measurements", "items"},
		reflect.TypeFor[objectiveDoc]():   {"properties", "objective", "items"},
		reflect.TypeFor[sourceDoc]():      {"$defs", "source", "oneOf", 1},
	} {
		def := schema.at(t, path...)
		keys, index := structKeys(typ)
		assert.ElementsMatch(t, keys, slices.Collect(maps.Keys(def.at(t, "properties"))), typ.Name())
		assert.Equal(t, false, def["additionalProperties"], typ.Name())
		var required []string
		for _, k := range keys {
			if typ.Field(index[k]).Tag.Get("required") == "true" {
				required = append(required, k)
			}
		}
		var inSchema []string
		if def["required"] != nil {
			inSchema = def.texts("required")
		}
		assert.ElementsMatch(t, required, inSchema, typ.Name())
	}
}

func TestSchemaHasTheListsOfTheCode(t *testing.T) {
	t.Parallel()
	schema, _ := readSchema(t)
	values := trainrecord.Load().Values
	events := trainrecord.LineEvents()
	rule := schema.at(t, "$defs", "rule", "properties")
	assert.ElementsMatch(t, events, rule.at(t, "event").texts("enum"))
	assert.ElementsMatch(t, values["phase"], rule.at(t, "phase").texts("enum"))
	assert.ElementsMatch(t, values["framework"], schema.at(t, "properties", "framework").texts("enum"))
	assert.ElementsMatch(t, types, schema.at(t, "$defs", "condition", "properties", "type", "additionalProperties").texts("enum"))
	assert.ElementsMatch(t, headerKeys(), slices.Collect(maps.Keys(schema.at(t, "$defs", "header", "properties"))))
	assert.ElementsMatch(t, attributeNames(), schema.at(t, "properties", "attributes", "properties", "set", "propertyNames").texts("enum"))
	words, err := loadWords()
	require.NoError(t, err)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(words)), schema.at(t, "$defs", "source", "oneOf", 1, "properties", "words").texts("enum"))
	units := slices.Collect(maps.Keys(unitSeconds))
	units = append(slices.DeleteFunc(units, func(u string) bool { return u == "" }), unitClock)
	assert.ElementsMatch(t, units, schema.at(t, "$defs", "source", "oneOf", 1, "properties", "unit").texts("enum"))
	targets := append(slices.Collect(maps.Keys(openObjects)), trainrecord.BodyFramework)
	assert.ElementsMatch(t, targets, schema.at(t, "$defs", "spread", "properties", "to").texts("enum"))
	pattern, _ := schema.at(t, "$defs", "set", "propertyNames")["pattern"].(string)
	var want string
	for i, n := range bodyNames() {
		want += map[bool]string{true: "^(", false: "|"}[i == 0] + n
	}
	assert.Equal(t, want+`)(\..+)?$`, pattern)
}

func TestShippedProfilesFollowTheSchema(t *testing.T) {
	t.Parallel()
	_, schema := readSchema(t)
	files, err := filepath.Glob("profiles/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.NoError(t, schema.Validate(asJSON(t, data)), file)
		p, err := Parse(filepath.Base(file), data)
		require.NoError(t, err)
		assert.Equal(t, p.Name()+".yaml", filepath.Base(file), "a profile's file has its name")
		assert.NotEmpty(t, p.Description(), file)
	}
}

func asJSON(t *testing.T, data []byte) any {
	t.Helper()
	var doc any
	require.NoError(t, yaml.Unmarshal(data, &doc))
	text, err := json.Marshal(doc)
	require.NoError(t, err)
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	return v
}
