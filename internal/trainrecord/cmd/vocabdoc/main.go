// Command vocabdoc writes the files that are generated from the registry into a checkout: the JSON Schema of a line and
// docs/records.md. Its argument is the checkout's root.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrecord/internal/vocabdoc"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: vocabdoc <root of the checkout>")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "vocabdoc:", err)
		os.Exit(1)
	}
}

func write(root string) error {
	schema, err := vocabdoc.Schema(trainrecord.Load())
	if err != nil {
		return err
	}
	files := map[string][]byte{
		filepath.Join(root, "internal", "trainrecord", "record.schema.json"): schema,
		filepath.Join(root, "docs", "records.md"):                            vocabdoc.Page(trainrecord.Load()),
		filepath.Join(root, "docs", "metrics.md"):                            vocabdoc.MetricsPage(trainrecord.Load()),
	}
	for path, content := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
