package cardinalityguardprocessor

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrecord/cputime"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// nest writes a key with its parts as maps inside maps; a part that ends in [] is an array of one map.
func nest(m pcommon.Map, parts []string, value string) {
	for _, part := range parts[:len(parts)-1] {
		if name, list := strings.CutSuffix(part, "[]"); list {
			m = m.PutEmptySlice(name).AppendEmpty().SetEmptyMap()
			continue
		}
		m = m.PutEmptyMap(part)
	}
	m.PutStr(parts[len(parts)-1], value)
}

func TestAConceptMayBeSpreadOverMaps(t *testing.T) {
	t.Parallel()
	for path, rule := range map[string]string{
		"run/id": "run", "run[]/id": "run", "ctx/run/id": "run", "ctx[]/Run/ID": "run", "mlflow/parent/run/id": "run", "a_run/id_x": "run",
		"run.id/x": "run", "global/step": "step", "best/checkpoint/path": "checkpoint", "git/sha": "commit", "patient/ID": "patient",
		strings.ReplaceAll(trainrecord.AttrRunRank, ".", "/"):        "log_only",
		"x/" + strings.ReplaceAll(trainrecord.AttrRunRank, ".", "/"): "log_only",
		"x/y/z/u/v/w/run/id":                       "run",
		strings.Repeat("long", 100) + "_run/id":    "run",
		strings.Repeat("deep/", 5000) + "run[]/id": "run",
		"run/x/id": "", "prune/id": "", "container/image/id": "", "running/id": "", "a/id": "", "runs/id": "", "id/run": "", "run/ids": "",
	} {
		t.Run(path[max(len(path)-40, 0):], func(t *testing.T) {
			t.Parallel()
			for at := range policy.Levels {
				w := newLab(t, 1, policy.Default()).guard.take()
				w.look = w.of("m").lens
				m := pcommon.NewMap()
				nest(m, strings.Split(path, "/"), "v")
				m.PutStr("other", "stays")
				require.Equal(t, rule != "", w.forbiddenIn(m, at))
				require.Equal(t, rule != "", w.scrub(m, at))
				assert.False(t, w.forbiddenIn(m, at), "nothing is left")
				assert.Empty(t, w.path.begins)
				if rule != "" {
					require.Len(t, w.examples, 1)
					assert.Equal(t, rule, w.policy.Rules()[w.examples[0].rule].Reason)
				}
			}
		})
	}
}

func TestRulesOfAPolicyReachIntoMaps(t *testing.T) {
	t.Parallel()
	p := parsed(t, `
attributes:
  deny: [{exact: [app.user], glob: ["tmp.*"]}, {exact: [flat], apply_to: [datapoint]}]
  allow_values: {app.zone: {values: [a], otherwise: other}}
  values: {deny_patterns: [uuid], keys: [app.tag]}
training: {prefixes: [m], remove: [k8s.pod.name]}
exempt: [{metrics: {exact: [kept]}, keep: [run.id]}]
`)
	const id = "0190c0de-0000-7000-8000-000000000001"
	for _, c := range []struct{ metric, path, value, left string }{
		{"m", "app/user", "x", ""}, {"m", "x/app/user", "x", ""}, {"m", "tmp/a", "x", ""}, {"m", "k8s/pod/name", "x", ""}, {"m", "app/flat", "x", "x"},
		{"m", "app/zone", "b", "other"}, {"m", "app/zone", "a", "a"}, {"m", "app/tag", id, ""}, {"m", "other/tag", id, id},
		{"other", "k8s/pod/name", "x", "x"}, {"kept", "run/id", "x", "x"}, {"m", "run/id", "x", ""},
	} {
		w := newLab(t, 1, p).guard.take()
		w.look = w.of(c.metric).lens
		m := pcommon.NewMap()
		parts := strings.Split(c.path, "/")
		nest(m, parts, c.value)
		w.scrub(m, policy.Datapoint)
		for _, part := range parts[:len(parts)-1] {
			v, _ := m.Get(part)
			m = v.Map()
		}
		got, some := m.Get(parts[len(parts)-1])
		assert.Equal(t, c.left != "", some, c)
		if some {
			assert.Equal(t, c.left, got.Str(), c)
		}
	}
}

// TestSeriesWithASplitConceptMerge: what is left of a map is a set, whatever its order was.
func TestSeriesWithASplitConceptMerge(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1, policy.Default())
	l.at(100)
	for i, run := range []string{"a", "b"} {
		md := pmetric.NewMetrics()
		m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
		m.SetName("steps")
		s := m.SetEmptySum()
		s.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		s.SetIsMonotonic(true)
		dp := s.DataPoints().AppendEmpty()
		dp.SetStartTimestamp(10)
		dp.SetTimestamp(pcommon.Timestamp(20 + i))
		dp.SetIntValue(int64(1 + i))
		of := dp.Attributes().PutEmptyMap("run")
		keys := []string{"zone", "kind"}
		of.PutStr(keys[i], "z")
		of.PutStr("id", run)
		of.PutStr(keys[1-i], "z")
		l.feed(t, md)
	}
	l.guard.flush(t.Context(), false)
	points := flatten(l.taken(t))
	require.Len(t, points, 1)
	assert.Equal(t, "Int 3 0 0", points[0].value)
}

// TestAHostileDepthCostsWhatItsSizeDoes: a key in a deep or a long path is not looked at with all that is above it.
func TestAHostileDepthCostsWhatItsSizeDoes(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1, policy.Default())
	m := pcommon.NewMap()
	wide := m.PutEmptyMap(strings.Repeat("k", 1<<20))
	for i := range 20_000 {
		wide.PutInt(strings.Repeat("x", i%50)+string(rune('a'+i%26)), 1)
	}
	at := m.PutEmptyMap("deep")
	for range 20_000 {
		at = at.PutEmptyMap("d")
	}
	w := l.guard.take()
	w.look = w.of("m").lens
	assert.Less(t, cputime.Of(func() { assert.False(t, w.forbiddenIn(m, policy.Datapoint)) }), 10*time.Second)
}
