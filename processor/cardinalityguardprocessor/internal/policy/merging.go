package policy

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// exempted takes the exemptions. A policy that has none keeps the one for DCGM, whose counters one piece of hardware writes.
func (c *compiler) exempted() {
	list := c.doc.Exempt
	if list == nil {
		list = []Exempt{{Metrics: Selector{Prefix: []string{"DCGM_FI_", "DCGM_EXP_"}}, Writer: oneWriter}}
	}
	for i := range list {
		path := index("exempt", i)
		e := &exempt{single: list[i].Writer == oneWriter}
		c.globs(path+".keep", list[i].Keep, &e.keep)
		if e.keep.empty() { // no matter of attributes: no class of its own
			e.metrics = c.selector(path+".metrics", &list[i].Metrics)
			if e.metrics.empty() || !e.single {
				c.add(path, "no effect: give metrics, and keep or writer: single")
			}
		} else {
			e.selector = c.pick(path, &list[i].Metrics)
			e.metrics = c.out.selectors[e.selector]
		}
		c.out.exempts = append(c.out.exempts, e)
	}
}

func (c *compiler) merging() {
	p := c.out
	if d := c.doc.Gauges.Default; d != 0 {
		p.gauge = Gauge(d - 1)
	}
	for i, r := range c.doc.Gauges.Rules {
		path := index("gauges.rules", i)
		if r.Merge == 0 {
			c.add(path, "want merge")
			continue
		}
		p.gauges = append(p.gauges, metricRule[Gauge]{c.metrics(path, r.Metric), Gauge(r.Merge - 1)})
	}
	for i, r := range c.doc.Histograms.Rules {
		path := index("histograms.rules", i)
		c.ascending(path+".bounds", r.Bounds)
		p.bounds = append(p.bounds, metricRule[[]float64]{c.metrics(path, r.Metric), r.Bounds})
	}
	p.summary = c.doc.Summaries.Default == dropSummary
	for i, r := range c.doc.Summaries.Rules {
		path := index("summaries.rules", i)
		if r.Merge == 0 {
			c.add(path, "want merge")
		}
		p.summaries = append(p.summaries, metricRule[bool]{c.metrics(path, r.Metric), r.Merge == dropSummary})
	}
}

func (c *compiler) metrics(path string, names Globs) matcher {
	var m matcher
	if len(names) == 0 {
		c.add(path, "want metric: a name, a glob, or a list of them")
	}
	c.globs(path+".metric", names, &m)
	return m
}

func (c *compiler) ascending(path string, bounds []float64) {
	if len(bounds) == 0 || len(bounds) > maxHistogramBound {
		c.add(path, "want 1 to %d bounds, got %d", maxHistogramBound, len(bounds))
	}
	for i, b := range bounds {
		if math.IsNaN(b) || math.IsInf(b, 0) || (i > 0 && b <= bounds[i-1]) {
			c.add(index(path, i), "want finite numbers in rising order, got %s", fmt.Sprint(b))
			return
		}
	}
}

func (c *compiler) limited() {
	in := &c.doc.Limits
	if n := in.SeriesPerMetric; n != nil {
		if *n < 2 {
			c.add("limits.series_per_metric", "want 2 or more, since the overflow series is one of them, got %d", *n)
		}
		c.out.series = *n
	}
	mode := c.out.mode
	for _, key := range slices.Sorted(maps.Keys(in.ValuesPerAttribute)) {
		n := in.ValuesPerAttribute[key]
		path := "limits.values_per_attribute." + key
		if n < 1 || n > maxValuesLimit {
			c.add(path, "want a number from 1 to %d, got %d", maxValuesLimit, n)
		}
		if wholeKey(key) == "" {
			c.add(path, "want at least one letter or digit in the key")
		}
		if c.out.limitRule == 0 {
			c.out.limitRule = c.rule("values_per_attribute", mode)
		}
		c.out.limits[wholeKey(key)] = newLimit(mode, c.out.limitRule, n)
	}
}
