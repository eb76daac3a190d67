package trainingsignalsconnector

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
)

type capabilities = consumer.Capabilities

func splitLines(data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			if len(line) > 0 && !yield(line) {
				return
			}
		}
	}
}

type expectedFlush struct {
	Flush   string
	Metrics []map[string]any
	Spans   []map[string]any
}

type expected struct {
	Resource    map[string]any
	Flushes     []expectedFlush
	SelfMetrics map[string]int64 `json:"self_metrics"`
}

// TestCases replays timelines and wants exactly the points and spans of each tick.
func TestCases(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob(caseGlob())
	require.NoError(t, err)
	require.NotEmpty(t, dirs)
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "timeline.jsonl")); err != nil {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			runCase(t, dir)
		})
	}
}

func caseGlob() string {
	if dir := os.Getenv("SIGNAL_CASES"); dir != "" {
		return filepath.Join(dir, "*")
	}
	return filepath.Join("testdata", "*")
}

func runCase(t *testing.T, dir string) {
	var want expected
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &want))
	b := newBench(t, caseConfig(t, dir))
	flushes := 0
	for _, e := range readTimeline(t, dir) {
		if e.Do == "" {
			b.line(e.when(t), e.Record, e.UID)
			continue
		}
		b.flushAt(e.when(t))
		points, spans := b.took()
		require.Less(t, flushes, len(want.Flushes))
		f := want.Flushes[flushes]
		name := fmt.Sprintf("flush %d", flushes)
		assert.Equal(t, f.Flush, e.At, name)
		equalSets(t, name, wantedPoints(t, f.Metrics, want.Resource), points, "name", "attributes")
		equalSets(t, name, wantedTimes(t, f.Spans), spans, "trace_id", "span_id")
		flushes++
	}
	assert.Len(t, want.Flushes, flushes)
	got := strings.Join(componentcheck.FormatTelemetry(t, b.tel, "otelcol_training_signals_"), "\n")
	for name, n := range want.SelfMetrics {
		metric, label, _ := strings.Cut(strings.TrimSuffix(name, "}"), "{")
		line := fmt.Sprintf(`otelcol_training_signals_%s{connector="training_signals"} %d`, metric, n)
		if key, value, ok := strings.Cut(label, "="); ok {
			line = fmt.Sprintf(`otelcol_training_signals_%s{connector="training_signals",%s=%q} %d`, metric, key, value, n)
		}
		assert.Contains(t, got+"\n", line+"\n")
	}
}

func caseConfig(t *testing.T, dir string) benchOption {
	return func(cfg *Config) {
		data, err := os.ReadFile(filepath.Join(dir, "config.json"))
		if err != nil {
			return
		}
		var raw map[string]any
		require.NoError(t, json.Unmarshal(data, &raw))
		require.NoError(t, confmap.NewFromStringMap(raw).Unmarshal(cfg))
	}
}

func wantedPoints(t *testing.T, list []map[string]any, resource map[string]any) []map[string]any {
	for _, p := range wantedTimes(t, list) {
		p["resource"] = resource
	}
	return list
}

func wantedTimes(t *testing.T, list []map[string]any) []map[string]any {
	for _, p := range list {
		for _, key := range []string{"start", "time", "end"} {
			if s, ok := p[key].(string); ok {
				n, err := strconv.ParseInt(s, 10, 64)
				require.NoError(t, err)
				p[key] = n
			}
		}
	}
	return list
}

// equalSets compares objects one by one by what names them.
func equalSets(t *testing.T, name string, want, got []map[string]any, keys ...string) {
	t.Helper()
	index := func(list []map[string]any) map[string]map[string]any {
		m := map[string]map[string]any{}
		for _, o := range list {
			var id []string
			for _, k := range keys {
				b, _ := json.Marshal(o[k])
				id = append(id, string(b))
			}
			assert.NotContains(t, m, strings.Join(id, " "), name)
			m[strings.Join(id, " ")] = o
		}
		return m
	}
	w, g := index(want), index(got)
	var ids []string
	for id := range w {
		ids = append(ids, id)
	}
	for id := range g {
		if w[id] == nil {
			ids = append(ids, id)
		}
	}
	sort.Strings(ids)
	for _, id := range ids {
		if w[id] == nil || g[id] == nil {
			assert.Fail(t, "only on one side", "%s: %s: want %v, got %v", name, id, w[id], g[id])
			continue
		}
		for k, v := range w[id] {
			if f, ok := v.(float64); ok {
				if x, isNumber := g[id][k].(float64); isNumber {
					assert.InDelta(t, f, x, 1e-9, "%s: %s: %s", name, id, k)
					continue
				}
			}
			assert.Equal(t, v, g[id][k], "%s: %s: %s", name, id, k)
		}
		for k := range g[id] {
			assert.Contains(t, w[id], k, "%s: %s", name, id)
		}
	}
}
