package resultfile

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

var update = flag.Bool("update", false, "rewrite the golden run directories")

var options = Options{MaxPoints: 1000}

var ended = Verdict{Final: true, Outcome: "success", From: "end"}

// checkSchema holds a result.json to the schema that is shipped.
func checkSchema(t *testing.T, result []byte) {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("../../result.schema.json")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(result))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(doc), "%s", result)
	assert.NotContains(t, string(result), "null,")
	assert.LessOrEqual(t, len(result), maxResultSize)
}

func byName(files []File) map[string]string {
	out := map[string]string{}
	for _, f := range files {
		out[f.Name] = string(f.Bytes)
	}
	return out
}

func TestGoldenRunDirectories(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		state   *trainrun.State
		verdict Verdict
	}{
		"full":    {fullState(), ended},
		"empty":   {&trainrun.State{RunID: "e", Records: trainrun.Records{Count: 1, ByEvent: []trainrun.EventCount{{Event: "run.start", Count: 1}}}}, Verdict{Final: true, Provisional: true, Outcome: "stalled", From: "silence"}},
		"running": {&trainrun.State{RunID: "r", Series: []trainrun.Series{curve("", "loss", 1)}}, Verdict{Provisional: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := Render(tc.state, tc.verdict, options)
			got := byName(files)
			checkSchema(t, []byte(got[ResultName]))
			dir := filepath.Join("testdata", name)
			if *update {
				require.NoError(t, os.RemoveAll(dir))
				for n, text := range got {
					p := filepath.Join(dir, filepath.FromSlash(n))
					require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
					require.NoError(t, os.WriteFile(p, []byte(text), 0o644))
				}
			}
			assert.Equal(t, readTree(t, dir), got)
		})
	}
}

func readTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(text)
		return err
	}))
	return out
}

func TestManifestListsEveryOtherFileAndComesLast(t *testing.T) {
	t.Parallel()
	files := Render(fullState(), ended, Options{MaxPoints: 1000, FullFidelity: true})
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	require.Equal(t, []string{ParamsName, MetricsName, DVCName, ResultName}, names[len(names)-4:])
	var result struct {
		Files map[string]struct {
			Size   int
			SHA256 string
		}
	}
	require.NoError(t, json.Unmarshal(files[len(files)-1].Bytes, &result))
	require.Len(t, result.Files, len(files)-1)
	for _, f := range files[:len(files)-1] {
		sum := sha256.Sum256(f.Bytes)
		assert.Equal(t, hex.EncodeToString(sum[:]), result.Files[f.Name].SHA256, f.Name)
		assert.Len(t, f.Bytes, result.Files[f.Name].Size, f.Name)
	}
	assert.True(t, slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, FullSuffix) }))
}

func TestFullFidelityKeepsEveryPoint(t *testing.T) {
	t.Parallel()
	values := make([]float64, 5000)
	for i := range values {
		values[i] = math.Sin(float64(i) / 50)
	}
	values[1234] = 99
	st := &trainrun.State{RunID: "r", Series: []trainrun.Series{curve("", "loss", values...)}}
	got := byName(Render(st, ended, Options{MaxPoints: 100, FullFidelity: true}))
	rows := strings.Count(got["plots/metrics/loss.tsv"], "\n") - 1
	assert.LessOrEqual(t, rows, 100)
	assert.GreaterOrEqual(t, rows, 97)
	assert.Contains(t, got["plots/metrics/loss.tsv"], "\n1234\t99.0\n")
	r, err := gzip.NewReader(strings.NewReader(got["plots/full/loss.tsv.gz"]))
	require.NoError(t, err)
	assert.True(t, r.ModTime.IsZero())
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, 5001, bytes.Count(text, []byte("\n")))
}

func TestNamesOfPartsAndAxesStayApart(t *testing.T) {
	t.Parallel()
	shared := curve("", "loss", 3)
	shared.Axis, shared.Shared = trainrun.AxisStep, true
	st := &trainrun.State{RunID: "r", Series: []trainrun.Series{
		curve("", "a/b/loss", 1), curve("", "loss", 2), shared, curve("", "loss_step", 4), curve("a", "b/loss", 5), curve("a/b", "loss", 6),
	}}
	list := listMetrics(st)
	names := map[string]float64{}
	for _, m := range list {
		names[m.name] = m.value()
	}
	assert.Equal(t, map[string]float64{
		"a/b/loss": 1, "loss": 2, "loss_step": 3,
		"loss_step-" + hash("\x00loss_step\x00", 8): 4,
		"a/b/loss-" + hash("a\x00b/loss\x00", 8):    5,
		"a/b/loss-" + hash("a/b\x00loss\x00", 8):    6,
	}, names)
}

func TestLimitsAreListedAndNeverFail(t *testing.T) {
	t.Parallel()
	st := fullState()
	st.Series = nil
	for i := range 1500 {
		st.Series = append(st.Series, curve("", fmt.Sprintf("m%04d/%[2]s/%[2]s/%[2]s", i, strings.Repeat("x", 90)), 1, 2))
	}
	st.Series = append(st.Series, curve("", "zz/objective", 1, 0.5, 2))
	st.Objective = &trainrun.Objective{Metric: "zz/objective", Mode: "min"}
	st.Best = &trainrun.Best{Metric: "zz/objective", Mode: "min", Value: 0.5, X: 1}
	st.Params = map[string]any{"z": int64(1), "a_long": strings.Repeat("é", 2000), "\x00" + strings.Repeat("k", 1000): true}
	big := map[string]any{}
	for i := range 5000 {
		big[fmt.Sprintf("p%04d", i)] = strings.Repeat("v", 100)
	}
	st.Params.(map[string]any)["big"] = big
	for i := range 40 {
		st.Failures = append(st.Failures, trainrun.Failure{Attempt: 1, Type: fmt.Sprint("E", i), Message: strings.Repeat("m", 9000), Stack: strings.Repeat("s", 9000)})
		st.Artifacts = append(st.Artifacts, trainrun.Artifact{Role: "r", Path: fmt.Sprint("a", i)}, trainrun.Artifact{Role: "q", Path: fmt.Sprint("a", i)})
	}
	files := Render(st, ended, options)
	got := byName(files)
	checkSchema(t, []byte(got[ResultName]))
	assert.LessOrEqual(t, len(got[MetricsName]), maxMetricsSize)
	assert.Greater(t, len(got[MetricsName]), maxMetricsSize/2, "more was left out than had to be")
	assert.LessOrEqual(t, len(got[ParamsName]), maxParamsSize)
	assert.Greater(t, len(got[ParamsName]), maxParamsSize*3/4)
	assert.Contains(t, got[MetricsName], `"objective": 2.0`, "the objective's metric must be the last to go")
	assert.Contains(t, got, "plots/metrics/zz/objective.tsv")
	plots := 0
	for name := range got {
		if strings.HasPrefix(name, PlotsDir) {
			plots++
		}
	}
	assert.Equal(t, maxPlots, plots)

	var result struct {
		Truncated map[string]struct{ Count int }
		Failures  []struct{ Message string }
		Artifacts []any
		Metrics   map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(got[ResultName]), &result))
	for _, what := range []string{"metrics", "plots", "params", "param_texts", "result_failures", "result_artifacts", "state_identities"} {
		assert.Positive(t, result.Truncated[what].Count, what)
	}
	assert.Equal(t, 1503, len(result.Metrics)+result.Truncated["metrics"].Count+result.Truncated["result_metrics"].Count)
	assert.Contains(t, result.Metrics, "zz/objective")
	assert.LessOrEqual(t, len(result.Failures), maxFailures)
	assert.LessOrEqual(t, len(result.Failures[0].Message), maxText)
	assert.LessOrEqual(t, len(result.Artifacts), maxArtifacts)
	assert.Equal(t, files, Render(st, ended, options), "the choice must not vary")
}

func TestResultWithMoreRecordsIsBetter(t *testing.T) {
	t.Parallel()
	render := func(attempt, count int64) []byte {
		st := &trainrun.State{RunID: "r", Attempt: attempt, Records: trainrun.Records{Count: count}}
		for n := int64(1); n <= attempt; n++ {
			st.Attempts = append(st.Attempts, trainrun.Attempt{Number: n})
		}
		files := Render(st, ended, options)
		return files[len(files)-1].Bytes
	}
	st := &trainrun.State{RunID: "r", Attempt: 2, Records: trainrun.Records{Count: 10}}
	assert.True(t, IsBetter(render(2, 11), st, 0))
	assert.True(t, IsBetter(render(3, 1), st, 0))
	assert.False(t, IsBetter(render(2, 10), st, 0))
	assert.False(t, IsBetter(render(3, 10), st, 3), "an attempt that this collector has told itself, and that is none")
	assert.True(t, IsBetter(render(3, 11), st, 3))
	assert.True(t, IsBetter(render(4, 1), st, 3))
	assert.False(t, IsBetter(render(1, 99), st, 0), "an older attempt")
	assert.False(t, IsBetter(nil, st, 0))
	assert.False(t, IsBetter([]byte(`{"schema":"train-result/1","run_id":"r","records":{"count":99`), st, 0), "a torn file of somebody else")
	assert.False(t, IsBetter(bytes.Replace(render(2, 99), []byte(`"r"`), []byte(`"other"`), 1), st, 0))
}

// What was told of the same records with more certainty stays; anything else that the records say is news.
func TestAResultOfTheSameRecordsMayBeSurer(t *testing.T) {
	t.Parallel()
	verdicts := []Verdict{ // by what they are sure of
		{Provisional: true},
		{Final: true, Provisional: true, Outcome: "unknown", From: FromRestart},
		{Final: true, Provisional: true, Outcome: "stalled", From: "silence"},
	}
	options := options
	options.Report = true
	render := func(st trainrun.State, v Verdict) []byte {
		files := Render(&st, v, options)
		return files[len(files)-1].Bytes
	}
	st := trainrun.State{RunID: "r", Attempt: 2, Records: trainrun.Records{Count: 10}}
	other := st
	other.LastRecordAt = 1e9
	for i, disk := range verdicts {
		for j, v := range verdicts {
			assert.Equal(t, i > j, IsSurer(render(st, disk), render(st, v), v), "%v over %v", v, disk)
			assert.False(t, IsSurer(render(other, disk), render(st, v), v))
		}
	}
	for _, v := range []Verdict{ended, {Final: true, Outcome: "failed", From: "failure"}} {
		assert.True(t, IsSurer(render(st, v), render(st, verdicts[0]), verdicts[0]))
		assert.False(t, IsSurer(render(st, v), render(st, verdicts[2]), verdicts[2]), "both are final")
	}
	assert.False(t, IsSurer(nil, render(st, verdicts[0]), verdicts[0]))
	assert.False(t, IsSurer(render(st, ended)[:99], render(st, verdicts[0]), verdicts[0]), "a torn file of somebody else")
}

// A result from before a conflict was known, or from when other records were taken for the host's, may have more records than
// the host has: only one that has more than all hosts together is better.
func TestAResultFromBeforeAConflictIsNotBetter(t *testing.T) {
	t.Parallel()
	render := func(count int64, c *trainrun.Conflict) []byte {
		files := Render(&trainrun.State{RunID: "r", Records: trainrun.Records{Count: count}, Conflict: c}, ended, options)
		return files[len(files)-1].Bytes
	}
	of := func(host string) *trainrun.Conflict {
		return &trainrun.Conflict{Hosts: []trainrun.HostSpan{{Host: "a"}, {Host: "b"}}, Host: host, Attempt: 1, Records: 15}
	}
	st := &trainrun.State{RunID: "r", Attempt: 1, Records: trainrun.Records{Count: 10}, Conflict: of("a")}
	for _, old := range [][]byte{render(15, nil), render(14, of("a")), render(14, of("b"))} {
		assert.False(t, IsBetter(old, st, 0))
	}
	assert.True(t, IsBetter(render(16, nil), st, 0))
	assert.True(t, IsBetter(render(16, of("a")), st, 0))
	alone := &trainrun.State{RunID: "r", Attempt: 1, Records: trainrun.Records{Count: 10}}
	assert.True(t, IsBetter(render(10, of("a")), alone, 0), "the other host's records were not seen yet")
	assert.False(t, IsBetter(render(9, of("a")), alone, 0))
	assert.False(t, IsOther(render(1, nil), "r"))
	assert.True(t, IsOther(render(1, nil), "s"))
	assert.False(t, IsOther([]byte("{"), "s"))
}
