// Package markdown reads the repository's pages for tests.
package markdown

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pathologize/otelcol-train/test/internal/collector"
)

var fence = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```\n")

// Page is the text of a page, by its path in the repository.
func Page(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(collector.Root(t), filepath.FromSlash(path)))
	if err != nil {
		t.Fatalf("read a page: %v", err)
	}
	return string(text)
}

// Section is what stands in a text under a heading of the second level.
func Section(t testing.TB, text, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n## "+heading+"\n")
	if !found {
		t.Fatalf("no section %q", heading)
	}
	section, _, _ := strings.Cut(rest, "\n## ")
	return section
}

// Blocks are the code blocks of a text in a language.
func Blocks(text, language string) []string {
	var out []string
	for _, found := range fence.FindAllStringSubmatch(text, -1) {
		if found[1] == language {
			out = append(out, found[2])
		}
	}
	return out
}

// Prose is a text without its code blocks.
func Prose(text string) string { return fence.ReplaceAllString(text, "") }
