package trainingsignalsconnector

import (
	"encoding/json"
	"slices"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// shape is what the attributes of series are made of. A state that is stored under another one has series that would not be told any more.
func (c *Config) shape() string {
	b, _ := json.Marshal([]any{c.ResourceAttributes, c.TaskFamilies, c.ExtraAttributes, c.Replica}) // texts only
	return string(b)
}

// params are the parameters that attempts carry the values of.
func (c *Config) params() (from []string) {
	for _, e := range c.ExtraAttributes {
		from = append(from, e.From)
	}
	return from
}

// reshape brings values of the parameters that were asked for into the order of those that are.
func (c *core) reshape(values []string) []string {
	if values == nil || slices.Equal(c.known.params, c.cfg.params()) {
		return values
	}
	var out []string
	for _, from := range c.cfg.params() {
		value := ""
		if i := slices.Index(c.known.params, from); i >= 0 && i < len(values) {
			value = values[i]
		}
		out = append(out, value)
	}
	return out
}

// renew begins all series anew when their attributes are made of something else than those that were stored. Attempts go on: those that
// are open are announced in the new ones.
func (c *core) renew() {
	if c.known.shape == "" || c.known.shape == c.cfg.shape() {
		return
	}
	for _, g := range c.table.order {
		g.gone = true
	}
	since, now := c.table.since, c.table.now
	c.table = newTable(c.cfg, since)
	c.table.now = now
	c.live.Courses(func(k *trainrun.Course) {
		if k.Opened && !k.Ended {
			c.table.take(&trainrun.Transition{Kind: trainrun.Opened, Course: k})
		}
	})
	c.logger.Info("Series begin anew: their attributes are made of something else than those that were stored")
}
