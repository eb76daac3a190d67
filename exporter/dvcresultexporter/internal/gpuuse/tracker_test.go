package gpuuse

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"pgregory.net/rapid"
)

const (
	lookback = 5 * time.Minute
	second   = int64(time.Second)
	host     = "vector-gpu-01"
)

var (
	pod     = Pod{Namespace: "training", Name: "job-x-0"}
	otherID = Pod{Namespace: "training", Name: "job-y-0"}
	// epoch is when the tests happen.
	epoch = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC).UnixNano()
)

// at is a time n seconds after epoch.
func at(n int) int64 { return epoch + int64(n)*second }

// labels of a point.
type labels map[string]string

// scrape makes the metrics of one scrape: name → value of one GPU.
func scrape(md pmetric.Metrics, n int, l labels, values map[string]float64) {
	sm := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty()
	for name, v := range values {
		m := sm.Metrics().AppendEmpty()
		m.SetName(name)
		p := m.SetEmptyGauge().DataPoints().AppendEmpty()
		if name == "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION" {
			p = m.SetEmptySum().DataPoints().AppendEmpty()
		}
		p.SetDoubleValue(v)
		p.SetTimestamp(pcommon.Timestamp(at(n))) //nolint:gosec // after 1970
		for k, v := range l {
			p.Attributes().PutStr(k, v)
		}
	}
}

// ofPod are the labels of a GPU in a pod.
func ofPod(uuid string, p Pod) labels {
	return labels{"UUID": uuid, "hostname": host, "modelName": "H100", "pod": p.Name, "namespace": p.Namespace, "container": "trainer"}
}

func ofHost(uuid string) labels { return labels{"UUID": uuid, "Hostname": host} }

// device is what a GPU says n seconds after epoch: 500 W, and numbers that grow with time.
func device(n int) map[string]float64 {
	return map[string]float64{
		"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": 1e12 + float64(n)*500_000,
		"DCGM_FI_DEV_POWER_USAGE":              500,
		"DCGM_FI_DEV_FB_USED":                  float64(1000 + n),
		"DCGM_FI_DEV_GPU_UTIL":                 90,
		"DCGM_FI_DEV_GPU_TEMP":                 float64(40 + n%30),
		"DCGM_FI_DEV_XID_ERRORS":               0,
		"DCGM_FI_DEV_POWER_VIOLATION":          float64(n) * 1e8,
	}
}

func (t *Tracker) take(md pmetric.Metrics) (known, full int) {
	readings, _ := Read(md)
	return t.Add(readings)
}

func (t *Tracker) scrape(n int, l labels, values map[string]float64) {
	md := pmetric.NewMetrics()
	scrape(md, n, l, values)
	t.take(md)
}

// onPod marks a run that works in the pod from one second to another.
func (t *Tracker) onPod(id string, p Pod, from, to int) {
	t.Mark(id, Mark{Time: at(from), Kind: Work, Host: host, Pod: p})
	t.Mark(id, Mark{Time: at(to), Kind: End})
}

func (t *Tracker) whole(id string) *Report { return t.Report(id, func(string) bool { return true }) }

func ptr(v float64) *float64 { return &v }

func TestUseOfAPodsGPU(t *testing.T) {
	t.Parallel()
	tr := New(lookback)
	tr.onPod("x", pod, 5, 95)
	for n := 0; n <= 200; n += 10 {
		tr.scrape(n, ofPod("GPU-0", pod), device(n))
		tr.scrape(n, ofHost("GPU-1"), device(n))
	}
	assert.Equal(t, &Report{Attribution: ByPod, Interval: 10, GPUs: []GPU{{
		UUID: "GPU-0", Model: "H100", Host: host, Samples: 9, Covered: 80,
		Energy: ptr(45_000), EnergyMethod: MethodCounter, // from the sample at 0 s to that at 90 s
		MemoryPeak: ptr(1090), MemoryMean: ptr(1050), UtilMean: ptr(90), TemperatureMax: ptr(60),
		Throttled: []Throttle{{"power", 9}}, ThrottleMethod: MethodCounter, XIDs: []int64{},
	}}}, tr.whole("x"))
	assert.Nil(t, tr.whole("unknown"))
}

func TestNothingIsSaidWhereNothingWasSeen(t *testing.T) {
	t.Parallel()
	for name, feed := range map[string]func(*Tracker){
		"no samples": func(*Tracker) {},
		"before and after": func(tr *Tracker) {
			tr.scrape(0, ofPod("g", pod), device(0))
			tr.scrape(100, ofPod("g", pod), device(100))
		},
		"of another pod":       func(tr *Tracker) { tr.scrape(30, ofPod("g", otherID), device(30)) },
		"of another namespace": func(tr *Tracker) { tr.scrape(30, ofPod("g", Pod{"other", pod.Name}), device(30)) },
		"of the host":          func(tr *Tracker) { tr.scrape(30, ofHost("g"), device(30)) },
		"blank values": func(tr *Tracker) {
			tr.scrape(30, ofPod("g", pod), map[string]float64{"DCGM_FI_DEV_FB_USED": 9223372036854775794})
		},
		"of another exporter":   func(tr *Tracker) { tr.scrape(30, ofPod("g", pod), map[string]float64{"node_load1": 3}) },
		"a GPU without an UUID": func(tr *Tracker) { tr.scrape(30, ofPod("", pod), device(30)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := New(lookback)
			tr.onPod("x", pod, 20, 90)
			feed(tr)
			assert.Nil(t, tr.whole("x"))
		})
	}
	tr := New(lookback)
	tr.onPod("x", pod, 20, 90)
	tr.scrape(30, ofPod("g", pod), map[string]float64{"DCGM_FI_DEV_GPU_UTIL": 50})
	assert.Equal(t, []GPU{{UUID: "g", Model: "H100", Host: host, Samples: 1, UtilMean: ptr(50)}}, tr.whole("x").GPUs, "the rest is absent, not zero")
}

func TestEnergyOverAResetIsThatOfPower(t *testing.T) {
	t.Parallel()
	tr := New(lookback)
	tr.onPod("x", pod, 0, 100)
	for n := 0; n <= 100; n += 10 {
		v := device(n)
		if n >= 50 {
			v["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"] = float64(n)
		}
		tr.scrape(n, ofPod("g", pod), v)
	}
	g := tr.whole("x").GPUs[0]
	assert.Equal(t, ptr(50_000), g.Energy)
	assert.Equal(t, MethodPower, g.EnergyMethod)
}

func TestALabelThatComesLateDoesNotLoseTheBeginning(t *testing.T) {
	t.Parallel()
	energyOf := func(first labels) float64 {
		tr := New(lookback)
		tr.onPod("x", pod, 5, 100)
		tr.scrape(0, first, device(0))
		tr.scrape(10, first, device(10))
		for n := 20; n <= 100; n += 10 {
			tr.scrape(n, ofPod("g", pod), device(n))
		}
		return *tr.whole("x").GPUs[0].Energy
	}
	assert.InDelta(t, 50_000, energyOf(labels{"UUID": "g", "hostname": host}), 0)
	assert.InDelta(t, 40_000, energyOf(ofPod("g", otherID)), 0, "what another pod did is not ours")
}

func TestXIDsAreThoseThatAppeared(t *testing.T) {
	t.Parallel()
	tr := New(lookback)
	tr.onPod("x", pod, 10, 100)
	for i, code := range []float64{31, 31, 79, 79, 48, 0, 79} {
		v := device(i * 10)
		v["DCGM_FI_DEV_XID_ERRORS"] = code
		tr.scrape(i*10, ofPod("g", pod), v)
	}
	assert.Equal(t, []int64{48, 79}, tr.whole("x").GPUs[0].XIDs, "31 was there before")
}

func TestThrottledTimeByReasons(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS"} {
		tr := New(lookback)
		tr.onPod("x", pod, 0, 100)
		for i, mask := range []float64{1, 4, 4 | 0x40, 0x20, 0x100, 0} {
			tr.scrape(i*10, ofPod("g", pod), map[string]float64{name: mask})
		}
		g := tr.whole("x").GPUs[0]
		assert.Equal(t, MethodReasons, g.ThrottleMethod)
		assert.Equal(t, []Throttle{{"power", 20}, {"hw_slowdown", 0}, {"sync_boost", 0}, {"thermal", 20}, {"power_brake", 0}}, g.Throttled)
	}
}

func TestSharedGPUsAreMarked(t *testing.T) {
	t.Parallel()
	tr := New(lookback)
	tr.onPod("x", pod, 0, 100)
	tr.onPod("y", otherID, 0, 100)
	for n := 0; n <= 50; n += 10 {
		md := pmetric.NewMetrics()
		scrape(md, n, ofPod("g", pod), device(n))
		scrape(md, n, ofPod("g", otherID), device(n)) // time-sliced: the line once more
		mig := ofPod("m", pod)
		mig["GPU_I_ID"], mig["GPU_I_PROFILE"] = "3", "1g.10gb"
		scrape(md, n, mig, device(n))
		tr.take(md)
	}
	for _, run := range []string{"x", "y"} {
		g := tr.whole(run).GPUs[0]
		assert.True(t, g.Shared, run)
		assert.InDelta(t, 25_000, *g.Energy, 0, "that of the card, once")
	}
	m := tr.whole("x").GPUs[1]
	assert.Equal(t, []any{"m", "3", "1g.10gb", true}, []any{m.UUID, m.Instance, m.Profile, m.Shared})
}

func TestRunsOfAHost(t *testing.T) {
	t.Parallel()
	begin := func(tr *Tracker, id string, n int) {
		tr.Mark(id, Mark{Time: at(n), Kind: Work, Host: "Vector-GPU-01.example.com"})
	}
	end := func(tr *Tracker, id string, n int) { tr.Mark(id, Mark{Time: at(n), Kind: End}) }
	for name, tc := range map[string]struct {
		do   func(*Tracker)
		want string
	}{
		"alone":                     {func(tr *Tracker) { begin(tr, "x", 0); end(tr, "x", 100) }, ByHost},
		"one after the other":       {func(tr *Tracker) { begin(tr, "y", 0); end(tr, "y", 49); begin(tr, "x", 50); end(tr, "x", 100) }, ByHost},
		"overlapping":               {func(tr *Tracker) { begin(tr, "y", 0); end(tr, "y", 51); begin(tr, "x", 50); end(tr, "x", 100) }, Ambiguous},
		"beside one that may go on": {func(tr *Tracker) { begin(tr, "y", 0); begin(tr, "x", 50); end(tr, "x", 100) }, Ambiguous},
		"beside one that fell silent": {func(tr *Tracker) {
			begin(tr, "y", 0)
			begin(tr, "x", 50)
			end(tr, "x", 100)
			assert.Equal(t, []string{"x"}, tr.Quiet("y"), "its result is to be written again")
		}, ByHost},
		"beside one that came back": {func(tr *Tracker) {
			begin(tr, "y", 0)
			tr.Quiet("y")
			begin(tr, "x", 50)
			end(tr, "x", 100)
			assert.Equal(t, []string{"x"}, tr.Mark("y", Mark{Time: at(70), Kind: Work}))
		}, Ambiguous},
		"beside a pod": {func(tr *Tracker) { tr.onPod("y", pod, 0, 100); begin(tr, "x", 50); end(tr, "x", 100) }, ByHost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := New(2 * time.Second)
			tr.Mark("x", Mark{Time: at(50), Kind: Work, Host: host}) // the name without domain
			for n := 0; n <= 100; n += 10 {
				tr.scrape(n, ofHost("g"), device(n))
				tr.scrape(n, ofPod("p", pod), device(n))
			}
			tc.do(tr)
			got := tr.whole("x")
			require.Equal(t, tc.want, got.Attribution)
			if tc.want == Ambiguous {
				assert.Empty(t, got.GPUs)
				return
			}
			require.Len(t, got.GPUs, 1, "the pod's GPU is the pod's")
			assert.Equal(t, "g", got.GPUs[0].UUID)
		})
	}
}

func TestTimeBetweenAttemptsIsNotTheRuns(t *testing.T) {
	t.Parallel()
	tr := New(15 * time.Second)
	mark := func(n int, k Kind) { tr.Mark("x", Mark{Time: at(n), Kind: k, Pod: pod}) }
	mark(0, Work)
	for n := 0; n <= 300; n += 10 {
		switch n {
		case 100:
			mark(100, End)
			mark(101, Other) // something said afterwards is no work
		case 200:
			mark(200, Work)
		case 250:
			mark(250, Other)
		}
		tr.scrape(n, ofPod("g", pod), device(n))
	}
	g := tr.whole("x").GPUs[0]
	assert.InDelta(t, 75_000, *g.Energy, 0)
	assert.EqualValues(t, 17, g.Samples)
}

// A run of several hosts: each host's result has its own GPUs, and a rank that moved leaves its GPUs behind.
func TestHostsOfARun(t *testing.T) {
	t.Parallel()
	tr := New(lookback)
	tr.Mark("x", Mark{Time: at(0), Kind: Work, Host: "a"})
	tr.Mark("x", Mark{Time: at(40), Kind: Work, Host: "a"})
	tr.Mark("x", Mark{Time: at(50), Kind: Work, Host: "b"})
	tr.Mark("x", Mark{Time: at(0), Kind: Work, Host: "c", Rank: 8})
	tr.Mark("x", Mark{Time: at(100), Kind: End})
	for n := 0; n <= 100; n += 10 {
		for _, h := range []string{"a", "b", "c"} {
			tr.scrape(n, labels{"UUID": "of-" + h, "hostname": h}, device(n))
		}
	}
	samples := map[string]int64{}
	for _, g := range tr.whole("x").GPUs {
		samples[g.UUID] = g.Samples
	}
	assert.Equal(t, map[string]int64{"of-a": 5, "of-b": 6, "of-c": 11}, samples)
	only := tr.Report("x", func(h string) bool { return h == "b" })
	require.Len(t, only.GPUs, 1)
	assert.Equal(t, "of-b", only.GPUs[0].UUID)
}

func TestLabelsOfAScraperAreNotTheExporters(t *testing.T) {
	t.Parallel()
	tr := New(lookback)
	tr.onPod("x", pod, 0, 100)
	tr.scrape(10, labels{
		"UUID": "g", "hostname": host, "pod": "dcgm-exporter-abc", "namespace": "monitoring", "exported_pod": pod.Name, "exported_namespace": pod.Namespace,
	}, device(10))
	tr.scrape(20, labels{"uuid": "g", "Hostname": host, "pod_name": pod.Name, "pod_namespace": pod.Namespace}, device(20))
	assert.EqualValues(t, 2, tr.whole("x").GPUs[0].Samples)
}

// TestGPUsWithoutAUUIDAreCounted, once a scrape: one whose UUID is too long to be kept is as good as none.
func TestGPUsWithoutAUUIDAreCounted(t *testing.T) {
	t.Parallel()
	md := pmetric.NewMetrics()
	scrape(md, 0, ofHost("g"), device(0))
	scrape(md, 0, labels{"gpu": "0", "Hostname": host}, device(0))
	scrape(md, 0, labels{"gpu": "1", "Hostname": host, "UUID": strings.Repeat("x", maxLabel+1)}, device(0))
	scrape(md, 10, labels{"gpu": "0", "Hostname": host}, device(10))
	readings, nameless := Read(md)
	assert.Len(t, readings, 1)
	assert.Equal(t, 3, nameless)
}

func TestBoundsHold(t *testing.T) {
	t.Parallel()
	tr := New(time.Hour)
	for n := range 3 * maxRing {
		tr.scrape(n, ofHost("g"), device(n))
	}
	assert.LessOrEqual(t, len(tr.cards[cardID{UUID: "g"}].ring), maxRing)
	var full int
	for i := range maxCards + 5 {
		md := pmetric.NewMetrics()
		scrape(md, 1, ofHost(fmt.Sprint(i)), device(1))
		_, n := tr.take(md)
		full += n
	}
	assert.Equal(t, 6, full)
	known, _ := tr.Add([]Reading{{UUID: "1", Sample: Sample{Time: at(1)}}})
	assert.Equal(t, 1, known)
}

// Joined at once, joined as late as can be, or stored and restored between: the report is the same.
func TestReportDoesNotDependOnWhenSamplesAreJoined(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		late, early := New(time.Hour), New(30*time.Second)
		end := 10 * rapid.IntRange(1, 40).Draw(t, "scrapes")
		for n := 0; n < end; n += 10 {
			md := pmetric.NewMetrics()
			v := device(n)
			v["DCGM_FI_DEV_XID_ERRORS"] = float64(rapid.IntRange(0, 2).Draw(t, "xid"))
			scrape(md, n, ofPod("g", pod), v)
			early.take(md)
			late.take(md)
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				m := Mark{Time: at(n + rapid.IntRange(0, 9).Draw(t, "late")), Kind: Kind(rapid.IntRange(0, 2).Draw(t, "kind")), Pod: pod, Host: host} //nolint:gosec // small
				id := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "run")
				late.Mark(id, m)
				early.Mark(id, m)
			case 1:
				early = restored(t, early)
			}
		}
		for _, id := range []string{"x", "y"} {
			require.Equal(t, late.whole(id), early.whole(id))
		}
	})
}

func restored(t require.TestingT, tr *Tracker) *Tracker {
	b, err := tr.Snapshot()
	require.NoError(t, err)
	again := New(time.Duration(tr.lookback))
	for _, id := range []string{"x", "y"} {
		again.SetTrack(id, tr.Track(id))
	}
	require.NoError(t, again.Restore(b))
	return again
}

func TestADamagedSnapshotIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{`, `{"cards":[{"uuid":"g","ring":[]}]}`, `{"cards":[{"uuid":"g","done":2,"ring":[{"t":1,"f":0}]}]}`,
		`{"cards":[{"uuid":"g","ring":[{"t":1,"f":3,"v":[1]}]}]}`, `{"runs":[{"id":"x","cards":[{"uuid":"g","use":{}}]}]}`,
	} {
		assert.Error(t, New(lookback).Restore([]byte(text)), text)
	}
	_, err := DecodeReadings([]byte(`[{"sample":{"t":1,"f":8192,"v":[1]}}]`))
	assert.Error(t, err)
}
