package cardinalityguardprocessor

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrecord/cputime"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// strict has a rule of every kind.
const strict = `
training: {prefixes: [train.], remove: [k8s.pod.name]}
metrics: {allow: {exact: [train.a]}}
attributes:
  deny:
    - {normalized: [user_name], exact: [pid], glob: ["tmp_*"], regex: ["x[0-9]+"]}
    - {exact: [shadow], mode: audit}
  values:
    - {deny_patterns: [uuid, path, epoch_seconds]}
    - {deny_patterns: [hex16], action: other, metrics: {prefix: [app.]}}
  allow_values:
    phase: {values: [train, validation], aliases: {val: validation}}
    fold: {values: [0, 1], otherwise: drop_attribute, metrics: {prefix: [train.]}}
    model: {values: [dqn], otherwise: drop_point}
  keep_only: {metrics: {prefix: [train.]}, keys: [phase, fold, model, ctx, list]}
resource: {keep: [host.id], deny: [rack]}
exempt:
  - {metrics: {prefix: [gpu.]}, keep: [UUID], writer: single}
limits: {values_per_attribute: {colour: 2}}
`

var (
	someUUID = "8b2281de-6d3c-42ed-8ec8-d3b864870b8b"
	someKeys = []string{
		"run_id", "mlflow.runId", "epoch", "userName", "pid", "tmp_1", "x12", "shadow", "phase", "fold", "model", "colour", "UUID", "host.id", "rack", "k8s.pod.name", "k8s_pod_name", "ok", "session",
		"run", "id", "user", "name",
	}
	someValues = []string{
		"a", "train", "val", "validation", "other", "_OTHER", "dqn", "0", someUUID, strings.Replace(someUUID, "8b", "9c", 1), "/srv/x", "1800000000", "00f067aa0ba902b7", "red", "green", "blue",
	}
)

func drawMap(t *rapid.T, m pcommon.Map, depth int) {
	for i := range rapid.IntRange(0, 5).Draw(t, "keys") {
		key := rapid.SampledFrom(someKeys).Draw(t, fmt.Sprint("key ", i))
		drawValue(t, m.PutEmpty(key), depth)
	}
}

func drawValue(t *rapid.T, v pcommon.Value, depth int) {
	switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
	case kind == 0:
		v.SetInt(rapid.Int64Range(0, 3).Draw(t, "int"))
	case kind == 1 && depth > 0:
		drawMap(t, v.SetEmptyMap(), depth-1)
	case kind == 2 && depth > 0:
		list := v.SetEmptySlice()
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			drawValue(t, list.AppendEmpty(), depth-1)
		}
	default:
		v.SetStr(rapid.SampledFrom(someValues).Draw(t, "value"))
	}
}

func drawBatch(t *rapid.T) pmetric.Metrics {
	md := pmetric.NewMetrics()
	for range rapid.IntRange(1, 2).Draw(t, "resources") {
		rm := md.ResourceMetrics().AppendEmpty()
		drawMap(t, rm.Resource().Attributes(), 2)
		ref := entity.ResourceEntityRefs(rm.Resource()).AppendEmpty()
		ref.SetType("x")
		ids := []string{"run_id", "epoch", "pid", "rack", "userName", "ok"}
		for key := range rm.Resource().Attributes().All() {
			ids = append(ids, key)
		}
		ref.IdKeys().Append(rapid.SampledFrom(ids).Draw(t, "id"), "ok")
		sm := rm.ScopeMetrics().AppendEmpty()
		drawMap(t, sm.Scope().Attributes(), 1)
		for range rapid.IntRange(1, 4).Draw(t, "metrics") {
			m := sm.Metrics().AppendEmpty()
			m.SetName(rapid.SampledFrom([]string{"train.a", "train.b", "app.a", "gpu.a", "loss_epoch_12"}).Draw(t, "name"))
			drawMap(t, m.Metadata(), 1)
			sum := m.SetEmptySum()
			sum.SetIsMonotonic(true)
			sum.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
			for i := range rapid.IntRange(0, 3).Draw(t, "points") {
				p := sum.DataPoints().AppendEmpty()
				p.SetIntValue(1)
				p.SetStartTimestamp(10)
				p.SetTimestamp(pcommon.Timestamp(20 + i))
				drawMap(t, p.Attributes(), 2)
				drawMap(t, p.Exemplars().AppendEmpty().FilteredAttributes(), 1)
			}
		}
	}
	return md
}

// everyMap visits each set of attributes, and the name of the metric it is for; of a resource or a scope, once for each of its metrics.
func everyMap(md pmetric.Metrics, visit func(metric string, at policy.Level, m pcommon.Map)) {
	for _, rm := range md.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				visit(m.Name(), policy.Resource, rm.Resource().Attributes())
				visit(m.Name(), policy.Scope, sm.Scope().Attributes())
				visit(m.Name(), policy.Metadata, m.Metadata())
				for _, p := range numbers(m).All() {
					visit(m.Name(), policy.Datapoint, p.Attributes())
					for _, e := range p.Exemplars().All() {
						visit(m.Name(), policy.Exemplar, e.FilteredAttributes())
					}
				}
			}
		}
	}
}

// deny says, by hand, why an attribute may not be there. It knows the policy above and nothing of the code under test.
func deny(metric string, at policy.Level, above, key string, v pcommon.Value) string {
	if strings.HasPrefix(metric, "gpu.") && key == "UUID" {
		return ""
	}
	plain := strings.ToLower(strings.NewReplacer("_", "", ".", "").Replace(above + key))
	for _, word := range []string{"runid", "epoch", "username"} {
		if strings.Contains(plain, word) {
			return word
		}
	}
	training := strings.HasPrefix(metric, "train.")
	switch {
	case key == "pid", strings.HasPrefix(key, "tmp_"), key == "x12":
		return "deny"
	case at == policy.Resource && key == "rack":
		return "rack"
	case training && strings.HasSuffix(plain, "k8spodname"):
		return "workload"
	case training && at == policy.Datapoint && above == "" && key != "phase" && key != "fold" && key != "model" && key != "ctx" && key != "list":
		return "keep only"
	}
	text := v.AsString()
	word := text == "other" || text == "_OTHER"
	if key == "phase" && !word && text != "train" && text != "validation" {
		return "phase"
	}
	if key == "model" && !word && text != "dqn" {
		return "model"
	}
	if key == "fold" && training && !word && text != "0" && text != "1" {
		return "fold"
	}
	bounded := key == "phase" || key == "model" || key == "fold" && training
	kept := at == policy.Resource && key == "host.id"
	if v.Type() == pcommon.ValueTypeStr && !kept {
		if len(text) == 36 || strings.HasPrefix(text, "/") || text == "1800000000" && !bounded {
			return "shape"
		}
		if strings.HasPrefix(metric, "app.") && len(text) == 16 {
			return "hex"
		}
	}
	return ""
}

func search(metric string, at policy.Level, above string, m pcommon.Map, colours map[string]bool) string {
	for key, v := range m.All() {
		if why := deny(metric, at, above, key, v); why != "" {
			return fmt.Sprintf("%s: %s on a level %d of %s: %q", why, key, at, metric, v.AsString())
		}
		if key == "colour" && v.AsString() != "other" && v.AsString() != "_OTHER" {
			colours[v.AsString()] = true
		}
		if why := searchIn(metric, at, above, key, v, colours); why != "" {
			return why
		}
	}
	return ""
}

func searchIn(metric string, at policy.Level, above, key string, v pcommon.Value, colours map[string]bool) string {
	switch v.Type() {
	case pcommon.ValueTypeMap:
		return search(metric, at, above+key+".", v.Map(), colours)
	case pcommon.ValueTypeSlice:
		for _, e := range v.Slice().All() {
			if why := deny(metric, at, above, key, e); why != "" && e.Type() == pcommon.ValueTypeStr && (why == "shape" || why == "hex") {
				return fmt.Sprintf("%s: element of %s of %s: %q", why, key, metric, e.AsString())
			}
			if why := searchIn(metric, at, above, key, e, colours); why != "" {
				return why
			}
		}
	}
	return ""
}

// TestNothingForbiddenGetsThroughAndASecondGuardFindsNothing: no denied key, value or name anywhere; the output guarded again does not change
// and hits no rule; a survey of it finds nothing that is enforced.
func TestNothingForbiddenGetsThroughAndASecondGuardFindsNothing(t *testing.T) {
	property(t, func(rt *rapid.T) {
		p, err := policy.Parse("", []byte(strict))
		require.NoError(rt, err)
		l := newLab(rt, 1, p)
		l.at(1000)
		l.feed(rt, drawBatch(rt))
		l.guard.flush(t.Context(), false)
		out := l.taken(rt)
		colours := map[string]bool{}
		everyMap(out, func(metric string, at policy.Level, m pcommon.Map) {
			require.Empty(rt, search(metric, at, "", m, colours))
			require.NotEqual(rt, "train.b", metric)
			require.NotEqual(rt, "loss_epoch_12", metric)
		})
		require.LessOrEqual(rt, len(colours), 2)
		for _, rm := range out.ResourceMetrics().All() {
			refs := entity.ResourceEntityRefs(rm.Resource())
			for i := range refs.Len() {
				for _, key := range refs.At(i).IdKeys().All() {
					require.NotContains(rt, []string{"run_id", "epoch", "pid", "rack", "userName"}, key)
				}
			}
		}

		w := l.guard.take()
		again := clone(out)
		w.scan(again)
		require.False(rt, w.plan.dirty, "%v", w.plan)
		require.Equal(rt, flatten(out), flatten(again))
		w.tally = map[change]int64{}
		w.survey(again)
		for c := range w.tally {
			require.True(rt, w.policy.Rules()[c.rule].Audit, "%v", c)
		}
	})
}

// TestASurveyFindsWhatTheGuardDoes: the rules that a survey names are those that the guard counts.
func TestASurveyFindsWhatTheGuardDoes(t *testing.T) {
	property(t, func(rt *rapid.T) {
		p, err := policy.Parse("", []byte(strict))
		require.NoError(rt, err)
		l := newLab(rt, 1, p)
		md := drawBatch(rt)
		w := l.guard.take()
		w.tally = map[change]int64{}
		before := marshal(rt, md)
		w.survey(md)
		require.Equal(rt, before, marshal(rt, md), "a survey changes nothing")
		found := map[policy.RuleID]bool{}
		for c := range w.tally {
			found[c.rule] = true
		}
		w.counts.reset()
		w.guard(md, 1000)
		for at := range w.counts.removed {
			for rule := range w.counts.removed[at] {
				if w.counts.removed[at][rule]+w.counts.replaced[at][rule] > 0 && !found[policy.RuleID(rule)] {
					// A resource without points has nothing to tell, and a reference is no attribute.
					require.True(rt, at == int(policy.Resource) || at == int(policy.Scope) || at == int(policy.Metadata), "%s on %d", p.Rules()[rule].Reason, at)
				}
			}
		}
	})
}

// TestHostileKeysAndValuesDoNotFillTheMemory feeds names, keys and values that never repeat.
func TestHostileKeysAndValuesDoNotFillTheMemory(t *testing.T) {
	t.Parallel()
	p, err := policy.Parse("", []byte(strict+"gauges: {default: last}\n"))
	require.NoError(t, err)
	w := newLab(t, 1, p).guard.take()
	for i := range 2 * cacheKeys {
		md := gaugeBatch(fmt.Sprintf("%sm%c%d", []string{"app.", "train.", "gpu.", ""}[i%4], 'a'+i%26, i/26), fmt.Sprintf("key-%d%s", i, strings.Repeat("k", i%300)), fmt.Sprint("value-", i))
		md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0).Attributes().PutStr("colour", fmt.Sprint(i))
		w.scan(md)
		require.LessOrEqual(t, len(w.names), cacheEntries)
		require.LessOrEqual(t, len(w.lenses), maxLenses)
		entries := 0
		for _, l := range w.lenses {
			for at := range l.keys {
				entries += len(l.keys[at][0]) + len(l.keys[at][1])
			}
		}
		require.LessOrEqual(t, entries, cacheKeys)
	}
}

// TestAKeyOfManyWordsIsJudgedInProportionToItsLength: a megabyte of words, which no cache remembers.
func TestAKeyOfManyWordsIsJudgedInProportionToItsLength(t *testing.T) {
	t.Parallel()
	p, err := policy.Parse("", []byte(strict))
	require.NoError(t, err)
	class := p.Metric("app.m").Class
	require.Less(t, cputime.Of(func() {
		enforce, _ := class.Judge(policy.Datapoint, false, strings.Repeat("a.", 1<<19))
		require.NotNil(t, enforce, "its values are looked at")
		require.Zero(t, enforce.Key())
		enforce, _ = class.Judge(policy.Datapoint, false, strings.Repeat("run.", 1<<18)+"id")
		require.NotZero(t, enforce.Key())
		p.Metric(strings.Repeat("epoch_", 1<<17))
	}), 20*time.Second)
}

// TestUntouchedPointsCostNoAllocationUnderTheShippedPolicy: lists, shapes and selectors are looked at for every value.
func TestUntouchedPointsCostNoAllocationUnderTheShippedPolicy(t *testing.T) {
	p := readPolicy(t, "training.yaml")
	w := newLab(t, 1, p).guard.take()
	md := benchBatch("gauge", []string{"a", "b", "c"}, 1)
	w.guard(md, 100)
	require.Zero(t, testing.AllocsPerRun(5, func() { w.guard(md, 100) }))
}

// BenchmarkUntouchedUnderTheShippedPolicy is held against BenchmarkPlainDelete too.
func BenchmarkUntouchedUnderTheShippedPolicy(b *testing.B) {
	w := newLab(b, 1, readPolicy(b, "training.yaml")).guard.take()
	md := benchBatch("gauge", []string{"a", "b", "c"}, 1)
	b.ReportAllocs()
	for b.Loop() {
		w.guard(md, 100)
	}
	perPoint(b)
}

func readPolicy(t testing.TB, name string) *policy.Policy {
	t.Helper()
	text, err := os.ReadFile("../../config/policy/" + name)
	require.NoError(t, err)
	p, err := policy.Parse(name, text)
	require.NoError(t, err)
	return p
}

// TestOurOwnPointsPassTheShippedPolicyUntouched: metrics with the vocabulary's attributes, in the same call, byte for byte, without a hit.
func TestOurOwnPointsPassTheShippedPolicyUntouched(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1, readPolicy(t, "training.yaml"))
	l.at(1000)
	md := pmetric.NewMetrics()
	rm := md.ResourceMetrics().AppendEmpty()
	for k, v := range map[string]string{"service.name": "trainer", "service.namespace": "ml", "host.name": "gpu-1", "deployment.environment.name": "prod"} {
		rm.Resource().Attributes().PutStr(k, v)
	}
	rm.Resource().Attributes().PutStr("replica", "1")
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName(trainrecord.Namespace)
	sm.Scope().SetVersion("1")
	reg := trainrecord.Load()
	for i, name := range []string{"run.active", "run.outcomes", "phase.time", "sample.processed"} {
		m := sm.Metrics().AppendEmpty()
		m.SetName(trainrecord.Namespace + "." + name)
		sum := m.SetEmptySum()
		sum.SetIsMonotonic(name != "run.active")
		sum.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		for _, framework := range reg.Values["framework"] {
			p := sum.DataPoints().AppendEmpty()
			p.SetStartTimestamp(10)
			p.SetTimestamp(20)
			p.SetIntValue(int64(i))
			a := p.Attributes()
			a.PutStr(trainrecord.AttrFramework, framework)
			a.PutStr(trainrecord.AttrTaskFamily, reg.Values["task_family"][i])
			a.PutStr(trainrecord.AttrPhase, reg.Values["phase"][i])
			a.PutStr(trainrecord.AttrRunOutcome, reg.Values["outcome"][i])
			a.PutStr(trainrecord.Namespace+".run.state", reg.Values["run_state"][i%2])
		}
	}
	before := marshal(t, md)
	l.feed(t, md)
	require.Len(t, l.sink.AllMetrics(), 1)
	require.Equal(t, before, marshal(t, l.sink.AllMetrics()[0]))
	for _, line := range strings.Split(l.counted(t), "\n") {
		require.NotContains(t, line, "attributes_removed")
		require.NotContains(t, line, "values_replaced")
		require.NotContains(t, line, "rejected")
	}
}

// TestMoreClassesThanAWorkerRemembers: a policy of many selectors, and one resource with a metric of each combination of them.
func TestMoreClassesThanAWorkerRemembers(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("attributes:\n  deny:\n")
	for i := range 7 {
		fmt.Fprintf(&text, "    - {exact: [k%d], metrics: {regex: ['.*x%d.*']}}\n", i, i)
	}
	p, err := policy.Parse("", []byte(text.String()))
	require.NoError(t, err)
	l := newLab(t, 1, p)
	l.at(1000)
	md := gaugeBatch("first", "ok", "v")
	ms := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics()
	for i := range 7 {
		md.ResourceMetrics().At(0).Resource().Attributes().PutStr(fmt.Sprint("k", i), "v")
	}
	for n := range 1 << 7 {
		m := ms.AppendEmpty()
		name := "m"
		for i := range 7 {
			if n>>i&1 == 1 {
				name += fmt.Sprint("x", i)
			}
		}
		m.SetName(name)
		point := m.SetEmptyGauge().DataPoints().AppendEmpty()
		point.SetTimestamp(20)
		point.SetIntValue(1)
	}
	l.feed(t, md)
	l.guard.flush(t.Context(), false)
	seen := 0
	everyMap(l.taken(t), func(metric string, at policy.Level, m pcommon.Map) {
		if at != policy.Resource {
			return
		}
		seen++
		for i := range 7 {
			_, there := m.Get(fmt.Sprint("k", i))
			require.Equal(t, !strings.Contains(metric, fmt.Sprint("x", i)), there, "k%d on the resource of %s", i, metric)
		}
	})
	require.Equal(t, 1<<7+1, seen)
}
