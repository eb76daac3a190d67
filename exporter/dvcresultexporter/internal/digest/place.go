package digest

import (
	"path"
	"strings"
)

// Mapping says where the paths of a container are on this host.
type Mapping struct{ From, To string }

// place is a name below an allowed root.
type place struct{ root, name string }

// places lists where a reported path may be, none when it is outside of all roots. A relative one is below a root, or below the run's
// folder in a root.
func (o *Options) places(run, reported string) []place {
	p := strings.TrimPrefix(reported, "file://")
	if p == "" || strings.Contains(p, "://") || strings.ContainsRune(p, 0) {
		return nil
	}
	p = o.mapped(path.Clean(p))
	var out []place
	if path.IsAbs(p) {
		for _, root := range o.Roots {
			if name, ok := below(path.Clean(root), p); ok {
				out = append(out, place{root, name})
			}
		}
		return out
	}
	if p == ".." || strings.HasPrefix(p, "../") {
		return nil
	}
	for _, root := range o.Roots {
		out = append(out, place{root, p})
		if run != "." && run != ".." && !strings.Contains(run, "/") {
			out = append(out, place{root, path.Join(run, p)})
		}
	}
	return out
}

// mapped applies the mapping with the longest beginning.
func (o *Options) mapped(p string) string {
	best := -1
	var to string
	for _, m := range o.Map {
		from := path.Clean(m.From)
		if name, ok := below(from, p); ok && len(from) > best {
			best, to = len(from), path.Join(m.To, name)
		}
	}
	if best < 0 {
		return p
	}
	return to
}

// below gives the name of a path below a folder, "." for the folder itself.
func below(folder, p string) (string, bool) {
	if p == folder {
		return ".", true
	}
	if folder != "/" {
		folder += "/"
	}
	name, ok := strings.CutPrefix(p, folder)
	return name, ok
}
