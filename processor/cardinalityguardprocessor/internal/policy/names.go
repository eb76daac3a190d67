package policy

// named compiles which names metrics may have.
func (c *compiler) named() {
	in := &c.doc.Metrics
	n := &c.out.names
	n.mode = in.Mode.under(c.doc.Mode)
	n.rule = c.rule("off_list", n.mode)
	n.all = in.Otherwise == dropNames
	c.out.core.rule = c.rule("metric_name", c.out.core.mode)
	m := c.selector("metrics.allow", &in.Allow)
	switch {
	case !m.empty():
		n.allow = m
		if !n.all && len(c.out.training.prefixes) == 0 {
			c.add("metrics.allow", "no effect: set metrics.otherwise to drop, or training.prefixes")
		}
	case n.all:
		c.add("metrics.otherwise", "drop without metrics.allow would drop every metric")
	}
}
