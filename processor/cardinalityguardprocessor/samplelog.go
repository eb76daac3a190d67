package cardinalityguardprocessor

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// example is of what a rule found in a batch.
type example struct {
	rule        policy.RuleID
	metric, key string
	value       string
}

// sample keeps the first example of each rule in a batch.
func (w *worker) sample(rule policy.RuleID, key string, value pcommon.Value) {
	for i := range w.examples {
		if w.examples[i].rule == rule {
			return
		}
	}
	if key == "" && len(w.path.begins) > 0 {
		key = w.path.String()
	}
	text := ""
	switch value.Type() {
	case pcommon.ValueTypeMap, pcommon.ValueTypeSlice, pcommon.ValueTypeBytes: // large ones would cost
	default:
		text = value.AsString()
	}
	w.examples = append(w.examples, example{rule, w.metric, key, text})
}

// sampleLog writes at most one entry a minute for each rule: an example, with a hash of the value that nobody can turn back.
type sampleLog struct {
	logger *zap.Logger
	salt   []byte // of this process
	seldom componentkit.Seldom
}

func newSampleLog(logger *zap.Logger) *sampleLog {
	l := &sampleLog{logger: logger, salt: make([]byte, 16)}
	_, _ = rand.Read(l.salt) // never fails
	return l
}

func (l *sampleLog) note(p *policy.Policy, examples []example) {
	for _, e := range examples {
		rule := p.Rules()[e.rule]
		name := rule.Reason
		if rule.Audit {
			name += " audit"
		}
		if !l.seldom.Allow(name) {
			continue
		}
		message := "Changed an attribute that the policy forbids"
		if rule.Audit {
			message = "Would change an attribute that the policy forbids"
		}
		fields := []zap.Field{zap.String("rule", rule.Reason), zap.String("key", e.key), zap.String("value_hash", l.hash(e.value))}
		if e.metric != "" {
			fields = append(fields, zap.String("metric", e.metric))
		}
		l.logger.Info(message, fields...)
	}
}

// hash is the same for the same value, in this process only.
func (l *sampleLog) hash(value string) string {
	h := sha256.New()
	h.Write(l.salt)
	h.Write([]byte(value))
	return hex.EncodeToString(h.Sum(nil)[:8])
}
