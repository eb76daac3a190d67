package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

// complete gives every component of an SBOM its licences, spells the project's own modules by their paths, adds the commands beside its binary, and
// drops the time of the build.
func complete(path string, modules []module, commands []*debug.BuildInfo) error {
	text, err := os.ReadFile(path) //nolint:gosec // what the caller made
	if err != nil {
		return err
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		return err
	}
	if metadata, ok := doc["metadata"].(map[string]any); ok {
		delete(metadata, "timestamp")
	}
	ids := map[string][]string{}
	for _, m := range modules {
		ids[m.path], ids[m.from] = m.ids, m.ids
	}
	components, _ := doc["components"].([]any)
	for _, c := range components {
		component, _ := c.(map[string]any)
		name, _ := component["name"].(string)
		if relative, ok := strings.CutPrefix(name, "../../"); ok {
			component["name"] = own + "/" + relative
			component["licenses"] = licenses([]string{ownLicence})
			continue
		}
		if ids[name] == nil {
			return fmt.Errorf("%s: the component %s is not linked into any of the binaries", path, name)
		}
		component["licenses"] = licenses(ids[name])
	}
	if err := addCommands(doc, commands, ids); err != nil {
		return err
	}
	text, err = json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	text = bytes.ReplaceAll(text, []byte("pkg:golang/../../"), []byte("pkg:golang/"+own+"/"))
	return os.WriteFile(path, append(text, '\n'), 0o644) //nolint:gosec // everybody reads it
}

func licenses(ids []string) []any {
	if len(ids) > 1 {
		return []any{map[string]any{"expression": strings.Join(ids, " AND ")}}
	}
	return []any{map[string]any{"license": map[string]any{"id": ids[0]}}}
}
