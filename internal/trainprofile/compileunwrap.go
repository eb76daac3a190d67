package trainprofile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Ways to read the text of a message.
const (
	textJSON  = "json"
	textPairs = "pairs"
)

// factMark begins the names under which an envelope's facts are found.
const (
	factMark     = "$"
	factEnvelope = factMark + "envelope" // the envelope's name
)

// unwrap says how an envelope is opened.
type unwrap struct {
	name        pcommon.Value
	objects     []ref
	hide        []pattern
	named       []setStep // the target's name is the fact's, with its mark
	json, pairs bool
}

// objective is a metric that decides which epoch is best, by the framework's own habit.
type objective struct {
	metric pattern
	mode   string
}

var factName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// envelope compiles a profile that opens envelopes.
func (c *compiler) envelope(p *Profile, doc *document, header []setStep) {
	p.header = header
	if len(doc.Rules)+len(doc.Objective)+len(doc.Common.Set)+len(doc.Common.Spread) > 0 || doc.RecordKeys != nil || doc.Framework != "" || doc.Attributes != nil || doc.Gauges != nil {
		c.fail("unwrap", "an envelope has no framework, rules, common, objective, record_keys, attributes and gauges of its own")
	}
	if p.strong == nil || p.weak != nil || p.sure != nil {
		c.fail("unwrap", "an envelope is recognised by detect.strong, and by nothing else")
	}
	u := &unwrap{name: pcommon.NewValueStr(p.name), objects: doc.Unwrap.Objects, hide: doc.Unwrap.Hide}
	for _, f := range doc.Unwrap.Named {
		at := "unwrap.named." + f.Target
		if !factName.MatchString(f.Target) {
			c.fail(at, "want lower case letters, digits and _ as name")
		}
		name := factMark + f.Target
		u.named = append(u.named, setStep{target: target{spelling: name, name: name, kind: kindAny}, source: c.source(f.Source, kindAny, at)})
	}
	for i, way := range doc.Unwrap.Text {
		switch way {
		case textJSON:
			u.json = true
		case textPairs:
			u.pairs = true
		default:
			c.fail(fmt.Sprintf("unwrap.text[%d]", i), "want json or pairs, got %q", way)
		}
	}
	p.unwrap = u
}

func (c *compiler) objectives(docs []objectiveDoc) (all []objective) {
	for i, o := range docs {
		if modes := trainrecord.Load().Values["mode"]; !slices.Contains(modes, o.Mode) {
			c.fail(fmt.Sprintf("objective[%d].mode", i), "want one of %s, got %q", strings.Join(modes, ", "), o.Mode)
		}
		all = append(all, objective{metric: o.Metric, mode: o.Mode})
	}
	return all
}

// Facts are the columns of the table of frameworks: what a framework may tell.
var Facts = []string{
	"epoch", "step", "phase", "lr", "durations", "samples", "checkpoint", "best", "start", "end", "failure", "params", "planned",
}

func (c *compiler) without(reasons map[string]string) {
	for fact, reason := range reasons {
		if !slices.Contains(Facts, fact) {
			c.fail("without."+fact, "unknown fact; known are %s", strings.Join(Facts, ", "))
		}
		if reason == "" {
			c.fail("without."+fact, "say why the framework does not tell it")
		}
	}
}

// rememberEpochBase is what a stream may remember: how its epochs are counted.
const rememberEpochBase = "epoch_base"

func (c *compiler) remembers(fs fields, path string) (steps []setStep) {
	for _, f := range fs {
		at := join(path, f.Target)
		if f.Target != rememberEpochBase {
			c.fail(at, "a stream remembers %s only", rememberEpochBase)
			continue
		}
		t := target{spelling: f.Target, name: f.Target, kind: kindInt}
		steps = append(steps, setStep{target: t, source: c.source(f.Source, kindInt, at)})
	}
	return steps
}
