package main

import (
	"fmt"
	"strings"
)

const rule = "--------------------------------------------------------------------------------\n"

// notice writes the modules with their licences, then each text once with the modules that have it.
func notice(modules []module) string {
	var b strings.Builder
	b.WriteString("otelcol-train is licensed under the Apache License, Version 2.0. Its binaries link the modules below.\n\n")
	var texts []string
	users := map[string][]string{}
	for _, m := range modules {
		fmt.Fprintf(&b, "%s %s  %s\n", m.path, m.version, strings.Join(m.ids, " AND "))
		for _, text := range m.texts {
			text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
			if users[text] == nil {
				texts = append(texts, text)
			}
			users[text] = append(users[text], m.path)
		}
	}
	for _, text := range texts {
		b.WriteString("\n" + rule)
		for _, path := range users[text] {
			b.WriteString(path + "\n")
		}
		b.WriteString(rule + text + "\n")
	}
	return b.String()
}
