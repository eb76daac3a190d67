// Package testdata holds the sample streams: composed data, one file a framework, as its trainer writes it.
package testdata

import (
	"embed"
	"strings"
)

//go:embed streams/*.jsonl
var streams embed.FS

// Stream gives the lines of a sample stream, without their newlines.
func Stream(name string) ([]string, error) {
	b, err := streams.ReadFile("streams/" + name + ".jsonl")
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n"), nil
}
