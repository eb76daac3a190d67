package trainrecord

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// constants gives the values of names.go's string constants by the prefix of their Go name, without the namespace.
func constants(t *testing.T) map[string][]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, 0)
	require.NoError(t, err)
	found := map[string][]string{}
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		for _, spec := range gen.Specs {
			vs := spec.(*ast.ValueSpec)
			value, ok := literal(vs.Values[0])
			for _, prefix := range []string{"Event", "Attr", "Key", "Body", "Inner", "Phase", "Outcome", "Reason", "Metric", "Duration", "State", "TimeFrom", "Stream"} {
				if rest, has := strings.CutPrefix(vs.Names[0].Name, prefix); ok && has && rest != "" {
					found[prefix] = append(found[prefix], strings.TrimPrefix(value, "."))
				}
			}
		}
	}
	return found
}

// literal gives a constant's text: a string literal, or the literal that is added to Namespace.
func literal(e ast.Expr) (string, bool) {
	if sum, ok := e.(*ast.BinaryExpr); ok {
		e = sum.Y
	}
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

func TestConstantsAndRegistryAgree(t *testing.T) {
	t.Parallel()
	r := Load()
	assert.Equal(t, Namespace, r.Namespace)
	assert.Equal(t, Schema, r.Schema)
	assert.Equal(t, SchemaURL, r.SchemaURL)
	assert.Equal(t, SchemaVersion, strconv.Itoa(r.Version))
	byKind := map[string][]string{}
	for _, n := range r.Names {
		byKind[n.Kind] = append(byKind[n.Kind], n.Name)
		assert.NotEmpty(t, n.Meaning, n.Name)
		assert.NotEmpty(t, n.Signals, n.Name)
		if n.Values != "" {
			assert.Contains(t, r.Values, n.Values, n.Name)
		}
		for _, e := range n.Events {
			assert.Contains(t, r.Values["event"], e, n.Name)
		}
	}
	got := constants(t)
	inner := map[string]bool{}
	for _, n := range r.Names {
		for key := range n.Keys {
			inner[key] = true
		}
	}
	assert.NotEmpty(t, got["Inner"])
	for _, key := range got["Inner"] {
		assert.True(t, inner[key], "no object of the registry has a key %s", key)
		assert.NotContains(t, byKind[KindBody], key)
	}
	assert.ElementsMatch(t, byKind[KindEvent], got["Event"])
	assert.ElementsMatch(t, r.Values["event"], got["Event"])
	assert.ElementsMatch(t, byKind[KindRecord], got["Key"])
	assert.ElementsMatch(t, append(byKind[KindBody], BodyFramework), got["Body"])
	semconv := []string{AttrLogFilePath, AttrLogFileName, AttrLogFileRecordOffset, AttrLogRecordUID, AttrHostName}
	assert.ElementsMatch(t, append(byKind[KindAttribute], semconv...), got["Attr"])
	assert.ElementsMatch(t, r.Values["phase"], append(got["Phase"], Other))
	assert.ElementsMatch(t, byKind[KindMetric], got["Metric"])
	assert.ElementsMatch(t, r.Values["run_state"], got["State"])
	assert.ElementsMatch(t, r.Values["time_source"], got["TimeFrom"])
	assert.ElementsMatch(t, r.Values["stream_state"], got["Stream"])
	for _, key := range got["Duration"] {
		assert.True(t, inner[key], "no object of the registry has a key %s", key)
	}
	assert.Subset(t, r.Values["result_outcome"], got["Outcome"])
	assert.Subset(t, got["Outcome"], r.Values["reported_outcome"])
	assert.ElementsMatch(t, r.Values["record_error"], got["Reason"])
	for _, name := range append([]string{"NOTICE", "SUCCESS", "WARNING", "CRITICAL"}, r.Values["severity"]...) {
		_, known := severityNumber(name)
		assert.True(t, known, name)
		_, text := severity(name)
		assert.Contains(t, r.Values["severity"], text)
	}
}

func TestTheRegistryHasNoUnknownKey(t *testing.T) {
	t.Parallel()
	dec := yaml.NewDecoder(strings.NewReader(string(registryYAML)))
	dec.KnownFields(true)
	require.NoError(t, dec.Decode(&Registry{}))
}

func TestNoNameIsTwiceInAKind(t *testing.T) {
	t.Parallel()
	seen := map[[2]string]bool{}
	for _, n := range Load().Names {
		assert.False(t, seen[[2]string{n.Kind, n.Name}], n.Name)
		seen[[2]string{n.Kind, n.Name}] = true
	}
}

func TestForbiddenOnMetrics(t *testing.T) {
	t.Parallel()
	keys := Load().ForbiddenKeys()
	for _, k := range []string{AttrRunID, AttrRunAttempt, AttrRunRank, AttrRunPart, AttrEpochCurrent, AttrEpochPlanned, AttrRecordSampled} {
		assert.Contains(t, keys, k)
	}
	for _, k := range []string{AttrFramework, AttrPhase, AttrTaskFamily, AttrRunOutcome} {
		assert.NotContains(t, keys, k)
	}
	assert.True(t, slices.IsSorted(keys))
	patterns := Load().ForbiddenPatterns()
	assert.Contains(t, patterns, Pattern{Concept: "run", Tokens: "run_id"})
	assert.Contains(t, patterns, Pattern{Concept: "patient", Tokens: "patient_id"})
}

// TestNamesAreSpelledInTheRegistryOnly walks the repository: outside this module no Go file spells a name of the
// vocabulary, tests excepted.
func TestNamesAreSpelledInTheRegistryOnly(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{".git", "build", "dist", ".venv", "trainrecord"}, d.Name()) {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, filepath.Join(root, "test")) {
			return nil
		}
		b, err := os.ReadFile(path)
		assert.NotContains(t, string(b), `"`+Namespace+`.`, path)
		return err
	})
	require.NoError(t, err)
}

// TestIntegersOfTheBodyHaveARange holds the ranges to their constants.
func TestIntegersOfTheBodyHaveARange(t *testing.T) {
	t.Parallel()
	r, epochs := Load(), 0
	check := func(where string, n Name) {
		require.NotNil(t, n.Minimum, where)
		require.NotNil(t, n.Maximum, where)
		assert.Zero(t, *n.Minimum, where)
		want := int64(MaxCount)
		switch n.Name {
		case BodyEpoch, BodyPlannedEpochs, BodyEpochsCompleted:
			epochs++
			want = MaxEpochs
		case BodySize, BodyBytesBehind:
			want = MaxSize
		default:
		}
		assert.Equal(t, want, *n.Maximum, where)
	}
	for _, n := range r.Names {
		if n.Kind != KindBody {
			continue
		}
		if n.Type == "int" {
			check(n.Name, n)
		}
		for key, kind := range n.Keys {
			inner, known := r.Inner(n, key)
			assert.Equal(t, key != AnyKey, known, key)
			if kind == "int" {
				check(n.Name+"."+key, inner)
			}
			if key == InnerMode {
				assert.Equal(t, []string{"mode", "true"}, []string{inner.Values, strconv.FormatBool(inner.Closed)})
			}
		}
	}
	assert.Equal(t, 6, epochs)
	_, known := r.Inner(Name{Keys: map[string]string{"a": "int"}}, "b")
	assert.False(t, known)
}
