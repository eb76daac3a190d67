package policy

import (
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// concepts finds runs of whole tokens. Each run has the rule that it stands for.
type concepts struct {
	patterns map[string]RuleID   // tokens joined
	begins   map[string]struct{} // every beginning of a pattern, so that most tokens of a key need one look
	except   map[string]struct{} // runs that make the key another thing, joined
	excepted map[string]struct{} // their beginnings
}

func newConcepts() *concepts {
	return &concepts{
		patterns: map[string]RuleID{}, begins: map[string]struct{}{}, except: map[string]struct{}{}, excepted: map[string]struct{}{},
	}
}

// add takes a pattern; the first rule of a pattern counts. It says whether the pattern has a token.
func (c *concepts) add(pattern string, rule RuleID) bool {
	joined := strings.Join(tokens(pattern), "")
	if _, known := c.patterns[joined]; !known && joined != "" {
		c.patterns[joined] = rule
		beginnings(c.begins, joined)
	}
	return joined != ""
}

// exclude takes a run of tokens inside which no pattern counts.
func (c *concepts) exclude(pattern string) bool {
	joined := strings.Join(tokens(pattern), "")
	if joined != "" {
		c.except[joined] = struct{}{}
		beginnings(c.excepted, joined)
	}
	return joined != ""
}

func beginnings(set map[string]struct{}, joined string) {
	for n := 1; n <= len(joined); n++ {
		set[joined[:n]] = struct{}{}
	}
}

func has(set map[string]struct{}, joined string) bool {
	_, some := set[joined]
	return some
}

// key finds the rule of a pattern in the tokens of a key, or none. Those before own are of the keys above it: a pattern may begin there, what
// ends there is theirs.
func (c *concepts) key(toks []string, own int) RuleID {
	var free []bool
	for i := range toks {
		joined := toks[i]
		for j := i + 1; has(c.begins, joined); j++ {
			if rule, found := c.patterns[joined]; found && j > own {
				if free == nil {
					free = c.free(toks)
				}
				if !all(free[i:j]) {
					return rule
				}
			}
			if j == len(toks) {
				break
			}
			joined += toks[j]
		}
	}
	return 0
}

// free says which tokens are part of an exception.
func (c *concepts) free(toks []string) []bool {
	free := make([]bool, len(toks))
	for i := range toks {
		joined := toks[i]
		for j := i + 1; has(c.excepted, joined); j++ {
			if has(c.except, joined) {
				for k := i; k < j; k++ {
					free[k] = true
				}
			}
			if j == len(toks) {
				break
			}
			joined += toks[j]
		}
	}
	return free
}

func all(list []bool) bool {
	for _, b := range list {
		if !b {
			return false
		}
	}
	return true
}

// name finds a concept with a value behind it in a metric's name: run_id_8f3a21bc, epoch_12, epoch12. A concept alone is what the metric
// measures (a current epoch, a step) and is legal.
func (c *concepts) name(name string) RuleID {
	toks := tokens(name)
	for i := range toks {
		joined := ""
		for j := i; j < len(toks); j++ {
			stem := strings.TrimRight(toks[j], "0123456789")
			if rule, concept := c.patterns[joined+stem]; concept && stem != "" {
				if stem != toks[j] || (j+1 < len(toks) && isValue(toks[j+1], identifies(joined+stem))) {
					return rule
				}
			}
			if joined += toks[j]; !has(c.begins, joined) {
				break
			}
		}
	}
	return 0
}

// identifies says whether a concept is an identifier, not a number that is counted up: what stands behind it is hardly a percentile or a type.
func identifies(concept string) bool {
	return strings.HasSuffix(concept, "id") || strings.HasSuffix(concept, "sha")
}

// isValue says whether a token of a metric's name looks like a value: a number, or hexadecimal of eight digits or more; of an identifier, four
// characters or more with a digit.
func isValue(token string, ofIdentifier bool) bool {
	decimals, hexadecimals := 0, 0
	for _, c := range token {
		switch {
		case c >= '0' && c <= '9':
			decimals++
		case c >= 'a' && c <= 'f':
			hexadecimals++
		}
	}
	n := len(token)
	switch {
	case decimals == 0:
		return false
	case decimals == n:
		return true
	case ofIdentifier:
		return n >= 4
	}
	return decimals+hexadecimals == n && n >= 8
}

// wholeKey is a key however its words are put together: Prometheus writes underscores.
func wholeKey(key string) string { return strings.Join(tokens(key), ".") }

// otherThings are runs of words in names of semantic conventions, Kubernetes and Istio that hold the words of a forbidden concept and mean
// something else: the image of a container, the revision of a workload, a service called Step Functions.
var otherThings = [...]string{
	"container_image_id", "host_image_id", "controller_revision", "canonical_revision", "step_functions",
}

// addRegistry takes what the registry keeps off metrics.
func (c *compiler) addRegistry(reg *trainrecord.Registry) {
	mode := c.doc.Registry.Mode.under(c.doc.Mode)
	d := &denial{mode: mode, places: anywhere, selector: anyMetric, words: newConcepts(), whole: map[string]RuleID{}}
	logOnly := c.rule("log_only", mode)
	for _, key := range reg.ForbiddenKeys() {
		d.whole[wholeKey(key)] = logOnly
	}
	concept := map[string]RuleID{}
	for _, p := range reg.ForbiddenPatterns() {
		rule, known := concept[p.Concept]
		if !known {
			rule = c.rule(p.Concept, mode)
			concept[p.Concept] = rule
		}
		d.words.add(p.Tokens, rule)
	}
	for _, words := range otherThings {
		d.words.exclude(words)
	}
	for i, words := range c.doc.Registry.Except {
		if !d.words.exclude(words) {
			c.add(index("registry.except", i), "want at least one letter or digit")
		}
	}
	c.out.denials = append(c.out.denials, d)
	c.out.core = d
	values := c.rule("registry_values", mode)
	for _, n := range reg.Names {
		if n.Kind == trainrecord.KindAttribute && n.Values != "" && onMetrics(n.Signals) {
			list := &allowance{
				mode: mode, selector: anyMetric, rule: values, values: map[string]string{},
				otherwise: otherWord, outcome: Replace,
			}
			list.admit(reg.Values[n.Values]...)
			key := wholeKey(reg.Namespace + "." + n.Name)
			c.out.allowances[key] = append(c.out.allowances[key], list)
		}
	}
}

func onMetrics(signals []string) bool {
	for _, s := range signals {
		if s == "metric" {
			return true
		}
	}
	return false
}
