package trainingsignalsconnector

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

const (
	maxExtraAttributes = 2
	maxExtraValues     = 64
	maxBounds          = 32
	paramsPrefix       = "params."
)

var namespaceForm = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`)

// Validate reports every mistake at once, naming keys as the YAML spells them.
func (c *Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for i, n := range c.namespaces() {
		if !namespaceForm.MatchString(n) {
			bad("namespace, also_namespaces: want words joined by points, such as %s, got %q", trainrecord.Namespace, n)
		} else if slices.Contains(c.namespaces()[:i], n) {
			bad("also_namespaces: %s is named twice", n)
		}
	}
	if c.Temporality != cumulative && c.Temporality != delta {
		bad("temporality: want cumulative or delta, got %q", c.Temporality)
	}
	c.checkTimes(bad)
	c.checkSets(bad)
	for i := range c.ExtraAttributes {
		c.checkExtra(i, bad)
	}
	if len(c.ExtraAttributes) > maxExtraAttributes {
		bad("extra_attributes: want at most %d, got %d", maxExtraAttributes, len(c.ExtraAttributes))
	}
	l := c.Limits
	for key, n := range map[string]int{
		"limits::attempts": l.Attempts, "limits::tombstones": l.Tombstones, "limits::resources": l.Resources, "limits::pending_spans": l.PendingSpans,
		"limits::dedup_window": l.DedupWindow, "limits::open_phases": l.OpenPhases, "spans::epochs": c.Spans.Epochs, "spans::max_per_attempt": c.Spans.MaxPerAttempt,
	} {
		if n < 1 {
			bad("%s: want a number above 0, got %d", key, n)
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

func (c *Config) checkTimes(bad func(string, ...any)) {
	if c.FlushInterval < 10*time.Millisecond || c.FlushInterval > time.Hour {
		bad("flush_interval: want 10ms to 1h, such as 10s, got %s", c.FlushInterval)
	}
	for key, d := range map[string]time.Duration{
		"history_age": c.HistoryAge, "idle_timeout": c.IdleTimeout, "abandon_after": c.AbandonAfter, "series_expiry": c.SeriesExpiry, "spans::max_age": c.Spans.MaxAge,
	} {
		if d < 10*time.Millisecond {
			bad("%s: want at least 10ms, with a unit such as 30m, got %s", key, d)
		}
	}
	for key, d := range map[string]time.Duration{"failure_grace": c.FailureGrace, "late_grace": c.LateGrace} {
		if d != 0 && d < 10*time.Millisecond {
			bad("%s: want 0s or at least 10ms, with a unit such as 10s, got %s", key, d)
		}
	}
	if c.AbandonAfter < c.IdleTimeout {
		bad("abandon_after: want at least idle_timeout (%s), got %s", c.IdleTimeout, c.AbandonAfter)
	}
}

func (c *Config) checkSets(bad func(string, ...any)) {
	values := trainrecord.Load().Values
	for _, f := range c.TaskFamilies {
		if !slices.Contains(values[trainrecord.BodyTaskFamily], f) {
			bad("task_families: want values of the registry's task_family, got %q", f)
		}
	}
	for _, framework := range slices.Sorted(maps.Keys(c.Emits)) {
		if !slices.Contains(values["framework"], framework) {
			bad("emits::%s: want a framework of the registry", framework)
		}
		for _, word := range c.Emits[framework] {
			if word != trainrecord.EmitsMetrics && word != trainrecord.EmitsTraces {
				bad("emits::%s: want metrics or traces, got %q", framework, word)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Buckets)) {
		m, ok := trainrecord.Load().Metric(name)
		bounds := c.Buckets[name]
		switch {
		case !ok || m.Instrument != "histogram":
			bad("buckets::%s: want the name of a histogram, such as %s", name, trainrecord.MetricPhaseDuration)
		case len(bounds) == 0 || len(bounds) > maxBounds:
			bad("buckets::%s: want 1 to %d bounds, got %d", name, maxBounds, len(bounds))
		case !ascending(bounds):
			bad("buckets::%s: want finite bounds, each above the one before", name)
		}
	}
	for i, key := range c.ResourceAttributes {
		if key == "" || slices.Contains(c.ResourceAttributes[:i], key) {
			bad("resource_attributes[%d]: want the key of an attribute, once, got %q", i, key)
		} else if concept := forbidden(key); concept != "" {
			bad("resource_attributes[%d]: %s is one of a %s, which may not be on a metric", i, key, concept)
		}
	}
	if len(c.Replica) > 64 {
		bad("replica: want at most 64 bytes, got %d", len(c.Replica))
	}
}

func ascending(list []float64) bool {
	for i, x := range list {
		if x-x != 0 || i > 0 && x <= list[i-1] {
			return false
		}
	}
	return true
}

func (c *Config) checkExtra(i int, bad func(string, ...any)) {
	e := &c.ExtraAttributes[i]
	name, isParam := strings.CutPrefix(e.From, paramsPrefix)
	switch {
	case e.Key == "" || strings.ContainsFunc(e.Key, unicode.IsSpace):
		bad("extra_attributes[%d]::key: want the key of an attribute, got %q", i, e.Key)
	case forbidden(e.Key) != "":
		bad("extra_attributes[%d]::key: %s names a %s, which may not be on a metric", i, e.Key, forbidden(e.Key))
	case c.own(e.Key):
		bad("extra_attributes[%d]::key: %s is an attribute of the metrics themselves, take another", i, e.Key)
	case slices.ContainsFunc(c.ExtraAttributes[:i], func(o ExtraAttribute) bool { return o.Key == e.Key }):
		bad("extra_attributes[%d]::key: %s is there twice", i, e.Key)
	}
	switch {
	case !isParam || name == "" || slices.Contains(strings.Split(name, "."), ""):
		bad("extra_attributes[%d]::from: want params.<name>, got %q", i, e.From)
	case forbidden(name) != "":
		bad("extra_attributes[%d]::from: %s names a %s, which may not be on a metric", i, e.From, forbidden(name))
	}
	if len(e.Values) == 0 || len(e.Values) > maxExtraValues || slices.Contains(e.Values, "") {
		bad("extra_attributes[%d]::values: want 1 to %d values", i, maxExtraValues)
	}
}

// own says that the metrics have an attribute of that key anyway.
func (c *Config) own(key string) bool {
	return slices.ContainsFunc(c.namespaces(), func(namespace string) bool {
		if key == spelled(trainrecord.AttrFramework, namespace) || key == spelled(trainrecord.AttrTaskFamily, namespace) {
			return true
		}
		return slices.ContainsFunc(instruments(c)[:], func(in instrument) bool { return in.own != "" && key == namespace+"."+in.own })
	})
}

// forbidden names the concept that keeps a key off metrics, "" when none does.
func forbidden(key string) string {
	if slices.Contains(trainrecord.Load().ForbiddenKeys(), key) {
		return "record"
	}
	words := strings.FieldsFunc(splitCamel(key), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	patterns := trainrecord.Load().ForbiddenPatterns()
	for _, name := range []string{"path", "measurement", "run", "trace"} {
		patterns = append(patterns, trainrecord.Pattern{Concept: name, Tokens: name})
	}
	for _, p := range patterns {
		want := strings.ReplaceAll(p.Tokens, "_", "")
		for from := range words {
			joined := ""
			for _, w := range words[from:] {
				if joined += w; joined == want {
					return strings.ReplaceAll(p.Concept, "_", " ")
				}
			}
		}
	}
	return ""
}

// splitCamel puts a point before each capital that follows a small letter, and makes all letters small.
func splitCamel(s string) string {
	var b strings.Builder
	small := false
	for _, r := range s {
		if unicode.IsUpper(r) && small {
			b.WriteByte('.')
		}
		small = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
