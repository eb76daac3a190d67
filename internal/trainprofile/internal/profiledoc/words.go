package profiledoc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"
)

// wordList is a list of words as its file has it.
type wordList struct {
	name string
	node *yaml.Node
}

// readWords reads the lists of words that profiles name.
func readWords(dir string) (lists []wordList, err error) {
	data, err := os.ReadFile(filepath.Join(dir, "words.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, fmt.Errorf("words.yaml: %w", err)
	}
	top := root.Content[0]
	for i := 0; i+1 < len(top.Content); i += 2 {
		lists = append(lists, wordList{name: top.Content[i].Value, node: top.Content[i+1]})
	}
	return lists, nil
}

// wordsPart shows the lists that sources of the profile name.
func (p *profile) wordsPart(b *bytes.Buffer) {
	var named []string
	for i := range p.Rules {
		named = append(named, namedIn(&p.Rules[i].Header)...)
		named = append(named, namedIn(&p.Rules[i].Set)...)
	}
	for _, n := range []*yaml.Node{&p.Header, &p.Common.Set, &p.Attributes, &p.Unwrap} {
		named = append(named, namedIn(n)...)
	}
	for _, list := range p.words {
		if slices.Contains(named, list.name) {
			fmt.Fprintf(b, "\nThe list of words `%s`; the first clause that finds one of its words counts:\n\n%s", list.name, p.block(list.node, ""))
		}
	}
}

// namedIn gives the lists of words that sources in a part of a profile name.
func namedIn(n *yaml.Node) (names []string) {
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "words" && c.Kind == yaml.ScalarNode {
			names = append(names, c.Value)
		}
		names = append(names, namedIn(c)...)
	}
	return names
}
