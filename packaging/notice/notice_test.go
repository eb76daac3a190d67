package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

func TestLicencesAreToldByTheirText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Apache License\n   Version 2.0, January 2004":                                                                        {"Apache-2.0"},
		"Mozilla Public License Version 2.0":                                                                                  {"MPL-2.0"},
		"Permission is hereby granted,\nfree of charge, to any person":                                                        {"MIT"},
		"Redistribution and use in source and binary\nforms ... Neither the name ... used to endorse or promote products":     {"BSD-3-Clause"},
		"Redistribution and use in source and binary forms, with or without modification":                                     {"BSD-2-Clause"},
		"Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is granted":     {"ISC"},
		"Apache License, Version 2.0 for these files; for those: Permission is hereby granted, free of charge, to any person": {"Apache-2.0", "MIT"},
		"You may look at it": nil,
	} {
		if got := identify(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func moduleFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	cache := t.TempDir()
	dir := filepath.Join(cache, "example.com", "!upper@v1.0.0")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cache
}

func TestAModuleWithoutAKnownLicenceIsRefused(t *testing.T) {
	t.Parallel()
	m := module{path: "example.com/Upper", version: "v1.0.0", from: "example.com/Upper", fromVersion: "v1.0.0"}
	cache := moduleFiles(t, map[string]string{"LICENSE.txt": "You may look at it", "license.go": "Permission is hereby granted, free of charge"})
	unknown := m
	if err := unknown.read(cache, nil); err == nil || !strings.Contains(err.Error(), "packaging/licences.yaml") {
		t.Errorf("got %v", err)
	}
	named := m
	if err := named.read(cache, map[string]string{"example.com/Upper": "LicenseRef-Look"}); err != nil || !slices.Equal(named.ids, []string{"LicenseRef-Look"}) {
		t.Errorf("got %v %v", named.ids, err)
	}
	without := m
	if err := without.read(moduleFiles(t, nil), map[string]string{"example.com/Upper": "MIT"}); err == nil {
		t.Error("a module without any text of a licence goes through")
	}
}

func TestEveryTextIsInTheNoticeOnceWithItsModules(t *testing.T) {
	t.Parallel()
	got := notice([]module{
		{path: "a", version: "v1", ids: []string{"MIT"}, texts: []string{"the text\r\n"}},
		{path: "b", version: "v2", ids: []string{"MIT"}, texts: []string{"the text\n", "its notice"}},
	})
	if strings.Count(got, "the text") != 1 || !strings.Contains(got, rule+"a\nb\n"+rule+"the text\n") && !strings.Contains(got, "\na\nb\n"+rule+"the text\n") {
		t.Error(got)
	}
	for _, want := range []string{"a v1  MIT\n", "b v2  MIT\n", "b\n" + rule + "its notice\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestTheSbomSaysTheSameAsTheNoticeAndNoTime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sbom.json")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"metadata": {"timestamp": "2026-11-29T00:00:00Z"}, "components": [
		{"name": "../../processor/x", "bom-ref": "pkg:golang/../../processor/x@(devel)"}, {"name": "a"}, {"name": "b"}]}`)
	modules := []module{{path: "a", from: "fork", ids: []string{"MIT"}}, {path: "b", from: "b", ids: []string{"Apache-2.0", "MIT"}}}
	if err := complete(path, modules, nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path) //nolint:gosec // the test's own
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	compact, _ := json.Marshal(got)
	want := `{"components":[{"bom-ref":"pkg:golang/github.com/pathologize/otelcol-train/processor/x@(devel)",` +
		`"licenses":[{"license":{"id":"Apache-2.0"}}],"name":"github.com/pathologize/otelcol-train/processor/x"},` +
		`{"licenses":[{"license":{"id":"MIT"}}],"name":"a"},{"licenses":[{"expression":"Apache-2.0 AND MIT"}],"name":"b"}],"metadata":{}}`
	if string(compact) != want {
		t.Errorf("got %s", compact)
	}
	write(`{"components": [{"name": "c"}]}`)
	if err := complete(path, modules, nil); err == nil {
		t.Error("a component that is in no binary goes through")
	}
}

func TestTheSbomHasTheCommandsBesideItsBinary(t *testing.T) {
	t.Parallel()
	doc := map[string]any{
		"metadata":     map[string]any{"component": map[string]any{"version": "1.2.3"}},
		"components":   []any{map[string]any{"name": "a", "version": "v1"}},
		"dependencies": []any{},
	}
	command := &debug.BuildInfo{
		GoVersion: "go1", Path: own + "/cmd/x", Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "amd64"}},
		Deps: []*debug.Module{
			{Path: "a", Version: "v1"}, {Path: "b", Version: "v1", Replace: &debug.Module{Path: "fork", Version: "v2", Sum: "h1:AAEC"}},
			{Path: own + "/internal/y", Version: "v0.0.0", Replace: &debug.Module{Path: "../../internal/y", Version: "(devel)"}},
		},
	}
	ids := map[string][]string{"std": {"BSD-3-Clause"}, "a": {"MIT"}, "fork": {"MIT"}}
	if err := addCommands(doc, []*debug.BuildInfo{command}, ids); err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(doc)
	for _, want := range []string{
		`{"bom-ref":"pkg:golang/fork@v2?type=module","hashes":[{"alg":"SHA-256","content":"000102"}],"licenses":[{"license":{"id":"MIT"}}],"name":"fork",`,
		`"name":"github.com/pathologize/otelcol-train/cmd/x","purl":"pkg:golang/github.com/pathologize/otelcol-train/cmd/x@1.2.3?goarch=amd64\u0026goos=linux\u0026type=module","type":"application","version":"1.2.3"`,
		`"dependencies":[{"dependsOn":["pkg:golang/std@go1?type=module","pkg:golang/a@v1?type=module","pkg:golang/fork@v2?type=module",` +
			`"pkg:golang/github.com/pathologize/otelcol-train/internal/y@(devel)?type=module"],"ref":"pkg:golang/github.com/pathologize/otelcol-train/cmd/x@1.2.3?type=module"}]`,
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	if strings.Count(string(got), `"name":"a"`) != 1 {
		t.Error("a module of both binaries stands there twice")
	}
	delete(ids, "fork")
	if err := addCommands(doc, []*debug.BuildInfo{command}, ids); err == nil {
		t.Error("a module without a licence goes through")
	}
}
