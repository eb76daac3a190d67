package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	overrides := flag.String("licences", "packaging/licences.yaml", "licences that no text tells")
	sbom := flag.String("sbom", "", "an SBOM of the first binary in CycloneDX's JSON to complete in place")
	out := flag.String("notice", "dist/NOTICE", "the file to write")
	flag.Parse()
	if err := run(flag.Args(), *overrides, *sbom, *out); err != nil {
		fmt.Fprintln(os.Stderr, "notice:", err)
		os.Exit(1)
	}
}

func run(binaries []string, overrides, sbom, out string) error {
	if len(binaries) == 0 {
		return errors.New("name the binaries")
	}
	known, err := readOverrides(overrides)
	if err != nil {
		return err
	}
	modules, err := linked(binaries)
	if err != nil {
		return err
	}
	cache, root, err := goFolders()
	if err != nil {
		return err
	}
	var errs []error
	for i := range modules {
		errs = append(errs, modules[i].read(cache, known))
	}
	goLicence, err := os.ReadFile(root + "/LICENSE") //nolint:gosec // the toolchain's
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	modules = append(modules, module{path: "std", version: "the Go standard library", ids: []string{"BSD-3-Clause"}, texts: []string{string(goLicence)}})
	if err := os.WriteFile(out, []byte(notice(modules)), 0o644); err != nil { //nolint:gosec // everybody reads it
		return err
	}
	if sbom == "" {
		return nil
	}
	commands, err := builds(binaries[1:])
	if err != nil {
		return err
	}
	return complete(sbom, modules, commands)
}
