package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"strings"
)

// builds gives what is linked into each of the binaries.
func builds(binaries []string) ([]*debug.BuildInfo, error) {
	var out []*debug.BuildInfo
	for _, path := range binaries {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return nil, err
		}
		out = append(out, info)
	}
	return out, nil
}

// addCommands adds the binaries beside the one of an SBOM to it, each with what it depends on: modules that the other does not have, or has in
// another version, are new components. ids are the licences by a module's path.
func addCommands(doc map[string]any, commands []*debug.BuildInfo, ids map[string][]string) error {
	components, _ := doc["components"].([]any)
	dependencies, _ := doc["dependencies"].([]any)
	known := map[any]bool{}
	for _, c := range components {
		one, _ := c.(map[string]any)
		known[reference(one["name"], one["version"])] = true
	}
	metadata, _ := doc["metadata"].(map[string]any)
	first, _ := metadata["component"].(map[string]any)
	for _, info := range commands {
		command := component("application", info.Path, fmt.Sprint(first["version"]), info)
		command["licenses"] = licenses([]string{ownLicence})
		var refs []any
		for _, dep := range append([]*debug.Module{{Path: "std", Version: info.GoVersion}}, info.Deps...) {
			one, err := library(dep, info, ids)
			if err != nil {
				return err
			}
			refs = append(refs, one["bom-ref"])
			if !known[one["bom-ref"]] {
				known[one["bom-ref"]] = true
				components = append(components, one)
			}
		}
		components = append(components, command)
		dependencies = append(dependencies, map[string]any{"ref": command["bom-ref"], "dependsOn": refs})
		doc["components"], doc["dependencies"] = components, dependencies
	}
	return nil
}

// library is the component of a module; one that is replaced is what stands in its place, but the project's own keep their names.
func library(dep *debug.Module, info *debug.BuildInfo, ids map[string][]string) (map[string]any, error) {
	name, version, sum := dep.Path, dep.Version, dep.Sum
	ours := strings.HasPrefix(name, own)
	if r := dep.Replace; r != nil {
		version, sum = r.Version, r.Sum
		if !ours {
			name = r.Path
		}
	}
	of := ids[name]
	if ours {
		of = []string{ownLicence}
	}
	if of == nil {
		return nil, fmt.Errorf("%s: no licence of %s is known", info.Path, name)
	}
	one := component("library", name, version, info)
	one["scope"], one["licenses"] = "required", licenses(of)
	if digest, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:")); err == nil && len(digest) > 0 {
		one["hashes"] = []any{map[string]any{"alg": "SHA-256", "content": hex.EncodeToString(digest)}}
	}
	return one, nil
}

func component(kind, name, version string, info *debug.BuildInfo) map[string]any {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	return map[string]any{
		"bom-ref": reference(name, version), "type": kind, "name": name, "version": version,
		"purl": fmt.Sprintf("pkg:golang/%s@%s?goarch=%s&goos=%s&type=module", name, version, settings["GOARCH"], settings["GOOS"]),
	}
}

// reference is what cyclonedx-gomod calls a module.
func reference(name, version any) string {
	return fmt.Sprintf("pkg:golang/%v@%v?type=module", name, version)
}
