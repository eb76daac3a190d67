package resultfile

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// cuts notes what a limit left out: a count and the sha256 of the sorted names, one a line.
type cuts struct {
	names map[string][]string
	fold  []trainrun.Truncation
}

func (c *cuts) add(what string, names ...string) {
	if len(names) == 0 {
		return
	}
	if c.names == nil {
		c.names = map[string][]string{}
	}
	c.names[what] = append(c.names[what], names...)
}

// keep cuts a list of metrics to its first n.
func (c *cuts) keep(what string, list []*metric, n int) []*metric {
	for _, m := range list[n:] {
		c.add(what, m.name)
	}
	return list[:n]
}

// object is the value of truncated. What the fold left out for memory has its own names (series, parts, values ...).
func (c *cuts) object() object {
	out := object{}
	for _, t := range c.fold {
		o := object{"count": t.Count}
		if t.Digest != "" {
			o["sha256"] = t.Digest
		}
		out["state_"+t.What] = o
	}
	for what, names := range c.names {
		slices.Sort(names)
		h := sha256.New()
		for _, n := range names {
			h.Write([]byte(n + "\n"))
		}
		out[what] = object{"count": len(names), "sha256": hex.EncodeToString(h.Sum(nil))}
	}
	return out
}
