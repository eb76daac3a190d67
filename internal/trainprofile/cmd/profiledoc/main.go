// Command profiledoc writes the pages about frameworks, docs/frameworks, from the profiles and their fixtures. Its argument is
// the checkout's root.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pathologize/otelcol-train/internal/trainprofile/internal/profiledoc"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: profiledoc <root of the checkout>")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "profiledoc:", err)
		os.Exit(1)
	}
}

func write(root string) error {
	pages, err := profiledoc.Pages(filepath.Join(root, "internal", "trainprofile"))
	if err != nil {
		return err
	}
	dir := filepath.Join(root, "docs", "frameworks")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if _, wanted := pages[filepath.Base(path)]; !wanted {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	for name, page := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), page, 0o644); err != nil {
			return err
		}
	}
	return nil
}
