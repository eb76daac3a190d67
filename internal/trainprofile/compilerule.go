package trainprofile

import (
	"fmt"
	"slices"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func (c *compiler) rules(docs []ruleDocument, header []setStep) (out []*rule) {
	names := map[string]bool{}
	for i := range docs {
		r := &docs[i]
		path := fmt.Sprintf("rules[%d]", i)
		if r.Name == "" || names[r.Name] {
			c.fail(path+".name", "want a name of its own, got %q", r.Name)
		}
		names[r.Name] = true
		out = append(out, c.rule(r, header, path))
	}
	return out
}

func (c *compiler) rule(doc *ruleDocument, header []setStep, path string) *rule {
	r := &rule{when: doc.When, event: doc.Event, phase: doc.Phase, goesOn: doc.Continue, closes: doc.Closes, beside: doc.Beside}
	if r.when != nil {
		r.when.check(c.fail, path+".when")
	}
	if !trainrecord.IsEvent(doc.Event) || doc.Event == trainrecord.EventStreamStatus {
		c.fail(path+".event", "%q is no event of a trainer; known are %v", doc.Event, trainrecord.Load().Values["event"])
		return r
	}
	if known := trainrecord.Load().Values["phase"]; doc.Phase != "" && !slices.Contains(known, doc.Phase) {
		c.fail(path+".phase", "unknown phase %q; known are %v", doc.Phase, known)
	}
	r.header = mergeSteps(c.headers(doc.Header, path+".header"), header)
	r.set = c.sets(doc.Set, doc.Event, path+".set")
	for _, f := range c.common.Set {
		t, err := bodyTarget(f.Target, doc.Event)
		if taken := slices.ContainsFunc(r.set, func(s setStep) bool { return s.target.spelling == t.spelling }); err == nil && !taken {
			r.set = append(r.set, setStep{target: t, source: c.source(f.Source, t.kind, "common.set."+f.Target)})
		}
	}
	c.spreads(doc.Spread, r, doc.Event, path+".spread")
	r.remember = c.remembers(doc.Remember, path+".remember")
	var carried []spreadDoc
	for _, s := range c.common.Spread {
		if n, ok := bodyName(s.To); s.To == trainrecord.BodyFramework || ok && carries(n, doc.Event) {
			carried = append(carried, s)
		}
	}
	c.spreads(carried, r, doc.Event, "common.spread")
	r.markSole()
	c.number(r)
	if r.partial = r.withoutCompletion(); r.partial != nil {
		r.partial.id, c.made = c.made, c.made+1
	}
	return r
}

// number gives a rule and its steps their ids.
func (c *compiler) number(r *rule) {
	r.id, c.made = c.made, c.made+1
	for _, steps := range [][]setStep{r.header, r.set, r.remember} {
		for i := range steps {
			c.steps++
			steps[i].id = c.steps
		}
	}
}

// commonChecks finds the mistakes of the common part that no rule would show: a target that no rule's event carries.
func (c *compiler) commonChecks(doc *document) {
	for _, f := range doc.Common.Set {
		var last error
		used := slices.ContainsFunc(doc.Rules, func(r ruleDocument) bool {
			_, err := bodyTarget(f.Target, r.Event)
			if err != nil {
				last = err
			}
			return err == nil
		})
		if !used && last != nil {
			c.fail("common.set."+f.Target, "%v", last)
		}
	}
	for i, s := range doc.Common.Spread {
		c.spreadKind(s, "", fmt.Sprintf("common.spread[%d]", i))
	}
}

// mergeSteps gives the first list and of the second what the first does not set.
func mergeSteps(first, second []setStep) []setStep {
	out := slices.Clone(first)
	for _, s := range second {
		if !slices.ContainsFunc(first, func(f setStep) bool { return f.target.name == s.target.name }) {
			out = append(out, s)
		}
	}
	return out
}
