package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// mistaken is a policy with one of each.
const mistaken = `version: [1]
mode: strict
attribute: {}
attributes:
  deny:
    - normalized: ["__"]
      exact: [1]
      glob: ["a["]
      regex: ["(", "ok"]
      apply_to: [everywhere]
      name: "a b"
    - {exact: [pid], exact: [x]}
  values:
    deny_patterns: [uid]
    action: drop
  allow_values:
    phase:
      values: [train]
      aliases: {val: validation, train: train}
    kind: {registry: nothing}
    empty: {}
  keep_only:
    metrics: {}
metrics:
  otherwise: drop
training: {remove: [k8s.pod.name]}
gauges: {default: median, rules: [{metric: m}, {merge: last}]}
histograms: {rules: [{metric: m, bounds: [1, 1]}, {metric: m, bounds: [a]}]}
exempt: {metrics: {prefix: [x]}}
limits: {series_per_metric: many, values_per_attribute: {phase: 0}}
`

var mistakes = []string{
	`p.yaml: line 1: version: want a single value, got a list`,
	`p.yaml: line 2: mode: want one of enforce, audit, off, got "strict"`,
	`p.yaml: line 3: attribute: unknown key, want one of attributes, exempt, gauges, histograms, limits, metrics, mode, registry, resource, summaries, training, version`,
	`p.yaml: line 6: attributes.deny[0].normalized[0]: want at least one letter or digit, got "__"`,
	`p.yaml: line 7: attributes.deny[0].exact[0]: want text, got "1"; put it in quotes`,
	`p.yaml: line 8: attributes.deny[0].glob[0]: bad glob: [ without ], or a backslash at the end: "a["`,
	"p.yaml: line 9: attributes.deny[0].regex[0]: missing closing ): `(`",
	`p.yaml: line 10: attributes.deny[0].apply_to[0]: want one of resource, scope, datapoint, exemplar, metadata, nested, got "everywhere"`,
	`p.yaml: line 11: attributes.deny[0].name: want at most 64 letters, digits, _ and -, got "a b"`,
	`p.yaml: line 12: attributes.deny[1].exact: the key is there twice`,
	`p.yaml: line 14: attributes.values.deny_patterns[0]: want one of uuid, ulid, hex16, hex32, sha1, sha256, path, url, rfc3339, epoch_seconds, epoch_millis, got "uid"`,
	`p.yaml: line 15: attributes.values.action: want one of drop_attribute, other, got "drop"`,
	`p.yaml: line 19: attributes.allow_values.phase.aliases.train: "train" is in the list of values itself`,
	`p.yaml: line 19: attributes.allow_values.phase.aliases.val: "validation" is not in the list of values`,
	`p.yaml: line 20: attributes.allow_values.kind.registry: want one of`,
	`p.yaml: line 21: attributes.allow_values.empty: want values, or the name of a set of the registry`,
	`p.yaml: line 23: attributes.keep_only.metrics: selects nothing: give exact, prefix, glob or regex`,
	`p.yaml: line 25: metrics.otherwise: drop without metrics.allow would drop every metric`,
	`p.yaml: line 26: training.remove: no effect without training.prefixes`,
	`p.yaml: line 27: gauges.default: want one of last, mean, min, max, sum, drop, got "median"`,
	`p.yaml: line 27: gauges.rules[0]: want merge`,
	`p.yaml: line 27: gauges.rules[1]: want metric: a name, a glob, or a list of them`,
	`p.yaml: line 28: histograms.rules[0].bounds[1]: want finite numbers in rising order, got 1`,
	`p.yaml: line 28: histograms.rules[1].bounds[0]: want a number, got "a"`,
	`p.yaml: line 29: exempt: want a list, got a mapping`,
	`p.yaml: line 30: limits.series_per_metric: want a whole number, got "many"`,
	`p.yaml: line 30: limits.values_per_attribute.phase: want a number from 1 to 10000, got 0`,
}

// TestEveryMistakeIsToldAtOnce holds the errors to their lines and keys.
func TestEveryMistakeIsToldAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Parse("p.yaml", []byte(mistaken))
	require.Error(t, err)
	got := strings.Split(err.Error(), "\n")
	for _, w := range mistakes {
		found := false
		for _, line := range got {
			found = found || strings.HasPrefix(line, w)
		}
		assert.True(t, found, w)
	}
	assert.Len(t, got, len(mistakes), "%s", err)
}

func TestWhatIsNoPolicyIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                "empty: want a policy",
		"# only a comment\n":              "empty: want a policy",
		"a: [":                            "line 1",
		"- 1":                             "want a mapping, got a list",
		"mode: enforce\n---\n{}":          "want one document",
		"mode: enforce\n---\n}{":          "want one document",
		"mode: enforce\n...\n}{":          "want one document",
		"null\n":                          "empty: want a policy",
		"---\n# only a comment\n":         "empty: want a policy",
		"? [a]\n: b":                      "want a word as key",
		"metrics: {allow: {prefix: [a]}}": "metrics.allow: no effect: set metrics.otherwise to drop, or training.prefixes",
		"version: " + strings.Repeat("a", maxSize):             "larger than",
		"attributes: {deny: {}}":                               "attributes.deny: no effect without normalized, exact, glob or regex",
		"attributes: {deny: [{exact: [a]}, {name: b}]}":        "attributes.deny[1]: no effect without normalized, exact, glob or regex",
		"attributes: {values: {}}":                             "attributes.values: no effect without deny_patterns",
		"attributes: {deny: {exact: [a], apply_to: [nested]}}": "attributes.deny.apply_to: no effect: nested is the inside of what is on the other places; name them, too",
		"mode:\n  nested: 1":                                   "mode: want one of enforce, audit, off, got a mapping",
		"exempt: &a\n  - *a":                                   "",
		"limits: {series_per_metric: 1}":                       "limits.series_per_metric: want 2 or more, since the overflow series is one of them, got 1",
		"limits: {series_per_metric: 0}":                       "limits.series_per_metric: want 2 or more, since the overflow series is one of them, got 0",
	} {
		_, err := Parse("", []byte(text))
		require.Error(t, err, text[:min(len(text), 40)])
		assert.Contains(t, err.Error(), want)
	}
}

func TestAnchorsCannotMakeAPolicyLarge(t *testing.T) {
	t.Parallel()
	text := "exempt:\n  - &e\n    metrics: {exact: &k [" + strings.Repeat("a,", 2000) + "a]}\n" + strings.Repeat("  - *e\n", 2000)
	_, err := Parse("", []byte(text))
	require.ErrorContains(t, err, "too much of it")
}

func TestWordsAndNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"mode: off", "mode: 'off'", "mode: OFF\n"} {
		p, err := Parse("", []byte(text))
		if text == "mode: OFF\n" {
			require.Error(t, err)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, Off, p.Mode())
	}
	p, err := Parse("", []byte("mode:\nattributes:\n  deny:\n"))
	require.NoError(t, err, "a key without a value is as if absent")
	assert.Equal(t, Enforce, p.Mode())
}

// TestModesInsideModes: the milder of a rule's mode and that of the whole counts.
func TestModesInsideModes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		whole, rule string
		enforced    bool
		audited     bool
	}{
		{"enforce", "enforce", true, false}, {"enforce", "audit", false, true}, {"enforce", "off", false, false},
		{"audit", "enforce", false, true}, {"audit", "audit", false, true}, {"audit", "off", false, false}, {"off", "enforce", false, false},
	} {
		p, err := Parse("", []byte("mode: "+c.whole+"\nattributes: {deny: {exact: [k], mode: "+c.rule+"}}"))
		require.NoError(t, err)
		enforce, audit := p.Metric("m").Class.Judge(Datapoint, false, "k")
		assert.Equal(t, c.enforced, enforce != nil, "%s in %s", c.rule, c.whole)
		assert.Equal(t, c.audited, audit != nil, "%s in %s", c.rule, c.whole)
	}
}

// TestAPolicyInTheConfigurationIsTheSame compiles the shipped file both ways.
func TestAPolicyInTheConfigurationIsTheSame(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(shippedDir, "training.yaml"))
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, yaml.Unmarshal(text, &m))
	a, err := FromMap(m)
	require.NoError(t, err)
	b, err := Parse("", text)
	require.NoError(t, err)
	assert.Equal(t, b.Rules(), a.Rules())
	assert.Equal(t, b.names.allow.exact, a.names.allow.exact)
	_, err = FromMap(map[string]any{"mode": "x", "y": 1})
	require.ErrorContains(t, err, `mode: want one of enforce, audit, off, got "x"`)
	require.ErrorContains(t, err, "y: unknown key")
	without := map[string]any{"name": "no keys"}
	_, err = FromMap(map[string]any{"attributes": map[string]any{"deny": []any{without, without}}})
	require.ErrorContains(t, err, "attributes.deny[0]: no effect")
	require.ErrorContains(t, err, "attributes.deny[1]: no effect")
	_, err = FromMap(map[string]any{"attributes": map[string]any{"deny": without}})
	require.ErrorContains(t, err, "attributes.deny: no effect")
}

// FuzzParse: no text crashes the parser or keeps it, and what it accepts can judge.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(shippedDir, "*.yaml"))
	require.NoError(f, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte("attributes: {deny: [{regex: ['a{1000}']}], values: {deny_patterns: [uuid]}}"))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("exempt: [{metrics: {glob: ['[!a-]*']}}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Parse("f", text)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		m := p.Metric("tunix.training.loss")
		for at := range Levels {
			m.Class.Judge(at, at%2 == 0, "mlflow.run_id")
			m.Class.Judge(at, false, "phase")
		}
		p.GaugeRule("x")
		p.Bounds("x")
	})
}

func BenchmarkParse(b *testing.B) {
	text, err := os.ReadFile(filepath.Join(shippedDir, "training.yaml"))
	require.NoError(b, err)
	for b.Loop() {
		_, err := Parse("", text)
		require.NoError(b, err)
	}
}
