package trainprofile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

func (c *compiler) headers(fs fields, path string) []setStep {
	var steps []setStep
	for _, f := range fs {
		at := join(path, f.Target)
		t, err := headerTarget(f.Target)
		if err != nil {
			c.fail(at, "%v", err)
			continue
		}
		steps = append(steps, setStep{target: t, source: c.source(f.Source, t.kind, at)})
	}
	return steps
}

var recordKeyNames = [...]string{
	trainrecord.KeyRunID, trainrecord.KeyAttempt, trainrecord.KeyRank, trainrecord.KeyPart, trainrecord.KeySeq,
	trainrecord.KeySeverity, trainrecord.KeyTraceID, trainrecord.KeySpanID, trainrecord.KeyTS, trainrecord.KeyFramework,
}

func isRecordKey(key string) bool { return slices.Contains(recordKeyNames[:], key) }

// recordKeys are the top-level keys of a record that any object may carry beside its framework's own: a callback that
// writes a framework's row adds run_id, rank or ts to it. A key that the profile's header reads itself is not among them.
func (c *compiler) recordKeys(only *[]string, own []setStep) []setStep {
	known := recordKeyNames[:]
	wanted := known
	if only != nil {
		wanted = *only
	}
	var steps []setStep
	for i, key := range wanted {
		if !slices.Contains(known, key) {
			c.fail(fmt.Sprintf("record_keys[%d]", i), "unknown key %q; known are %s", key, strings.Join(known, ", "))
			continue
		}
		t := target{spelling: key, name: key}
		if h, ok := headerTargets[key]; ok {
			t = h
			t.spelling, t.name = key, key
		}
		if slices.ContainsFunc(own, func(s setStep) bool { return s.target.name == key }) {
			continue
		}
		steps = append(steps, setStep{target: t, source: source{from: ref{{key: key}}}})
	}
	return steps
}

func (c *compiler) sets(fs fields, event, path string) []setStep {
	var steps []setStep
	for _, f := range fs {
		at := join(path, f.Target)
		t, err := bodyTarget(f.Target, event)
		if err != nil {
			c.fail(at, "%v", err)
			continue
		}
		c.constantFits(&t, f.Source, at)
		steps = append(steps, setStep{target: t, source: c.source(f.Source, t.kind, at)})
	}
	return steps
}

// constantFits refuses a constant that the target could never hold.
func (c *compiler) constantFits(t *target, doc sourceDoc, path string) {
	constants := []any{doc.Value}
	for _, v := range doc.Values {
		constants = append(constants, v)
	}
	for _, v := range constants {
		if v == nil {
			continue
		}
		if _, reason, ok := constantScalar(v).convert(t, &source{base: baseZero}, numbers{}); !ok {
			c.fail(path, "the constant %v does not fit %s (%s)", v, t.spelling, reason)
		}
	}
	c.wordsFit(t, &doc, path)
}

func (c *compiler) source(doc sourceDoc, kind valueKind, path string) source {
	s := source{from: doc.From, like: doc.Like, constant: doc.Value, ifHas: doc.IfHas, lacks: doc.Lacks, values: doc.Values, unit: doc.Unit, layout: doc.Layout}
	s.words = c.wordsOf(doc, path)
	given := 0
	for _, is := range []bool{len(doc.From) > 0, doc.Like != nil, doc.Value != nil, len(doc.Concat) > 0, len(doc.Sum) > 0} {
		if is {
			given++
		}
	}
	if given != 1 {
		c.fail(path, "want one of from, like, value, concat and sum")
	}
	if doc.Extract != nil && doc.Extract.Regexp != nil {
		s.extract = doc.Extract.Regexp
		if s.extract.NumSubexp() != 1 {
			c.fail(join(path, "extract"), "want exactly one group, in parentheses")
		}
	}
	for i, part := range doc.Concat {
		s.concat = append(s.concat, c.source(part, kindString, fmt.Sprintf("%s.concat[%d]", path, i)))
	}
	for i, part := range doc.Sum {
		s.sum = append(s.sum, c.source(part, kindNumber, fmt.Sprintf("%s.sum[%d]", path, i)))
	}
	c.epochBase(&s, doc, kind, path)
	if _, known := unitSeconds[doc.Unit]; !known && doc.Unit != unitClock {
		c.fail(join(path, "unit"), "unknown unit %q; known are s, ms, us, ns, min, h and clock", doc.Unit)
	}
	if doc.Unit != "" && kind != kindDuration {
		c.fail(join(path, "unit"), "only durations have a unit")
	}
	if doc.Layout != "" && kind != kindTime {
		c.fail(join(path, "layout"), "only the sources of time have a layout")
	}
	s.typ, s.lower, s.unless = doc.Type, doc.Lower, doc.Unless
	if doc.Type != "" && !slices.Contains(types, doc.Type) {
		c.fail(join(path, "type"), "unknown type %q; known are %v", doc.Type, types)
	}
	s.plain = len(s.from) == 1 && given == 1 && len(s.ifHas) == 0 && len(s.lacks) == 0 && s.extract == nil && s.values == nil && s.words == nil && s.typ == "" && !s.lower && len(s.unless) == 0
	if doc.Or != nil {
		or := c.source(*doc.Or, kind, join(path, "or"))
		s.or = &or
	}
	return s
}

// kindTime is the kind of what time reads; it is no target of a body.
const kindTime valueKind = -1

func (c *compiler) epochBase(s *source, doc sourceDoc, kind valueKind, path string) {
	base, known := epochBases[doc.Base]
	s.base = base
	c.first = c.first || base == baseFirst
	switch {
	case kind == kindProgress && base == baseFirst && known:
	case kind != kindEpoch && doc.Base != "":
		c.fail(join(path, "base"), "only epochs have a base, and epoch_progress has first")
	case kind != kindEpoch:
	case doc.Base == "" && doc.Value == nil:
		c.fail(path, "say how the framework counts: base: 0, 1, progress, remembered or first")
	case doc.Base != "" && !known:
		c.fail(join(path, "base"), "want 0, 1, progress, remembered or first, got %q", doc.Base)
	case doc.Value != nil:
		s.base = baseZero
	}
}

func (c *compiler) timeSource(doc sourceDoc, path string) source {
	return c.source(doc, kindTime, path)
}

// spreads appends the steps to the rule's groups, one group an object, in the order of the file.
func (c *compiler) spreads(docs []spreadDoc, r *rule, event, path string) {
	for i, doc := range docs {
		at := fmt.Sprintf("%s[%d]", path, i)
		kind, ok := c.spreadKind(doc, event, at)
		if !ok {
			continue
		}
		step := spreadStep{keys: doc.Keys, to: doc.To, as: doc.As, kind: kind, deep: doc.Deep, lower: doc.Lower, lacks: doc.Lacks, unless: doc.Unless}
		if doc.Name != nil || doc.Value != nil {
			c.namedSpread(doc, step, r, at)
			continue
		}
		g := slices.IndexFunc(r.spread, func(g *spreadGroup) bool { return slices.Equal(g.in, doc.In) })
		if g < 0 {
			g = len(r.spread)
			r.spread = append(r.spread, &spreadGroup{id: c.groups, in: doc.In})
			c.groups++
		}
		r.spread[g].steps = append(r.spread[g].steps, step)
		r.spread[g].deep = r.spread[g].deep || doc.Deep
	}
}

// namedSpread is a move of one value by the name that stands beside it.
func (c *compiler) namedSpread(doc spreadDoc, step spreadStep, r *rule, path string) {
	if doc.Name == nil || doc.Value == nil || len(doc.In) > 0 || doc.Deep {
		c.fail(path, "name and value belong together, without in and deep")
		return
	}
	r.named = append(r.named, namedStep{
		name: c.source(*doc.Name, kindString, path+".name"), value: c.source(*doc.Value, step.kind, path+".value"), step: step,
	})
}

func (c *compiler) spreadKind(doc spreadDoc, event, path string) (valueKind, bool) {
	if len(doc.Keys) == 0 {
		c.fail(path+".keys", "is empty; name at least one key or pattern")
	}
	for i := range doc.Keys {
		if err := doc.Keys[i].checkTemplate(doc.As); err != nil {
			c.fail(path+".as", "%v", err)
		}
		if err := doc.Keys[i].checkTemplate(doc.Lacks); err != nil {
			c.fail(path+".lacks", "%v", err)
		}
		if k := &doc.Keys[i]; doc.Lower && (doc.As == "" || !k.star && (k.re == nil || k.re.NumSubexp() == 0)) {
			c.fail(path+".lower", "needs as, and a * or a group in each pattern, whose text it makes small")
		}
	}
	if doc.Lacks != "" && (doc.Deep || doc.Name != nil) {
		c.fail(path+".lacks", "goes with keys of one object, without deep and name")
	}
	if doc.To == trainrecord.BodyFramework {
		if doc.As != "" {
			c.fail(path+".as", "what stays under framework keeps its name")
		}
		return kindAny, true
	}
	kind, ok := openObjects[doc.To]
	if !ok {
		c.fail(path+".to", "%q takes no free names; want measurements, learning_rate, params, versions or framework", doc.To)
		return 0, false
	}
	if n, known := bodyName(doc.To); event != "" && (!known || !carries(n, event)) {
		c.fail(path+".to", "%v", errNotCarried{event: event, key: doc.To, events: n.Events})
		return 0, false
	}
	return kind, true
}
