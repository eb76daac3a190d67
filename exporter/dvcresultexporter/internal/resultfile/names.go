package resultfile

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxSegment  = 100 // bytes of one path segment of a metric's name
	maxSegments = 16  // deeper names keep their rest in the last segment
	stepKey     = "step"
)

// namer finds a place for every metric name: a path in metrics.json that is also the path of its plot file.
type namer struct {
	nodes map[string]bool // paths that have something below them
	taken map[string]bool // case-folded paths that are given away
	paths map[string]string
}

// MetricPaths gives each name the slash-separated path at which metrics.json and plots/metrics hold it. It depends on
// the set of names only.
func MetricPaths(names []string) map[string]string {
	n := &namer{nodes: map[string]bool{}, taken: map[string]bool{}, paths: map[string]string{}}
	base := map[string]string{}
	for _, name := range names {
		base[name] = cleanName(name)
	}
	for _, path := range base {
		for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
			n.nodes[path[:i]] = true
		}
	}
	for name, path := range base {
		for n.nodes[path] { // a value cannot have values below it
			path += "/value"
		}
		base[name] = path
	}
	var later []string
	for _, name := range byChange(base) {
		path := base[name]
		if n.taken[fold(path)] {
			later = append(later, name)
			continue
		}
		n.give(name, path)
	}
	for _, name := range later {
		n.giveSuffixed(name, base[name])
	}
	return n.paths
}

// byChange orders names that needed no change first, then by bytes.
func byChange(base map[string]string) []string {
	order := slices.Sorted(maps.Keys(base))
	slices.SortStableFunc(order, func(a, b string) int {
		return changed(a, base[a]) - changed(b, base[b])
	})
	return order
}

func changed(name, path string) int {
	if name == path {
		return 0
	}
	return 1
}

func (n *namer) give(name, path string) {
	n.paths[name] = path
	n.taken[fold(path)] = true
}

func (n *namer) giveSuffixed(name, path string) {
	n.give(name, suffixed(path, name, func(p string) bool { return n.taken[fold(p)] || n.nodes[p] }))
}

// suffixed adds as many digits of the hash of what was told as it takes to be alone.
func suffixed(name, told string, taken func(string) bool) string {
	for _, digits := range []int{8, 16, 32} {
		if s := name + "-" + hash(told, digits); !taken(s) {
			return s
		}
	}
	return name + "-" + hash(told, 64)
}

// cleanName makes a name a path whose segments are plain file names.
func cleanName(name string) string {
	segments := strings.SplitN(name, "/", maxSegments)
	if last := len(segments) - 1; last == maxSegments-1 {
		segments[last] = strings.ReplaceAll(segments[last], "/", "_")
	}
	for i, s := range segments {
		segments[i] = cleanSegment(s)
	}
	if segments[0] == stepKey { // metrics.json holds the run's step there
		segments[0] = stepKey + "_"
	}
	return strings.Join(segments, "/")
}

func cleanSegment(s string) string {
	if s == "" || s == "." || s == ".." {
		return "_"
	}
	clean := strings.Map(func(r rune) rune {
		if r == '.' || r == ':' || r == '\\' || unicode.IsControl(r) || r == utf8.RuneError {
			return '_'
		}
		return r
	}, s)
	if len(clean) <= maxSegment {
		return clean
	}
	return cutText(clean, maxSegment-9) + "-" + hash(s, 8)
}

// cutText cuts a text to at most n bytes of valid UTF-8.
func cutText(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// fold makes names equal that a file system which ignores case takes for one.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, s)
}
