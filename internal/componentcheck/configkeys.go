package componentcheck

import (
	"encoding"
	"reflect"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
)

// configKey is one key that an operator can write.
type configKey struct {
	path  string
	value reflect.Value
	// group marks a struct: its keys need rows, it may have one.
	group bool
	// foreign marks a struct of another repository: one row stands for all its keys.
	foreign bool
	// unknown marks a key below an absent optional part or a list: it has no default.
	unknown bool
}

// maxDepth ends the walk of a recursive configuration type.
const maxDepth = 8

// configKeys lists the keys of a configuration with their defaults, parents before children.
func configKeys(cfg component.Config) []configKey {
	v := reflect.Indirect(reflect.ValueOf(cfg))
	w := keyWalker{root: repository(v.Type().PkgPath())}
	w.fields("", v, false, 0)
	return w.keys
}

type keyWalker struct {
	root string
	keys []configKey
}

func (w *keyWalker) fields(prefix string, v reflect.Value, unknown bool, depth int) {
	if depth > maxDepth || v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		name, flags, _ := strings.Cut(field.Tag.Get("mapstructure"), ",")
		switch {
		case name == "-":
		case strings.Contains(flags, "squash"):
			w.fields(prefix, reflect.Indirect(v.Field(i)), unknown, depth+1)
		case strings.Contains(flags, "remain"):
		default:
			if name == "" {
				name = strings.ToLower(field.Name)
			}
			w.key(prefix+name, v.Field(i), unknown, depth)
		}
	}
}

// key records one key and steps into what it holds.
func (w *keyWalker) key(path string, v reflect.Value, unknown bool, depth int) {
	t := v.Type()
	switch {
	case isScalar(t):
		w.keys = append(w.keys, configKey{path: path, value: v, unknown: unknown})
	case isOptional(t):
		inner, has := optionalValue(v)
		w.keys = append(w.keys, configKey{path: path, value: v, group: true, foreign: w.isForeign(inner.Type())})
		w.fields(path+".", inner, unknown || !has, depth+1)
	case t.Kind() == reflect.Pointer:
		w.pointer(path, v, unknown, depth)
	case t.Kind() == reflect.Struct:
		w.keys = append(w.keys, configKey{path: path, value: v, group: true, foreign: w.isForeign(t)})
		w.fields(path+".", v, unknown, depth+1)
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		w.keys = append(w.keys, configKey{path: path, value: v, unknown: unknown, foreign: w.isForeign(elem(t))})
		w.element(path+"[].", elem(t), depth)
	case t.Kind() == reflect.Map:
		w.keys = append(w.keys, configKey{path: path, value: v, unknown: unknown, foreign: w.isForeign(elem(t))})
		w.element(path+".<name>.", elem(t), depth)
	default:
		w.keys = append(w.keys, configKey{path: path, value: v, unknown: unknown})
	}
}

func (w *keyWalker) pointer(path string, v reflect.Value, unknown bool, depth int) {
	if depth > maxDepth {
		return
	}
	if v.Type().Elem().Kind() == reflect.Struct && !isScalar(v.Type().Elem()) && v.IsNil() {
		w.keys = append(w.keys, configKey{path: path, value: v, group: true, foreign: w.isForeign(v.Type().Elem())})
		w.fields(path+".", reflect.Zero(v.Type().Elem()), true, depth+1)
		return
	}
	if v.IsNil() {
		w.keys = append(w.keys, configKey{path: path, value: v, unknown: unknown})
		return
	}
	w.key(path, v.Elem(), unknown, depth+1)
}

func (w *keyWalker) element(prefix string, t reflect.Type, depth int) {
	if t.Kind() == reflect.Struct && !isScalar(t) {
		w.fields(prefix, reflect.Zero(t), true, depth+1)
	}
}

func (w *keyWalker) isForeign(t reflect.Type) bool {
	return t.PkgPath() != "" && repository(t.PkgPath()) != w.root
}

func elem(t reflect.Type) reflect.Type {
	if e := t.Elem(); e.Kind() != reflect.Pointer {
		return e
	}
	return t.Elem().Elem()
}

// repository is the part of an import path that names a repository: host, owner, name.
func repository(pkg string) string {
	parts := strings.SplitN(pkg, "/", 4)
	return strings.Join(parts[:min(len(parts), 3)], "/")
}

var textType = reflect.TypeFor[encoding.TextMarshaler]()

// isScalar says whether YAML writes the type as one word.
func isScalar(t reflect.Type) bool {
	if t == reflect.TypeFor[time.Duration]() || t.Implements(textType) || reflect.PointerTo(t).Implements(textType) {
		return true
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Array, reflect.Map, reflect.Pointer, reflect.Interface:
		return false
	default:
		return true
	}
}

func isOptional(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.PkgPath() == "go.opentelemetry.io/collector/config/configoptional"
}

// optionalValue returns what a configoptional.Optional holds, or the zero value of what it could hold.
func optionalValue(v reflect.Value) (inner reflect.Value, has bool) {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	got := p.MethodByName("Get").Call(nil)[0]
	if got.IsNil() {
		return reflect.Zero(got.Type().Elem()), false
	}
	return got.Elem(), true
}
