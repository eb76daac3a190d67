package trainingsignalsconnector

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// arrival is a record, and when it comes.
type arrival struct {
	at   int64
	line string
	uid  string
}

// workload draws the records of some runs: phases that nest, steps, rows of epochs, failures, ends, ranks, parts, attempts,
// hostile words; in time, late, or as history.
func workload(t *rapid.T) (list []arrival) {
	for r := range rapid.IntRange(1, 3).Draw(t, "runs") {
		g := &runDraw{t: t, run: fmt.Sprintf("run-%d", r), ts: at(float64(rapid.IntRange(0, 20).Draw(t, "from")))}
		g.framework = rapid.SampledFrom([]string{"pytorch", "keras", "nobody's", ""}).Draw(t, "framework")
		g.delay = rapid.SampledFrom([]int{0, 0, 1, 320}).Draw(t, "delay")
		g.withUID = rapid.Bool().Draw(t, "uid")
		for range rapid.IntRange(1, 3).Draw(t, "attempts") {
			g.attempt++
			g.course()
		}
		list = append(list, g.list...)
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].at < list[j].at })
	return list
}

type runDraw struct {
	t              *rapid.T
	run, framework string
	attempt        int
	ts             int64
	delay          int
	withUID        bool
	offset         int
	step           int
	list           []arrival
}

func (g *runDraw) emit(event, phase string, body m, more m) {
	g.ts += int64(rapid.IntRange(0, 3000).Draw(g.t, "gap")) * 1e6
	r := m{"event": event, "run_id": g.run, "ts": g.ts, "phase": phase, "body": body, "resource": m{"service.name": "s", "process.pid": 7}}
	if body == nil {
		r["body"] = m{}
	}
	if g.framework != "" {
		r["framework"] = g.framework
	}
	if g.attempt > 1 {
		r["attempt"] = g.attempt
	}
	maps.Copy(r, more)
	line, _ := json.Marshal(r)
	a := arrival{at: g.ts + int64(g.delay)*1e9 + int64(rapid.IntRange(0, 2000).Draw(g.t, "lag"))*1e6, line: string(line)}
	if g.withUID {
		a.uid = trainrecord.UID{RunID: g.run, File: 7, Offset: int64(g.offset), CRC: trainrecord.LineCRC(line)}.String()
	}
	g.offset += len(line) + 1
	g.list = append(g.list, a)
}

func (g *runDraw) course() {
	if rapid.Bool().Draw(g.t, "start") {
		g.emit("run.start", "run", m{"planned_epochs": 3, "task_family": "detection"}, nil)
	}
	for epoch := range rapid.IntRange(0, 3).Draw(g.t, "epochs") {
		g.epoch(epoch)
	}
	switch rapid.SampledFrom([]string{"end", "failure", "both", "none"}).Draw(g.t, "end") {
	case "end":
		g.emit("run.end", "run", m{"outcome": rapid.SampledFrom([]string{"success", "failed", "aborted", "x"}).Draw(g.t, "outcome")}, nil)
	case "failure":
		g.emit("run.failure", "run", m{"error_type": "E", "message": "m"}, m{"rank": rapid.IntRange(0, 1).Draw(g.t, "rank")})
	case "both":
		g.emit("run.failure", "run", nil, nil)
		g.emit("run.end", "run", m{"outcome": "failed"}, nil)
	default: // it says none
	}
}

func (g *runDraw) epoch(epoch int) {
	part := m{}
	if rapid.Bool().Draw(g.t, "part") {
		part["part"] = "fold=1"
	}
	body := m{"epoch": epoch}
	records := rapid.Bool().Draw(g.t, "records")
	if records {
		g.emit("phase.start", "train", body, part)
	}
	for range rapid.IntRange(0, 3).Draw(g.t, "steps") {
		g.step++
		more := maps.Clone(part)
		more["rank"] = rapid.SampledFrom([]int{0, 0, 1}).Draw(g.t, "rank")
		g.emit("step.end", "train", m{"step": g.step, "epoch": epoch, "samples": 8, "durations": m{"batch_s": 0.25, "data_wait_s": 0.0625}}, more)
	}
	if rapid.Bool().Draw(g.t, "nested") {
		g.emit("phase.start", "validation", body, part)
		g.emit("phase.end", "validation", body, part)
	}
	if rapid.Bool().Draw(g.t, "checkpoint") {
		g.emit("phase.end", "checkpoint", m{"epoch": epoch, "durations": m{"phase_s": rapid.SampledFrom([]float64{0, 0.5, 30}).Draw(g.t, "phase_s")}}, part)
	}
	if records && rapid.Bool().Draw(g.t, "ended") {
		g.emit("phase.end", "train", body, part)
	}
	durations := m{}
	for _, key := range []string{"epoch_s", "train_s", "validation_s", "data_wait_s"} {
		if rapid.Bool().Draw(g.t, key) {
			durations[key] = float64(rapid.IntRange(0, 40).Draw(g.t, "seconds")) / 8
		}
	}
	g.emit("epoch.end", "train", m{"epoch": epoch, "samples": 20, "durations": durations}, part)
}

// play feeds arrivals and flushes every ten seconds until all is over.
func play(t *testing.T, b *bench, list []arrival, until float64, each func(points, spans []map[string]any)) {
	next := 0
	for second := 10.0; second <= until; second += 10 {
		for next < len(list) && list[next].at < at(second) {
			b.line(list[next].at, []byte(list[next].line), list[next].uid)
			next++
		}
		b.tick(second)
		points, spans := b.took()
		each(points, spans)
	}
	require.Equal(t, len(list), next)
}

// shuffled changes the order between two ticks and feeds some records twice. Those that come at one moment keep theirs.
func shuffled(t *rapid.T, list []arrival) []arrival {
	out := []arrival{}
	for from := 0; from < len(list); {
		window, to := (list[from].at-t0)/1e10, from
		var some []arrival
		for to < len(list) && (list[to].at-t0)/1e10 == window {
			some = append(some, list[to])
			if rapid.IntRange(0, 3).Draw(t, "again") == 0 {
				some = append(some, list[to])
			}
			to++
		}
		out = append(out, rapid.Permutation(some).Draw(t, "order")...)
		from = to
	}
	return out
}

func pointKey(p map[string]any) string {
	attrs, _ := json.Marshal(p["attributes"])
	return fmt.Sprint(p["name"], string(attrs), p["resource"])
}

func rounded(x any) any {
	if f, ok := x.(float64); ok {
		return math.Round(f*1e8) / 1e8
	}
	return x
}

func pointSet(points []map[string]any) []string {
	var set []string
	for _, p := range points {
		set = append(set, fmt.Sprint(pointKey(p), p["start"], p["time"], rounded(p["value"]), p["count"], rounded(p["sum"]), p["buckets"]))
	}
	sort.Strings(set)
	return set
}

// TestNoOrderAndNoCopyChangesAPoint is S1.
func TestNoOrderAndNoCopyChangesAPoint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		list := workload(rt)
		other := shuffled(rt, list)
		var want, got [][]string
		var wantSpans, gotSpans []map[string]any
		play(t, newBench(t), list, 480, func(p, s []map[string]any) { want, wantSpans = append(want, pointSet(p)), append(wantSpans, s...) })
		play(t, newBench(t), other, 700, func(p, s []map[string]any) { got, gotSpans = append(got, pointSet(p)), append(gotSpans, s...) })
		for i := range want {
			require.Equal(rt, want[i], got[i], "tick %d", i)
		}
		require.Equal(rt, spanTexts(wantSpans), spanTexts(gotSpans))
	})
}

func spanTexts(spans []map[string]any) []string {
	var out []string
	for _, s := range spans {
		b, _ := json.Marshal(s)
		out = append(out, string(b))
	}
	sort.Strings(out)
	return out
}

// TestPropertiesOfPoints is S2, S3, S4, S5 and S8.
func TestPropertiesOfPoints(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		list := workload(rt)
		b := newBench(t, func(c *Config) { c.AbandonAfter, c.IdleTimeout = 3*60e9, 2*60e9 })
		last := map[string]map[string]any{}
		opened := 0.0
		play(t, b, list, 720, func(points, _ []map[string]any) {
			active, outcomes, phases := 0.0, 0.0, 0.0
			for _, p := range points {
				checkBounded(rt, p)
				checkCumulative(rt, last, p)
				switch p["name"] {
				case trainrecord.Namespace + ".run.active":
					require.GreaterOrEqual(rt, p["value"], 0.0)
					active += p["value"].(float64)
				case trainrecord.Namespace + ".phase.time":
					phases += p["value"].(float64)
				default:
				}
			}
			for _, s := range b.core.table.order {
				for _, o := range s.order {
					if o.instrument == runOutcomes {
						outcomes += float64(o.value.n)
					}
				}
			}
			require.GreaterOrEqual(rt, outcomes+active, opened, "an attempt was lost")
			opened = outcomes + active
			require.LessOrEqual(rt, phases, wallTime(list)+1e-6)
		})
		require.Equal(rt, 0.0, activeNow(last), "not all attempts were accounted for")
	})
}

// wallTime adds up how long each part of each attempt went on, as its records and what they report prove.
func wallTime(list []arrival) (sum float64) {
	type extent struct{ from, to float64 }
	parts := map[string]*extent{}
	for _, a := range list {
		var r struct {
			Run     string `json:"run_id"`
			Attempt int
			Part    string
			TS      int64
			Body    struct{ Durations map[string]float64 }
		}
		_ = json.Unmarshal([]byte(a.line), &r)
		ts, longest := float64(r.TS-t0)/1e9, 0.0
		d := r.Body.Durations
		longest = max(d["epoch_s"], d["train_s"]+d["validation_s"], d["phase_s"])
		for _, key := range []string{fmt.Sprint(r.Run, r.Attempt), fmt.Sprint(r.Run, r.Attempt, r.Part)} {
			e := parts[key]
			if e == nil {
				e = &extent{ts, ts}
				parts[key] = e
			}
			e.from, e.to = min(e.from, ts-longest), max(e.to, ts)
		}
	}
	for _, e := range parts {
		sum += e.to - e.from
	}
	return sum
}

func activeNow(last map[string]map[string]any) (n float64) {
	for _, p := range last {
		if p["name"] == trainrecord.Namespace+".run.active" {
			n += p["value"].(float64)
		}
	}
	return n
}

// checkBounded wants keys and values of the closed sets only.
func checkBounded(rt *rapid.T, p map[string]any) {
	values := trainrecord.Load().Values
	sets := map[string][]string{
		trainrecord.AttrFramework: values["framework"], trainrecord.AttrTaskFamily: values["task_family"],
		trainrecord.AttrPhase: trainrecord.OnMetrics("phase"), trainrecord.AttrRunOutcome: trainrecord.OnMetrics("outcome"),
		trainrecord.AttrRunState: values["run_state"],
	}
	for k, v := range p["attributes"].(map[string]any) {
		require.Contains(rt, sets, k)
		require.Contains(rt, sets[k], v)
	}
	for k := range p["resource"].(map[string]any) {
		require.Contains(rt, createDefaultConfig().(*Config).ResourceAttributes, k)
	}
	name, ok := strings.CutPrefix(p["name"].(string), trainrecord.Namespace+".")
	require.True(rt, ok)
	require.True(rt, slices.Contains(instrumentNames[:], name), name)
}

// checkCumulative wants zero first, times that grow, one start, and values that never fall.
func checkCumulative(rt *rapid.T, last map[string]map[string]any, p map[string]any) {
	k := pointKey(p)
	before := last[k]
	last[k] = p
	shown := p["value"]
	if p["type"] == "histogram" {
		shown = p["count"]
	}
	if p["monotonic"] == false {
		return
	}
	if before == nil {
		require.Equal(rt, 0.0, shown, "%s: zero does not go first", k)
		return
	}
	require.Equal(rt, before["start"], p["start"], k)
	require.Greater(rt, p["time"], before["time"], k)
	if p["type"] == "histogram" {
		require.GreaterOrEqual(rt, p["count"], before["count"], k)
		require.GreaterOrEqual(rt, p["sum"], before["sum"], k)
		return
	}
	require.GreaterOrEqual(rt, shown, before["value"], k)
}

// late has some records come later than they did, by ticks.
func late(t *rapid.T, list []arrival) []arrival {
	list = slices.Clone(list)
	for i := range list {
		if rapid.IntRange(0, 3).Draw(t, "late") == 0 {
			list[i].at += int64(rapid.IntRange(0, 60).Draw(t, "by")) * 1e9
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].at < list[j].at })
	return list
}

// TestPropertiesOfSpans is S9.
func TestPropertiesOfSpans(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) { checkSpans(t, rt, workload(rt)) })
}

// TestSpansOfRecordsThatCameLateHangTogether has what is late begin before all that was known when the run's span was sent.
func TestSpansOfRecordsThatCameLateHangTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) { checkSpans(t, rt, late(rt, workload(rt))) })
}

func checkSpans(t *testing.T, rt *rapid.T, list []arrival) {
	var all []map[string]any
	b := newBench(t, func(c *Config) { c.AbandonAfter, c.IdleTimeout = 3*60e9, 2*60e9 })
	play(t, b, list, 800, func(_, spans []map[string]any) { all = append(all, spans...) })
	seen := map[string]map[string]any{}
	for _, s := range all {
		id := fmt.Sprint(s["trace_id"], s["span_id"])
		require.NotContains(rt, seen, id, "two spans have one id")
		seen[id] = s
	}
	for _, s := range all {
		require.LessOrEqual(rt, s["start"], s["end"])
		if s["parent_span_id"] == "" {
			require.Equal(rt, "training.run", s["name"])
			continue
		}
		parent := seen[fmt.Sprint(s["trace_id"], s["parent_span_id"])]
		require.NotNil(rt, parent, "%v has no parent", s["name"])
		require.LessOrEqual(rt, parent["start"], s["start"], s["name"])
		require.GreaterOrEqual(rt, parent["end"], s["end"], s["name"])
	}
}
