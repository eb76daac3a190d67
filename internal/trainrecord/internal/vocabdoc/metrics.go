package vocabdoc

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const metricsIntro = `# Metrics of trainings

Generated from ` + "`internal/trainrecord/registry.yaml`" + ` by ` + "`make docs`" + `; edit that file, not this one.

The connector [training_signals](../connector/trainingsignalsconnector/README.md) derives these metrics from training records. Their scope is
` + "`%s`" + `, version %s. On each point stand the base attributes ` + "`%s`" + ` and, where it is known, ` + "`%s`" + `; no
run id, trace id, epoch, step, path or name of a measurement is ever an attribute.
`

// MetricsPage gives docs/metrics.md.
func MetricsPage(r *trainrecord.Registry) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, metricsIntro, trainrecord.ScopeName, trainrecord.SchemaVersion, trainrecord.AttrFramework, trainrecord.AttrTaskFamily)
	section(&b, "Metrics", "The name is `"+r.Namespace+".<name>`, and so are the keys of attributes.",
		[]string{"name", "instrument", "unit", "attributes besides the base ones", "meaning"})
	for _, n := range metrics(r) {
		row(&b, code(n.Name), n.Instrument, n.Unit, codes(n.Attributes), n.Meaning)
	}
	section(&b, "Buckets", "Upper bounds, inclusive. `buckets` of the connector changes them, which begins the series anew.", []string{"histogram", "bounds"})
	for _, n := range metrics(r) {
		if len(n.Bounds) > 0 {
			row(&b, code(n.Name), numbers(n.Bounds))
		}
	}
	section(&b, "Values", "A value off its list becomes `"+trainrecord.Other+"`.", []string{"attribute", "values"})
	for _, n := range r.Names {
		if n.Kind == trainrecord.KindAttribute && onMetrics(r, n.Name) {
			row(&b, code(r.Namespace+"."+n.Name), codes(trainrecord.OnMetrics(n.Values)))
		}
	}
	return []byte(b.String())
}

func metrics(r *trainrecord.Registry) []trainrecord.Name {
	var found []trainrecord.Name
	for _, n := range r.Names {
		if n.Kind == trainrecord.KindMetric {
			found = append(found, n)
		}
	}
	return found
}

// onMetrics says that a metric carries the attribute: a base one, or one of its own.
func onMetrics(r *trainrecord.Registry, name string) bool {
	key := trainrecord.Namespace + "." + name
	if key == trainrecord.AttrFramework || key == trainrecord.AttrTaskFamily {
		return true
	}
	for _, n := range metrics(r) {
		for _, a := range n.Attributes {
			if a == name {
				return true
			}
		}
	}
	return false
}

func numbers(list []float64) string {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = strconv.FormatFloat(n, 'g', -1, 64)
	}
	return strings.Join(texts, " ")
}
