package resultfile

import (
	"slices"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// Limits of the files. What is over one is left out and listed under truncated; no result fails for its size.
const (
	maxLeaves      = 1000
	maxMetricsSize = 256 << 10
	maxPlots       = 100
)

// metric is one name of the result: a series, a measurement of run.end, or both.
type metric struct {
	name   string // with the part as prefix, and the axis as suffix where another axis owns the name
	path   string // in metrics.json and below plots/metrics
	part   string
	plain  string // as reported
	series *trainrun.Series
	final  *float64
	first  bool // the objective's: the last to be left out
	best   *trainrun.Best
}

// value is what metrics.json shows: the measurement of run.end, else the last of the series.
func (m *metric) value() float64 {
	if m.final != nil {
		return *m.final
	}
	return m.series.Last.V
}

// listMetrics gives every metric of a run, the objective's first, then in byte order of the names.
func listMetrics(st *trainrun.State) []*metric {
	l := lister{state: st, names: map[string]bool{}, owners: map[[2]string]*metric{}}
	for i := range st.Series {
		s := &st.Series[i]
		suffix := ""
		if s.Shared {
			suffix = "_" + s.Axis.String()
		}
		l.add(s.Part, s.Name, suffix).series = s
	}
	for i := range st.Finals {
		f := &st.Finals[i]
		m := l.owners[[2]string{f.Part, f.Name}]
		if m == nil {
			m = l.add(f.Part, f.Name, "")
		}
		m.final = &f.Value
	}
	for _, m := range l.list {
		m.mark(st)
	}
	slices.SortFunc(l.list, func(a, b *metric) int {
		if a.first != b.first {
			if a.first {
				return -1
			}
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	return l.list
}

// lister gives metrics names of their own.
type lister struct {
	state  *trainrun.State
	list   []*metric
	names  map[string]bool
	owners map[[2]string]*metric // by part and name: the series that owns the plain name
}

func (l *lister) add(part, name, suffix string) *metric {
	m := &metric{name: strings.ToValidUTF8(displayName(part, name)+suffix, "\uFFFD"), part: part, plain: name}
	if l.names[m.name] { // a name that spells another's part or suffix, or differs from it in what is no UTF-8
		m.name += "-" + hash(part+"\x00"+name+"\x00"+suffix, 8)
	}
	l.names[m.name] = true
	l.list = append(l.list, m)
	if suffix == "" {
		l.owners[[2]string{part, name}] = m
	}
	return m
}

// mark notes whether the metric decides which epoch is best, in the run or in its part.
func (m *metric) mark(st *trainrun.State) {
	objective, best := st.Objective, st.Best
	if m.part != "" {
		objective, best = nil, nil
		for i := range st.Parts {
			if st.Parts[i].Name == m.part {
				objective, best = st.Parts[i].Objective, st.Parts[i].Best
			}
		}
	}
	if best != nil && best.Metric == m.plain {
		m.first = true
		if m.series != nil && m.series.Axis == best.Axis {
			m.best = best
		}
	}
	if objective != nil && objective.Metric == m.plain {
		m.first = true
	}
}

func displayName(part, name string) string {
	if part == "" {
		return name
	}
	return part + "/" + name
}

// place gives the metrics their paths and leaves out those that metrics.json has no room for.
func place(list []*metric, cut *cuts) []*metric {
	list = cut.keep("metrics", list, min(len(list), maxLeaves))
	for {
		names := make([]string, len(list))
		for i, m := range list {
			names[i] = m.name
		}
		paths := MetricPaths(names)
		size := 0
		for _, m := range list {
			m.path = paths[m.name]
			size += leafSize(m.path)
		}
		if size <= maxMetricsSize {
			return list
		}
		list = cut.keep("metrics", list, len(list)-max(len(list)/16, 1))
	}
}

// leafSize bounds what a path adds to metrics.json: each segment on a line of its own, its brackets, and the value.
func leafSize(path string) int {
	size, segments := 0, strings.Split(path, "/")
	for i, s := range segments {
		size += len(appendJSONString(nil, s)) + 8*(i+1) + 8
	}
	return size + 24
}

// metricsFile is metrics.json: the last values, nested by the names' slashes, and the last step of the run.
func metricsFile(st *trainrun.State, list []*metric) []byte {
	root := object{}
	if step := lastStep(st); step != nil {
		root[stepKey] = *step
	}
	for _, m := range list {
		at := root
		segments := strings.Split(m.path, "/")
		for _, s := range segments[:len(segments)-1] {
			below, ok := at[s].(object)
			if !ok {
				below = object{}
				at[s] = below
			}
			at = below
		}
		at[segments[len(segments)-1]] = m.value()
	}
	return encodeJSON(root)
}

// lastStep is the last epoch, or the last optimizer step of a run without epochs.
func lastStep(st *trainrun.State) *int64 {
	if st.Epochs.Last != nil {
		return st.Epochs.Last
	}
	return st.Steps.Last
}
