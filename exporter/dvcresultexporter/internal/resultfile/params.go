package resultfile

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

const (
	maxParamsSize = 256 << 10
	maxParamText  = 1 << 10
	maxParamKey   = 1000 // a longer key is no simple key in YAML
)

// Params are the parameters of a run, nothing for one without any.
type Params struct {
	File    []byte            // params.yaml
	Digest  string            // of the whole parameters
	Renamed map[string]string // told names by those in the file, where they differ
}

func paramsOf(params trainrun.Tree, cut *cuts) Params {
	m, ok := params.(object)
	if !ok || len(m) == 0 {
		return Params{}
	}
	m, renamed := plainParams(m)
	sum := sha256.Sum256(encodeYAML(m))
	p := pruner{left: maxParamsSize, cut: cut}
	kept, _ := p.prune(m, "", 0).(object)
	out := Params{Digest: "sha256:" + hex.EncodeToString(sum[:]), Renamed: renamed}
	if len(kept) > 0 {
		out.File = encodeYAML(kept)
	}
	return out
}

// pruner copies parameters in the order in which they are written, until the file is full; nothing is added after the
// first value that had no room.
type pruner struct {
	left int
	full bool
	cut  *cuts
}

// gone stands for a value that had no room.
type gone struct{}

func (p *pruner) prune(v any, path string, depth int) any {
	switch v := v.(type) {
	case object:
		if len(v) == 0 {
			break
		}
		out := object{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			p.member(out, key, v[key], path, depth)
		}
		if len(out) > 0 {
			return out
		}
		return gone{}
	case []any:
		if len(v) == 0 {
			break
		}
		out := make([]any, 0, len(v))
		for i, e := range v {
			if e = p.prune(e, path+"["+strconv.Itoa(i)+"]", depth+1); e != (gone{}) {
				out = append(out, e)
			}
		}
		if len(out) > 0 {
			return out
		}
		return gone{}
	case string:
		if len(v) > maxParamText && !p.full {
			p.cut.add("param_texts", path)
			return p.leaf(cutText(v, maxParamText), path, depth)
		}
	}
	return p.leaf(v, path, depth)
}

func (p *pruner) member(out object, key string, v any, path string, depth int) {
	if path != "" {
		path += "."
	}
	path += key
	quoted := len(appendYAMLKey(nil, key))
	if quoted > maxParamKey {
		p.cut.add("params", path)
		return
	}
	p.left -= quoted
	switch v.(type) {
	case object, []any: // what is in it begins a line of its own
		p.left -= 2*depth + 2
	}
	if v = p.prune(v, path, depth+1); v != (gone{}) {
		out[key] = v
	}
}

// leaf takes a value's line from what is left: indent, hyphens, text.
func (p *pruner) leaf(v any, path string, depth int) any {
	size := len(appendYAMLScalar(nil, v)) + 2*depth + 4
	if p.full || size > p.left {
		p.full = true
		p.cut.add("params", path)
		return gone{}
	}
	p.left -= size
	return v
}
