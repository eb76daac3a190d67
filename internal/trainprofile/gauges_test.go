package trainprofile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"golang.org/x/tools/txtar"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// gaugesFile has calls, one a line, and the records that each gives, after its number.
const gaugesFile = "gauges.txtar"

// call is an export as a fixture spells it: when it arrived, and points with their times, all in seconds.
type call struct {
	At       float64
	Tick     bool
	Undo     bool // nobody took the records
	Scope    string
	Resource map[string]any
	Points   []gaugeSpelled
}

type gaugeSpelled struct {
	Name string
	T    float64
	V    json.Number
	A    map[string]any
}

var gaugeStart = time.Unix(1_795_168_800, 0)

func seconds(s float64) time.Time { return gaugeStart.Add(time.Duration(s * float64(time.Second))) }

func (c *call) metrics(t testing.TB) pmetric.Metrics {
	t.Helper()
	md := pmetric.NewMetrics()
	rm := md.ResourceMetrics().AppendEmpty()
	rawMap(t, c.Resource).CopyTo(rm.Resource().Attributes())
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName(c.Scope)
	for _, p := range c.Points {
		m := sm.Metrics().AppendEmpty()
		m.SetName(p.Name)
		dp := m.SetEmptyGauge().DataPoints().AppendEmpty()
		dp.SetTimestamp(pcommon.NewTimestampFromTime(seconds(p.T)))
		rawMap(t, p.A).CopyTo(dp.Attributes())
		if n, err := p.V.Int64(); err == nil {
			dp.SetIntValue(n)
		} else if f, err := p.V.Float64(); err == nil {
			dp.SetDoubleValue(f)
		}
	}
	return md
}

func gaugeOptions() GaugeOptions {
	return GaugeOptions{RunIDFrom: []string{trainrecord.AttrRunID, "run_id"}, RowTolerance: 500 * time.Millisecond, Heartbeat: time.Minute, MaxRows: 100}
}

// spellRecords writes records as fixtures do: what a line has, without what is the same for all.
func spellRecords(t testing.TB, ld plog.Logs) (all []string) {
	t.Helper()
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				r, ok := trainrecord.FromLog(rl.Resource(), lr)
				require.True(t, ok)
				require.True(t, r.Sampled)
				m := map[string]any{"t": float64(r.Time.AsTime().Sub(gaugeStart).Microseconds()) / 1e6, "event": r.Event, "run": r.RunID, "framework": r.Framework, "body": r.Body.AsRaw()}
				for key, v := range map[string]any{"part": r.Part, "phase": r.Phase, "rank": r.Rank, "seq": r.Seq} {
					if v != "" && v != int64(0) {
						m[key] = v
					}
				}
				if r.Attempt > 1 {
					m["attempt"] = r.Attempt
				}
				text, err := json.Marshal(m)
				require.NoError(t, err)
				all = append(all, string(text))
			}
		}
	}
	return all
}

// gaugeLines feeds calls and gives the records of each.
func gaugeLines(t testing.TB, set *Set, in []string) (out []string) {
	t.Helper()
	g := NewGaugeRecords(set, gaugeOptions())
	for i, line := range in {
		var c call
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.UseNumber()
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(&c), line)
		var b *GaugeBatch
		if c.Tick {
			b = g.Tick(seconds(c.At))
		} else {
			b = g.Consume(seconds(c.At), c.metrics(t))
		}
		if c.Undo {
			b.Undo()
			continue
		}
		for _, r := range spellRecords(t, b.Logs) {
			out = append(out, fmt.Sprintf("%d %s", i+1, r))
		}
	}
	return out
}

func readGauges(t testing.TB, path string) (set *Set, in, out []string) {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	require.NoError(t, err)
	profiles, err := Embedded()
	require.NoError(t, err)
	for _, f := range archive.Files {
		switch f.Name {
		case "in":
			in = lines(string(f.Data))
		case "out":
			out = lines(string(f.Data))
		case "profile.yaml":
			p, err := Parse("x.yaml", f.Data)
			require.NoError(t, err)
			profiles = append(profiles, p)
		default:
			t.Fatalf("%s: unknown part %s", path, f.Name)
		}
	}
	set, err = NewSet("", profiles...)
	require.NoError(t, err)
	return set, in, out
}

func checkGauges(t *testing.T, path string) {
	t.Helper()
	set, in, want := readGauges(t, path)
	got := gaugeLines(t, set, in)
	if !assert.Len(t, got, len(want), "%s\n%s", path, strings.Join(got, "\n")) {
		return
	}
	for i := range want {
		n, record, _ := strings.Cut(want[i], " ")
		gotN, gotRecord, _ := strings.Cut(got[i], " ")
		assert.Equal(t, n, gotN, "%s: %s", path, got[i])
		assert.JSONEq(t, record, gotRecord, path)
	}
}

// TestGaugesOfFrameworks shows the records of each shipped profile that reads gauges.
func TestGaugesOfFrameworks(t *testing.T) {
	t.Parallel()
	shown := 0
	for _, p := range embeddedSet(t).profiles {
		if p.gauges != nil {
			checkGauges(t, filepath.Join("testdata", p.name, gaugesFile))
			shown++
		}
	}
	assert.Equal(t, 3, shown)
}

// TestRulesOfGauges shows the rules that hold for every framework.
func TestRulesOfGauges(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/gauges/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			checkGauges(t, path)
		})
	}
}

// gaugeResults are the records of a profile's gauges, for the test that removes its parts.
func gaugeResults(t *testing.T, set *Set, profile string) []string {
	t.Helper()
	path := filepath.Join("testdata", profile, gaugesFile)
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	_, in, _ := readGauges(t, path)
	return gaugeLines(t, set, in)
}
