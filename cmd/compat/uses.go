package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// sections in the order in which they are told.
var sections = []string{"receivers", "processors", "exporters", "connectors", "extensions"}

// use is one component type that a configuration names.
type use struct {
	section string
	kind    string
	// ids are the components of the type.
	ids []string
}

func (u use) singular() string { return strings.TrimSuffix(u.section, "s") }

// uses lists the component types, those of the templates of receiver_creator among them: a Collector looks at these only when a pod appears.
func (c *configuration) uses() []use {
	all := map[[2]string]map[string]bool{}
	add := func(section, id string) {
		key := [2]string{section, kindOf(id)}
		if all[key] == nil {
			all[key] = map[string]bool{}
		}
		all[key][id] = true
	}
	for _, section := range sections {
		for id, body := range c.section(section) {
			add(section, id)
			if section == "receivers" && fold(kindOf(id)) == "receivercreator" {
				for template := range asMap(asMap(body)["receivers"]) {
					add(section, template)
				}
			}
		}
	}
	var out []use
	for key, ids := range all {
		out = append(out, use{section: key[0], kind: key[1], ids: slices.Sorted(maps.Keys(ids))})
	}
	slices.SortFunc(out, func(a, b use) int {
		return cmp.Or(
			cmp.Compare(slices.Index(sections, a.section), slices.Index(sections, b.section)),
			cmp.Compare(a.kind, b.kind),
		)
	})
	return out
}

// discoveries lists the kinds of service discovery of the prometheus receivers.
func (c *configuration) discoveries() []string {
	set := map[string]bool{}
	for id, body := range c.section("receivers") {
		if kindOf(id) != "prometheus" {
			continue
		}
		for _, job := range jobs(body) {
			for key := range job {
				if strings.HasSuffix(key, "_sd_configs") {
					set[key] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// jobs are the scrape configurations of a prometheus receiver.
func jobs(receiver any) []map[string]any {
	list, _ := asMap(asMap(receiver)["config"])["scrape_configs"].([]any)
	var out []map[string]any
	for _, job := range list {
		if m := asMap(job); m != nil {
			out = append(out, m)
		}
	}
	return out
}

// fold makes the spellings of a type that differ only in underscores the same.
func fold(kind string) string { return strings.ReplaceAll(kind, "_", "") }
