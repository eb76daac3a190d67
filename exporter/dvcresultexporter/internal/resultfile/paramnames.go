package resultfile

import (
	"maps"
	"slices"
	"strings"
)

// param is one parameter: a value that is no mapping, or an empty one.
type param struct {
	parent object
	path   []string // as it is written
	told   []string // as it was told
	nested bool     // a mapping without anything in it, which has no name for DVC
}

// name is the parameter's name for DVC, which joins nested keys by points.
func (p *param) name() string { return strings.Join(p.path, ".") }

// rank is the smaller, the rather the parameter keeps its name: what was told under it goes before what was not, then what has no point in a key.
func (p *param) rank() (n int) {
	if !slices.Equal(p.path, p.told) {
		n += 2
	}
	if slices.ContainsFunc(p.path, func(key string) bool { return strings.Contains(key, ".") }) {
		n++
	}
	return n
}

// plainParams copies parameters to keys that DVC can show, and gives the told name of each that is written under another one.
// DVC refuses a whole table for two parameters of one name (optim.lr, and lr in optim): the one of the lowest rank keeps it, then the first in
// the order of the keys; the others get digits of a hash.
func plainParams(m object) (object, map[string]string) {
	var list []*param
	out := copyParams(&list, m, nil, nil)
	taken := map[string]bool{}
	for _, p := range list {
		if !p.nested {
			taken[p.name()] = true
		}
	}
	slices.SortStableFunc(list, func(a, b *param) int { return a.rank() - b.rank() })
	given, renamed := map[string]bool{}, map[string]string{}
	for _, p := range list {
		if p.nested {
			continue
		}
		if given[p.name()] {
			p.rename(taken)
		}
		given[p.name()] = true
		if !slices.Equal(p.path, p.told) {
			renamed[p.name()] = cutText(strings.Join(p.told, "."), maxText)
		}
	}
	return out, renamed
}

// copyParams copies a mapping in the order of its keys, and lists what is in it.
func copyParams(list *[]*param, m object, path, told []string) object {
	out := make(object, len(m))
	keys := plainKeys(m)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		p := &param{parent: out, path: append(slices.Clip(path), keys[key]), told: append(slices.Clip(told), key)}
		below, ok := m[key].(object)
		if ok && len(below) > 0 {
			out[keys[key]] = copyParams(list, below, p.path, p.told)
			continue
		}
		p.nested = ok
		out[keys[key]] = m[key]
		*list = append(*list, p)
	}
	return out
}

// plainKeys gives the keys of a mapping without "[/", which the table of dvc exp show takes for markup that was never begun.
func plainKeys(m object) map[string]string {
	out := make(map[string]string, len(m))
	taken := map[string]bool{}
	for key := range m {
		if !strings.Contains(key, "[/") {
			out[key], taken[key] = key, true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if taken[key] {
			continue
		}
		plain := strings.ReplaceAll(key, "[/", "[_")
		if taken[plain] {
			plain = suffixed(plain, key, func(k string) bool { return taken[k] })
		}
		out[key], taken[plain] = plain, true
	}
	return out
}

// rename gives the parameter a key with which it is alone.
func (p *param) rename(taken map[string]bool) {
	last := len(p.path) - 1
	key, prefix := p.path[last], strings.TrimSuffix(p.name(), p.path[last])
	p.path[last] = suffixed(key, strings.Join(p.told, "\x00"), func(k string) bool {
		_, ok := p.parent[k]
		return ok || taken[prefix+k]
	})
	p.parent[p.path[last]] = p.parent[key]
	delete(p.parent, key)
	taken[p.name()] = true
}
