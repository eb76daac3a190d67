package trainprofile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mistake is a wrong profile and its error.
type mistake struct {
	yaml, want string
	inSchema   bool
}

// fileMistakes are those of the YAML itself.
func fileMistakes() map[string]mistake {
	return map[string]mistake{
		"unknown key": {
			yaml: `profile: x
framework: other
rules: [{name: a, event: step.end, sett: {}}]`,
			want: "profile x.yaml: rules[0].sett: unknown key (line 3); known are name, when, event, phase, continue, closes, beside, remember, header, set, spread", inSchema: true,
		},
		"missing":  {yaml: "framework: other\nrules: [{name: a, event: step.end}]", want: "profile x.yaml: profile: is required", inSchema: true},
		"no rules": {yaml: "profile: x\nframework: other", want: "profile x.yaml: rules: is empty; a profile needs at least one rule, unwrap, attributes or gauges (line 1)", inSchema: true},
		"twice":    {yaml: "profile: x\nprofile: y\nrules: []", want: "profile x.yaml: profile: is given twice (line 2)"},
		"regular expression": {
			yaml: "profile: x\nframework: other\ndetect: {strong: {match: {a: '('}}}\nrules: [{name: a, event: step.end}]",
			want: "profile x.yaml: detect.strong.match.a: regular expression: missing closing ): `(` (line 3)", inSchema: true,
		},
		"pattern": {
			yaml: "profile: x\nframework: other\nrules: [{name: a, event: step.end, when: {like: 'a*b*'}}]",
			want: `profile x.yaml: rules[0].when.like: pattern "a*b*" has more than one *; write a regular expression as /.../ (line 3)`, inSchema: true,
		},
		"alias":        {yaml: "profile: x\nframework: other\nrules: &r [{name: a, event: step.end}]\ntime: *r", want: "profile x.yaml: time: aliases are not supported, write the value out (line 4)"},
		"two profiles": {yaml: "profile: x\n---\nprofile: y", want: "profile x.yaml: holds more than one YAML document; write one profile a file"},
		"empty":        {yaml: "", want: "profile x.yaml: is empty"},
		"no yaml":      {yaml: "profile: [", want: "profile x.yaml: line 1: did not find expected node content"},
		"a list":       {yaml: "- a", want: "profile x.yaml: want a mapping (line 1)"},
		"deep":         {yaml: "profile: x\nframework: other\nrules: [{name: a, event: step.end, when: " + strings.Repeat("{not: ", 30) + "{has: a}" + strings.Repeat("}", 30) + "}]", want: "is nested deeper than 24 levels"},
	}
}

// ruleMistakes are those of a rule as a whole.
func ruleMistakes() map[string]mistake {
	return map[string]mistake{
		"event": {
			yaml:     "profile: x\nframework: other\nrules: [{name: a, event: epoch}]",
			want:     `profile x.yaml: rules[0].event: "epoch" is no event of a trainer; known are`,
			inSchema: true,
		},
		"phase": {
			yaml:     "profile: x\nframework: other\nrules: [{name: a, event: epoch.end, phase: eval}]",
			want:     `profile x.yaml: rules[0].phase: unknown phase "eval"; known are`,
			inSchema: true,
		},
		"framework off the list": {
			yaml:     "profile: x\nrules: [{name: a, event: epoch.end}]",
			want:     `profile x.yaml: framework: "x" is not in the registry; say framework: other, or one of`,
			inSchema: false,
		},
		"template": {
			yaml: "profile: x\nframework: other\nrules: [{name: a, event: step.end, spread: [{keys: 'a_*', to: measurements, as: a}]}]",
			want: `profile x.yaml: rules[0].spread[0].as: "a" has no *, so all keys that "a_*" matches would get one name`,
		},
		"lower": {
			yaml: "profile: x\nframework: other\nrules: [{name: a, event: step.end, spread: [{keys: 'a', lower: true, to: measurements, as: b}]}]",
			want: "profile x.yaml: rules[0].spread[0].lower: needs as, and a * or a group in each pattern, whose text it makes small",
		},
		"lacks": {
			yaml: "profile: x\nframework: other\nrules: [{name: a, event: step.end, spread: [{keys: 'a', lacks: 'a_*', to: measurements}]}]",
			want: `profile x.yaml: rules[0].spread[0].lacks: "a_*" has a *, but the key pattern "a" has none`,
		},
		"lacks of nested keys": {
			yaml: "profile: x\nframework: other\nrules: [{name: a, event: step.end, spread: [{keys: '*', deep: true, lacks: '*_b', to: measurements}]}]",
			want: "profile x.yaml: rules[0].spread[0].lacks: goes with keys of one object, without deep and name",
		},
		"spread target": {
			yaml:     "profile: x\nframework: other\nrules: [{name: a, event: step.end, spread: [{keys: 'a_*', to: durations}]}]",
			want:     `profile x.yaml: rules[0].spread[0].to: "durations" takes no free names; want measurements,`,
			inSchema: true,
		},
		"type": {
			yaml: "profile: x\nframework: other\nrules: [{name: a, event: step.end, when: {all: [{type: {a: int}}]}}]",
			want: `profile x.yaml: rules[0].when.all[0].type.a: unknown type "int"; known are`, inSchema: true,
		},
		"empty condition": {
			yaml: "profile: x\nframework: other\nrules: [{name: a, event: step.end, when: {}}]",
			want: "profile x.yaml: rules[0].when: says nothing; give at least one test", inSchema: true,
		},
		"header":     {yaml: "profile: x\nframework: other\nheader: {host: h}\nrules: [{name: a, event: step.end}]", want: `profile x.yaml: header.host: the header has no key "host"; known are attempt,`, inSchema: true},
		"record key": {yaml: "profile: x\nframework: other\nrecord_keys: [host]\nrules: [{name: a, event: step.end}]", want: `profile x.yaml: record_keys[0]: unknown key "host"; known are run_id,`, inSchema: true},
	}
}

// targetMistakes are those of what a rule sets.
func targetMistakes() map[string]mistake {
	return map[string]mistake{
		"epoch without base": {
			yaml: "profile: x\nframework: other\nrules: [{name: a, event: epoch.end, set: {epoch: epoch}}]",
			want: "profile x.yaml: rules[0].set.epoch: say how the framework counts: base: 0, 1, progress, remembered or first",
		},
		"base of another field": {
			yaml: "profile: x\nframework: other\nrules: [{name: a, event: step.end, set: {step: {from: s, base: 1}}}]",
			want: "profile x.yaml: rules[0].set.step.base: only epochs have a base",
		},
		"wrong base": {
			yaml:     "profile: x\nframework: other\nrules: [{name: a, event: step.end, set: {epoch: {from: s, base: 2}}}]",
			want:     `profile x.yaml: rules[0].set.epoch.base: want 0, 1, progress, remembered or first, got "2"`,
			inSchema: true,
		},
		"body key": {
			yaml:     "profile: x\nframework: other\nrules: [{name: a, event: step.end, set: {epochs: e}}]",
			want:     `profile x.yaml: rules[0].set.epochs: the body has no key "epochs"; known are artifacts,`,
			inSchema: true,
		},
		"not carried": {
			yaml: "profile: x\nframework: other\nrules: [{name: a, event: step.end, set: {best.value: b}}]",
			want: "profile x.yaml: rules[0].set.best.value: the event step.end does not carry best; the events that do are epoch.end",
		},
		"inner key": {
			yaml: "profile: x\nframework: other\nrules: [{name: a, event: epoch.end, set: {durations.epoch_ms: b}}]",
			want: `profile x.yaml: rules[0].set.durations.epoch_ms: durations has no key "epoch_ms"`,
		},
		"two sources": {
			yaml:     "profile: x\nframework: other\nrules: [{name: a, event: step.end, set: {step: {from: s, value: 1}}}]",
			want:     "profile x.yaml: rules[0].set.step: want one of from, like, value, concat and sum",
			inSchema: true,
		},
		"constant of the wrong type": {
			yaml: "profile: x\nframework: other\nrules: [{name: a, event: run.end, set: {outcome: {value: fine}}}]",
			want: "profile x.yaml: rules[0].set.outcome: the constant fine does not fit outcome (off_list)",
		},
		"common that no rule carries": {
			yaml: "profile: x\nframework: other\ncommon: {set: {outcome: o}}\nrules: [{name: a, event: step.end}]",
			want: "profile x.yaml: common.set.outcome: the event step.end does not carry outcome; the events that do are run.end",
		},
		"unit": {yaml: "profile: x\nframework: other\nrules: [{name: a, event: epoch.end, set: {durations.epoch_s: {from: t, unit: hours}}}]", want: `profile x.yaml: rules[0].set.durations.epoch_s.unit: unknown unit "hours"; known are s,`, inSchema: true},
		"list of words": {
			yaml:     "profile: x\nframework: other\nrules: [{name: a, event: run.end, set: {outcome: {from: s, or: {from: t, words: end_reasons}}}}]",
			want:     `profile x.yaml: rules[0].set.outcome.or.words: there is no list "end_reasons"; known are end_message, end_reason, end_status (line 3)`,
			inSchema: true,
		},
		"words and values": {
			yaml: "profile: x\nframework: other\nrules: [{name: a, event: run.end, set: {outcome: {from: s, words: end_reason, values: {a: failed}}}}]",
			want: "profile x.yaml: rules[0].set.outcome.words: a list of words says itself what is found; leave out extract, lower and values (line 3)",
		},
		"words of another field": {
			yaml: "profile: x\nframework: other\nrules: [{name: a, event: run.end, set: {epochs_completed: {from: s, or: {from: t, words: end_status}}}}]",
			want: "profile x.yaml: rules[0].set.epochs_completed.or.words: what end_status stands for does not fit epochs_completed (wrong_type) (line 3)",
		},
		"extract": {yaml: "profile: x\nframework: other\nrules: [{name: a, event: epoch.end, header: {part: {from: t, extract: 'a'}}}]", want: "profile x.yaml: rules[0].header.part.extract: want exactly one group, in parentheses"},
	}
}

// TestMistakesNameFileAndField has for each mistake the profile and the exact error. inSchema tells whether the JSON Schema
// finds it too; the rest needs knowledge of the vocabulary.
func TestMistakesNameFileAndField(t *testing.T) {
	t.Parallel()
	_, schema := readSchema(t)
	for group, mistakes := range map[string]map[string]mistake{"file": fileMistakes(), "rule": ruleMistakes(), "target": targetMistakes()} {
		for name, c := range mistakes {
			t.Run(group+"/"+name, func(t *testing.T) {
				t.Parallel()
				p, err := Parse("x.yaml", []byte(c.yaml))
				require.Error(t, err)
				assert.Nil(t, p)
				assert.Contains(t, err.Error(), c.want)
				if c.inSchema {
					assert.Error(t, schema.Validate(asJSON(t, []byte(c.yaml))), "the schema finds it too")
				}
			})
		}
	}
}

func TestEveryMistakeIsReported(t *testing.T) {
	t.Parallel()
	_, err := Parse("x.yaml", []byte("profile: X\nframework: other\nrules: [{name: a, event: nope}, {name: a, event: step.end, phase: nope}]"))
	require.Error(t, err)
	assert.Len(t, strings.Split(err.Error(), "\n"), 4)
}

func TestSetOrdersAndOverrides(t *testing.T) {
	t.Parallel()
	parse := func(name, more string) *Profile {
		p, err := Parse(name+".yaml", []byte("profile: "+name+"\nframework: other\n"+more+"\nrules: [{name: a, event: step.end}]"))
		require.NoError(t, err)
		return p
	}
	a, b, newer := parse("a", "order: 900"), parse("b", ""), parse("b", "order: 901")
	set, err := NewSet("", a, b)
	require.NoError(t, err)
	assert.Equal(t, []*Profile{b, a}, set.profiles)
	set, err = NewSet("other", a, b, newer)
	require.NoError(t, err)
	assert.Equal(t, []*Profile{a, newer}, set.profiles)
	assert.Equal(t, []string{"a", "b"}, set.Names())
	_, err = NewSet("c", a)
	assert.EqualError(t, err, `no profile is called "c"; known are a`)
}
