package trainprofile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Limits of a profile file.
const (
	maxProfileBytes = 1 << 20
	maxNesting      = 24
)

// reader fills Go values from YAML nodes and names the path of every mistake. Unlike the YAML library it refuses unknown
// and repeated keys with a path, and aliases at all: a profile is read by people.
type reader struct {
	errs  []error
	depth int
	lines map[string]int // of every path that was read
}

// selfReader is a type with a spelling of its own.
type selfReader interface {
	readNode(r *reader, n *yaml.Node, path string)
}

func (r *reader) fail(path, format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	if path != "" {
		msg = path + ": " + msg
	}
	r.errs = append(r.errs, errors.New(msg))
}

// readYAML fills a value from the single YAML document of a file; lineOf has the line of every path that was read.
func readYAML(data []byte, into reflect.Value) (lineOf map[string]int, errs []error) {
	if len(data) > maxProfileBytes {
		return nil, []error{fmt.Errorf("is larger than %d bytes", maxProfileBytes)}
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var root, second yaml.Node
	if err := dec.Decode(&root); errors.Is(err, io.EOF) {
		return nil, []error{errors.New("is empty")}
	} else if err != nil {
		return nil, []error{errors.New(strings.TrimPrefix(err.Error(), "yaml: "))}
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, []error{errors.New("holds more than one YAML document; write one profile a file")}
	}
	r := &reader{lines: map[string]int{}}
	r.read(root.Content[0], into, "")
	return r.lines, r.errs
}

func (r *reader) read(n *yaml.Node, v reflect.Value, path string) {
	r.lines[path] = n.Line
	if r.depth++; r.depth > maxNesting {
		r.fail(path, "is nested deeper than %d levels", maxNesting)
		r.depth--
		return
	}
	defer func() { r.depth-- }()
	if n.Kind == yaml.AliasNode {
		r.fail(path, "aliases are not supported, write the value out (line %d)", n.Line)
		return
	}
	if self, ok := v.Addr().Interface().(selfReader); ok {
		self.readNode(r, n, path)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.read(n, v.Elem(), path)
	case reflect.Struct:
		r.readStruct(n, v, path)
	case reflect.Slice:
		r.readSlice(n, v, path)
	case reflect.Map:
		r.readMap(n, v, path)
	default:
		r.readScalar(n, v, path)
	}
}

func (r *reader) readStruct(n *yaml.Node, v reflect.Value, path string) {
	keys, fieldsOf := structKeys(v.Type())
	seen := map[string]bool{}
	r.eachKey(n, path, func(key string, value *yaml.Node, at string) {
		i, ok := fieldsOf[key]
		if !ok {
			r.fail(at, "unknown key (line %d); known are %s", value.Line, strings.Join(keys, ", "))
			return
		}
		seen[key] = true
		r.read(value, v.Field(i), at)
	})
	if n.Kind != yaml.MappingNode {
		return
	}
	for _, key := range keys {
		if v.Type().Field(fieldsOf[key]).Tag.Get("required") == "true" && !seen[key] {
			r.fail(join(path, key), "is required")
		}
	}
}

// structKeys gives the YAML keys of a struct in order and the index of the field of each.
func structKeys(t reflect.Type) ([]string, map[string]int) {
	var keys []string
	index := map[string]int{}
	for i := range t.NumField() {
		if key := t.Field(i).Tag.Get("yaml"); key != "" {
			keys = append(keys, key)
			index[key] = i
		}
	}
	return keys, index
}

// eachKey walks a mapping; it reports anything else, keys that are no text and keys that are repeated.
func (r *reader) eachKey(n *yaml.Node, path string, f func(key string, value *yaml.Node, at string)) {
	if n.Kind != yaml.MappingNode {
		r.fail(path, "want a mapping (line %d)", n.Line)
		return
	}
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode || k.Tag == "!!merge" {
			r.fail(path, "want plain text as key (line %d)", k.Line)
			continue
		}
		at := join(path, k.Value)
		if seen[k.Value] {
			r.fail(at, "is given twice (line %d)", k.Line)
			continue
		}
		seen[k.Value] = true
		f(k.Value, n.Content[i+1], at)
	}
}

func (r *reader) readSlice(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" && oneAllowed(v.Type().Elem()) {
		v.Set(reflect.MakeSlice(v.Type(), 1, 1)) // one key or pattern need not be a list
		r.read(n, v.Index(0), path)
		return
	}
	if n.Kind != yaml.SequenceNode {
		r.fail(path, "want a list (line %d)", n.Line)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, c := range n.Content {
		r.read(c, v.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
}

func oneAllowed(t reflect.Type) bool {
	return slices.Contains([]reflect.Type{reflect.TypeFor[ref](), reflect.TypeFor[pattern]()}, t)
}

func (r *reader) readMap(n *yaml.Node, v reflect.Value, path string) {
	v.Set(reflect.MakeMap(v.Type()))
	r.eachKey(n, path, func(key string, value *yaml.Node, at string) {
		elem := reflect.New(v.Type().Elem()).Elem()
		r.read(value, elem, at)
		v.SetMapIndex(reflect.ValueOf(key), elem)
	})
}

func (r *reader) readScalar(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.ScalarNode {
		r.fail(path, "want a single value (line %d)", n.Line)
		return
	}
	switch v.Kind() {
	case reflect.String:
		if n.Tag == "!!null" {
			r.fail(path, "want text (line %d)", n.Line)
			return
		}
		v.SetString(n.Value)
	case reflect.Bool:
		if n.Tag != "!!bool" {
			r.fail(path, "want true or false, got %q (line %d)", n.Value, n.Line)
			return
		}
		v.SetBool(strings.EqualFold(n.Value, "true"))
	case reflect.Int:
		i, err := strconv.Atoi(n.Value)
		if err != nil {
			r.fail(path, "want an integer, got %q (line %d)", n.Value, n.Line)
			return
		}
		v.SetInt(int64(i))
	case reflect.Interface:
		if c, ok := constant(n); ok {
			v.Set(reflect.ValueOf(c))
			return
		}
		r.fail(path, "want text, a number, true or false (line %d)", n.Line)
	default:
		r.fail(path, "cannot hold a value of kind %s", v.Kind())
	}
}

// constant reads a scalar as string, int64, float64 or bool.
func constant(n *yaml.Node) (any, bool) {
	switch n.Tag {
	case "!!str":
		return n.Value, true
	case "!!int":
		i, err := strconv.ParseInt(n.Value, 0, 64)
		return i, err == nil
	case "!!float":
		f, err := strconv.ParseFloat(n.Value, 64)
		return f, err == nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true"), true
	default:
		return nil, false
	}
}

func (f *fields) readNode(r *reader, n *yaml.Node, path string) {
	r.eachKey(n, path, func(key string, value *yaml.Node, at string) {
		var s sourceDoc
		r.read(value, reflect.ValueOf(&s).Elem(), at)
		*f = append(*f, field{Target: key, Source: s})
	})
}

func (s *sourceDoc) readNode(r *reader, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		s.From = ref{{key: n.Value}}
		return
	}
	if n.Kind == yaml.SequenceNode {
		s.From.readNode(r, n, path)
		return
	}
	r.readStruct(n, reflect.ValueOf(s).Elem(), path)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
