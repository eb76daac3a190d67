package main

import (
	"cmp"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	xmodule "golang.org/x/mod/module"
)

// The project's own modules.
const (
	own        = "github.com/pathologize/otelcol-train"
	ownLicence = "Apache-2.0"
)

// module is one that is linked into a binary.
type module struct {
	path    string
	version string
	// from is where its source is in the module cache; another module's when it is replaced.
	from, fromVersion string
	// ids are the SPDX names of its licences, texts what its licence and notice files say.
	ids, texts []string
}

// linked lists the modules of all binaries but the project's own.
func linked(binaries []string) ([]module, error) {
	set := map[pathVersion]module{}
	for _, path := range binaries {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for _, d := range info.Deps {
			m := module{path: d.Path, version: d.Version, from: d.Path, fromVersion: d.Version}
			if d.Replace != nil && d.Replace.Version != "" {
				m.from, m.fromVersion = d.Replace.Path, d.Replace.Version
			}
			if strings.HasPrefix(m.path, own) {
				continue
			}
			set[pathVersion{m.path, m.version}] = m
		}
	}
	out := make([]module, 0, len(set))
	for _, m := range set {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b module) int { return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.version, b.version)) })
	return out, nil
}

type pathVersion struct{ path, version string }

func goFolders() (cache, root string, err error) {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOROOT").Output()
	if err != nil {
		return "", "", err
	}
	cache, root, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	return cache, root, nil
}

func readOverrides(path string) (map[string]string, error) {
	text, err := os.ReadFile(path) //nolint:gosec // a file of this repository
	if err != nil {
		return nil, err
	}
	var known map[string]string
	return known, yaml.Unmarshal(text, &known)
}

var fileNames = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice)([.-].*)?$`)

// read finds the licences of a module in its files, else among those named by hand.
func (m *module) read(cache string, known map[string]string) error {
	path, err := xmodule.EscapePath(m.from)
	if err != nil {
		return err
	}
	version, err := xmodule.EscapeVersion(m.fromVersion)
	if err != nil {
		return err
	}
	folder := filepath.Join(cache, path+"@"+version)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() || !fileNames.MatchString(entry.Name()) || strings.HasSuffix(entry.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name())) //nolint:gosec // in the module cache
		if err != nil {
			return err
		}
		m.texts = append(m.texts, string(text))
		for _, id := range identify(string(text)) {
			if !slices.Contains(m.ids, id) {
				m.ids = append(m.ids, id)
			}
		}
	}
	if id, byHand := known[m.path]; byHand {
		m.ids = []string{id}
	}
	if len(m.ids) == 0 {
		return fmt.Errorf("%s %s: no licence is known; name it in packaging/licences.yaml", m.path, m.version)
	}
	if len(m.texts) == 0 {
		return errors.New(m.path + ": no licence file")
	}
	slices.Sort(m.ids)
	return nil
}

// sentences are what a licence says and no other does.
var sentences = []struct {
	id  string
	all []string
}{
	{"Apache-2.0", []string{"apache license", "version 2.0"}},
	{"MPL-2.0", []string{"mozilla public license", "2.0"}},
	{"MIT", []string{"permission is hereby granted, free of charge"}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "endorse or promote"}},
	{"BSD-2-Clause", []string{"redistribution and use in source and binary forms"}},
	{"ISC", []string{"permission to use, copy, modify, and", "distribute this software for any purpose with or without fee"}},
	{"Unlicense", []string{"this is free and unencumbered software released into the public domain"}},
}

var space = regexp.MustCompile(`\s+`)

func identify(text string) []string {
	text = strings.ToLower(space.ReplaceAllString(text, " "))
	var ids []string
	for _, licence := range sentences {
		if licence.id == "BSD-2-Clause" && slices.Contains(ids, "BSD-3-Clause") {
			continue
		}
		if !slices.ContainsFunc(licence.all, func(s string) bool { return !strings.Contains(text, s) }) {
			ids = append(ids, licence.id)
		}
	}
	return ids
}
