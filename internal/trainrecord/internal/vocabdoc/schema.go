// Package vocabdoc writes what is generated from the registry: the JSON Schema of a line and the vocabulary's page.
package vocabdoc

import (
	"encoding/json"
	"slices"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// object is a JSON object of the schema; encoding/json sorts its keys, so the file has one form.
type object = map[string]any

// Schema gives the JSON Schema (2020-12) of one line that is a record.
func Schema(r *trainrecord.Registry) ([]byte, error) {
	root := object{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"title":       "Training record, version " + trainrecord.SchemaVersion,
		"description": "One line of a training run's JSON Lines stream. A trainer that writes this needs no mapping.",
		"type":        "object",
	}
	properties := object{}
	var required []string
	for _, n := range r.Names {
		if n.Kind != trainrecord.KindRecord {
			continue
		}
		properties[n.Name] = property(r, n)
		if n.Required && n.Name != trainrecord.KeyRunID {
			required = append(required, n.Name)
		}
	}
	properties[trainrecord.KeySchema] = object{"type": "string", "pattern": "^" + trainrecord.SchemaName, "description": "the vocabulary and its version; absent means version 1"}
	root["properties"] = properties
	root["required"] = required
	var rules []any
	for _, event := range trainrecord.LineEvents() {
		if body := bodySchema(r, event); len(body) > 0 {
			rules = append(rules, object{
				"if":   object{"properties": object{trainrecord.KeyEvent: object{"const": event}}},
				"then": object{"properties": object{trainrecord.KeyBody: object{"properties": body}}},
			})
		}
	}
	root["allOf"] = rules
	b, err := json.MarshalIndent(root, "", "  ")
	return append(b, '\n'), err
}

// bodySchema gives the properties of the body that the registry gives to an event.
func bodySchema(r *trainrecord.Registry, event string) object {
	body := object{}
	for _, n := range r.Names {
		if n.Kind == trainrecord.KindBody && slices.Contains(n.Events, event) {
			body[n.Name] = property(r, n)
		}
	}
	return body
}

func property(r *trainrecord.Registry, n trainrecord.Name) object {
	p := object{"description": n.Meaning}
	switch n.Type {
	case "int":
		p["type"] = "integer"
	case "number":
		p["type"] = "number"
	case "bool":
		p["type"] = "boolean"
	case "time":
		p["type"] = []string{"string", "number"}
	case "string", "object", "array":
		p["type"] = n.Type
	default: // any
	}
	if n.Minimum != nil {
		p["minimum"] = *n.Minimum
	}
	if n.Maximum != nil {
		p["maximum"] = *n.Maximum
	}
	if n.Elements != "" {
		p["items"] = withKeys(r, n, object{"type": n.Elements})
	}
	if n.Pattern != "" {
		p["pattern"] = n.Pattern
	}
	if n.Closed {
		p["enum"] = r.Values[n.Values]
	} else if n.Values != "" {
		p["examples"] = r.Values[n.Values]
	}
	if n.Name == trainrecord.KeyEvent {
		delete(p, "examples")
		p["enum"] = trainrecord.LineEvents()
	}
	if n.Elements == "" {
		return withKeys(r, n, p)
	}
	return p
}

// withKeys adds the known keys of an object.
func withKeys(r *trainrecord.Registry, n trainrecord.Name, p object) object {
	if len(n.Keys) == 0 {
		return p
	}
	inner := object{}
	for key, kind := range n.Keys {
		entry, known := r.Inner(n, key)
		if !known {
			entry = trainrecord.Name{Type: kind}
		}
		described := property(r, entry)
		delete(described, "description")
		if known {
			inner[key] = described
		} else {
			p["additionalProperties"] = described
		}
	}
	p["properties"] = inner
	return p
}
