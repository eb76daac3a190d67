package cardinalityguardprocessor

import (
	"slices"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// verdict is what the rules say about a key: allowed, or an index into rules.reasons.
type verdict uint8

const (
	allowed verdict = iota
	// logOnly is a name of the vocabulary that may be on logs and spans but not on metrics.
	logOnly
)

// rules is what the registry forbids on metrics, ready for matching. It never changes.
type rules struct {
	exact    map[string]struct{} // full attribute keys
	patterns map[string]verdict  // a pattern's tokens joined
	longest  int                 // bytes of the longest pattern
	reasons  []string            // by verdict
}

// newRules computes the rules from the registry.
func newRules(reg *trainrecord.Registry) *rules {
	r := &rules{
		exact:    map[string]struct{}{},
		patterns: map[string]verdict{},
		reasons:  []string{allowed: "", logOnly: "log_only"},
	}
	for _, key := range reg.ForbiddenKeys() {
		r.exact[key] = struct{}{}
	}
	concepts := map[string]verdict{}
	for _, p := range reg.ForbiddenPatterns() {
		v, known := concepts[p.Concept]
		if !known {
			v = verdict(len(r.reasons))
			concepts[p.Concept] = v
			r.reasons = append(r.reasons, p.Concept)
		}
		joined := strings.Join(tokens(p.Tokens), "")
		r.patterns[joined] = v
		r.longest = max(r.longest, len(joined))
	}
	return r
}

// key judges an attribute key: the exact keys first, then the patterns on whole tokens.
func (r *rules) key(key string) verdict {
	if _, forbidden := r.exact[key]; forbidden {
		return logOnly
	}
	toks := tokens(key)
	var buf []byte
	for i := range toks {
		buf = buf[:0]
		for _, t := range toks[i:] {
			if len(buf)+len(t) > r.longest {
				break
			}
			buf = append(buf, t...)
			if v, forbidden := r.patterns[string(buf)]; forbidden {
				return v
			}
		}
	}
	return allowed
}

// name judges a metric's name. A concept in a name is what the metric measures (a current epoch, a step) and is legal; a
// concept with a value behind it (run_id_8f3a21bc, epoch_12, epoch12) is an attribute written into the name.
func (r *rules) name(name string) verdict {
	toks := tokens(name)
	for i := range toks {
		joined := ""
		for j := i; j < len(toks) && len(joined) <= r.longest; j++ {
			joined += toks[j]
			if v, concept := r.patterns[joined]; concept && j+1 < len(toks) && isValue(toks[j+1]) {
				return v
			}
			digits := len(joined) - len(strings.TrimRight(joined, "0123456789"))
			if digits == 0 || digits >= len(toks[j]) {
				continue
			}
			if v, concept := r.patterns[joined[:len(joined)-digits]]; concept {
				return v
			}
		}
	}
	return allowed
}

// isValue says whether a token of a metric's name looks like a value: a number, or hexadecimal of eight digits or more.
func isValue(token string) bool {
	decimals := 0
	for _, c := range token {
		switch {
		case c >= '0' && c <= '9':
			decimals++
		case c < 'a' || c > 'f':
			return false
		}
	}
	return decimals == len(token) || (decimals > 0 && len(token) >= 8)
}

// reasonList gives the reasons without the empty one of allowed, sorted.
func (r *rules) reasonList() []string { return slices.Sorted(slices.Values(r.reasons[1:])) }
