package policy

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// worded is a type whose values an operator writes as words, numbered from 1.
type worded interface{ Words() []string }

// decoder reads a document strictly: every key and type must be right.
type decoder struct {
	problems
	depth, nodes int
}

const (
	maxDepth = 16
	maxNodes = 200_000 // anchors included: a small file cannot become a large policy
)

// document reads the one document of a text.
func (d *decoder) document(text []byte) *Document {
	var root yaml.Node
	doc := &Document{}
	dec := yaml.NewDecoder(strings.NewReader(string(text)))
	switch err := dec.Decode(&root); {
	case errors.Is(err, io.EOF), err == nil && isNull(root.Content[0]):
		d.add("", "empty: want a policy")
		return doc
	case err != nil:
		d.add("", "%s", strings.TrimPrefix(err.Error(), "yaml: "))
		return doc
	}
	if err := dec.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) { // another one, or what is none
		d.add("", "want one document")
	}
	d.read(root.Content[0], doc)
	return doc
}

func (d *decoder) read(n *yaml.Node, doc *Document) {
	d.node("", n, reflect.ValueOf(doc).Elem(), false)
}

// node reads one node into a value. Where one is true, a mapping may stand for a list of one.
func (d *decoder) node(path string, n *yaml.Node, v reflect.Value, one bool) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	d.nodes++
	if d.depth++; d.depth > maxDepth || d.nodes > maxNodes {
		if d.depth > maxDepth || d.nodes == maxNodes+1 {
			d.add(path, "nested too deeply, or too much of it")
		}
	} else if w, ok := v.Interface().(worded); ok {
		d.word(path, n, v, w.Words())
	} else {
		d.value(path, n, v, one)
	}
	d.depth--
}

func (d *decoder) value(path string, n *yaml.Node, v reflect.Value, one bool) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.node(path, n, v.Elem(), one)
	case reflect.Struct:
		d.fields(path, n, v)
	case reflect.Map:
		d.entries(path, n, v, one)
	case reflect.Slice:
		d.items(path, n, v, one)
	default:
		d.scalar(path, n, v)
	}
}

func (d *decoder) fields(path string, n *yaml.Node, v reflect.Value) {
	known := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); !f.Anonymous {
			known[name] = f
		}
	}
	d.each(path, n, func(at, key string, value *yaml.Node) {
		f, ok := known[key]
		if !ok {
			names := make([]string, 0, len(known))
			for name := range known {
				names = append(names, name)
			}
			slices.Sort(names)
			d.add(at, "unknown key, want one of %s", strings.Join(names, ", "))
			return
		}
		if isNull(value) {
			return // as if absent
		}
		d.node(at, value, v.FieldByIndex(f.Index), strings.HasSuffix(f.Tag.Get("yaml"), ",one"))
	})
}

func (d *decoder) entries(path string, n *yaml.Node, v reflect.Value, one bool) {
	v.Set(reflect.MakeMap(v.Type()))
	d.each(path, n, func(at, key string, value *yaml.Node) {
		item := reflect.New(v.Type().Elem()).Elem()
		d.node(at, value, item, one)
		v.SetMapIndex(reflect.ValueOf(key), item)
	})
}

// each visits the keys of a mapping.
func (d *decoder) each(path string, n *yaml.Node, visit func(at, key string, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.add(path, "want a mapping, got %s", kindOf(n))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		at := strings.TrimPrefix(path+"."+k.Value, ".")
		d.note(at, n.Content[i].Line)
		switch {
		case k.Kind != yaml.ScalarNode:
			d.add(at, "want a word as key")
		case seen[k.Value]:
			if !d.full() {
				d.list = append(d.list, problem{n.Content[i].Line, at, "the key is there twice"})
			}
		default:
			seen[k.Value] = true
			visit(at, k.Value, n.Content[i+1])
		}
	}
}

func (d *decoder) note(path string, line int) {
	if d.lines == nil {
		d.lines = map[string]int{}
	}
	if d.lines[path] == 0 {
		d.lines[path] = line
	}
}

func (d *decoder) items(path string, n *yaml.Node, v reflect.Value, one bool) {
	single := one && n.Kind == yaml.MappingNode || v.Type() == reflect.TypeFor[Globs]() && n.Kind == yaml.ScalarNode
	nodes := n.Content
	switch {
	case single:
		nodes = []*yaml.Node{n}
	case n.Kind != yaml.SequenceNode:
		d.add(path, "want a list, got %s", kindOf(n))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(nodes), len(nodes)))
	for i, item := range nodes {
		at := path
		if !single {
			at = fmt.Sprintf("%s[%d]", path, i)
			d.note(at, item.Line)
		}
		d.node(at, item, v.Index(i), false)
	}
}

func (d *decoder) word(path string, n *yaml.Node, v reflect.Value, words []string) {
	text := n.Value
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool" && slices.Contains(words, "off") && (text == "off" || text == "false") {
		text = "off"
	}
	at := slices.Index(words, text)
	if n.Kind != yaml.ScalarNode || at < 0 {
		d.add(path, "want one of %s, got %s", strings.Join(words, ", "), kindOf(n))
		return
	}
	v.SetUint(uint64(at + 1))
}

func (d *decoder) scalar(path string, n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.ScalarNode {
		d.add(path, "want a single value, got %s", kindOf(n))
		return
	}
	switch {
	case v.Type() == reflect.TypeFor[Text]():
		if isNull(n) {
			d.add(path, "want a value, got nothing")
			return
		}
		v.SetString(n.Value)
	case v.Kind() == reflect.String:
		if n.ShortTag() != "!!str" {
			d.add(path, "want text, got %s; put it in quotes", kindOf(n))
			return
		}
		v.SetString(n.Value)
	case v.Kind() == reflect.Bool:
		if b, err := strconv.ParseBool(n.Value); err == nil && n.ShortTag() == "!!bool" {
			v.SetBool(b)
			return
		}
		d.add(path, "want true or false, got %s", kindOf(n))
	case v.Kind() == reflect.Int:
		i, err := strconv.Atoi(n.Value)
		if err != nil || n.ShortTag() != "!!int" {
			d.add(path, "want a whole number, got %s", kindOf(n))
			return
		}
		v.SetInt(int64(i))
	case v.Kind() == reflect.Float64:
		f, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || (n.ShortTag() != "!!int" && n.ShortTag() != "!!float") {
			d.add(path, "want a number, got %s", kindOf(n))
			return
		}
		v.SetFloat(f)
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// kindOf says what a node is, for an error; of a text, its beginning.
func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "nothing"
	}
	return strconv.Quote(n.Value[:min(len(n.Value), 40)])
}
