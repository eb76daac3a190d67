package cardinalityguardprocessor

import (
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
	exact    map[string]struct{} // full attribute keys, their tokens joined by points
	patterns map[string]verdict  // a pattern's tokens joined
	begins   map[string]struct{} // every beginning of a pattern, so that most tokens of a key need one look
	reasons  []string            // by verdict
}

// newRules computes the rules from the registry.
func newRules(reg *trainrecord.Registry) *rules {
	r := &rules{
		exact:    map[string]struct{}{},
		patterns: map[string]verdict{},
		begins:   map[string]struct{}{},
		reasons:  []string{allowed: "", logOnly: "log_only"},
	}
	for _, key := range reg.ForbiddenKeys() {
		r.exact[strings.Join(tokens(key), ".")] = struct{}{}
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
		for n := 1; n <= len(joined); n++ {
			r.begins[joined[:n]] = struct{}{}
		}
	}
	return r
}

// key judges an attribute key: first the full keys, however their words are put together (Prometheus writes underscores),
// then the patterns on whole tokens.
func (r *rules) key(key string) verdict {
	toks := tokens(key)
	if _, forbidden := r.exact[strings.Join(toks, ".")]; forbidden {
		return logOnly
	}
	for i := range toks {
		joined := toks[i]
		for j := i + 1; r.begun(joined); j++ {
			if v, forbidden := r.patterns[joined]; forbidden {
				return v
			}
			if j == len(toks) {
				break
			}
			joined += toks[j]
		}
	}
	return allowed
}

func (r *rules) begun(joined string) bool {
	_, begun := r.begins[joined]
	return begun
}

// name judges a metric's name. A concept in a name is what the metric measures (a current epoch, a step) and is legal; a
// concept with a value behind it (run_id_8f3a21bc, epoch_12, epoch12) is an attribute written into the name.
func (r *rules) name(name string) verdict {
	toks := tokens(name)
	for i := range toks {
		joined := ""
		for j := i; j < len(toks); j++ {
			stem := strings.TrimRight(toks[j], "0123456789")
			if v, concept := r.patterns[joined+stem]; concept && stem != "" {
				if stem != toks[j] || (j+1 < len(toks) && isValue(toks[j+1])) {
					return v
				}
			}
			if joined += toks[j]; !r.begun(joined) {
				break
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
