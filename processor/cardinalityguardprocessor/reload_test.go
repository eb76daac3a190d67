package cardinalityguardprocessor

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/processor/cardinalityguardprocessor/internal/policy"
)

// watched is a guard that reads its policy from where edit says, with its log.
func watched(t *testing.T, edit func(*Config)) (*lab, *observer.ObservedLogs) {
	t.Helper()
	l := newLab(t, 1, policy.Default(), edit)
	core, logs := observer.New(zap.InfoLevel)
	l.guard.log.logger = zap.New(core)
	l.guard.samples = newSampleLog(zap.NewNop())
	return l, logs
}

// renew looks for another policy, and once more where the guard would do so soon.
func (l *lab) renew(t *testing.T) {
	t.Helper()
	if l.guard.renew(t.Context()) {
		l.guard.renew(t.Context())
	}
}

func (l *lab) reloads(t *testing.T) []string {
	t.Helper()
	return componentcheck.FormatTelemetry(t, l.telemetry, "otelcol_cardinality_guard_policy_reloads")
}

// keys gives the attribute keys of the one point that the guard lets pass of a point with some.
func (l *lab) keys(t *testing.T, given ...string) []string {
	t.Helper()
	l.at(l.clock.UnixNano() + int64(time.Second))
	md := gaugeBatch("g", "kept", "v")
	md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0).SetTimestamp(pcommonTime(l.clock.UnixNano()))
	for _, k := range given {
		md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0).Attributes().PutStr(k, "v")
	}
	l.feed(t, md)
	l.guard.flush(t.Context(), false)
	out := l.taken(t)
	var keys []string
	for k := range out.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0).Attributes().All() {
		keys = append(keys, k)
	}
	return keys
}

func write(t *testing.T, file, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

const denies = "version: 7\nattributes: {deny: {exact: [pid]}}\n"

func TestAPolicyFileTakesEffectWhileTheGuardRuns(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	write(t, file, denies)
	l, logs := watched(t, func(c *Config) { c.PolicyFile = file })
	require.NoError(t, l.guard.start(t.Context(), componenttest.NewNopHost()))
	defer func() { require.NoError(t, l.guard.shutdown(context.Background())) }()
	assert.Equal(t, []string{"kept"}, l.keys(t, "pid", "run_id"))

	l.renew(t)
	assert.Empty(t, l.reloads(t), "nothing changed")

	write(t, file, "attributes: {deny: {exat: [pid]}}\nmode: x\n")
	for range 3 {
		l.renew(t)
	}
	assert.Equal(t, []string{"kept"}, l.keys(t, "pid"), "the policy before stays")
	assert.Equal(t, []string{`otelcol_cardinality_guard_policy_reloads{processor="cardinality_guard",result="invalid"} 1`}, l.reloads(t))
	require.Equal(t, 1, logs.Len(), "it is said once")
	assert.Contains(t, logs.All()[0].ContextMap()["error"], file+": line 1: attributes.deny.exat: unknown key")
	assert.Contains(t, logs.All()[0].ContextMap()["error"], "line 2: mode: want one of")

	require.NoError(t, os.Remove(file))
	for range 3 {
		l.renew(t)
	}
	assert.Equal(t, []string{"kept"}, l.keys(t, "pid"))
	assert.Equal(t, 2, logs.Len(), "and that it is gone, once")

	write(t, file, "version: 8\nattributes: {deny: {exact: [other]}}\n")
	l.renew(t)
	assert.ElementsMatch(t, []string{"kept", "pid"}, l.keys(t, "pid", "other", "run_id"))
	assert.Equal(t, []string{
		`otelcol_cardinality_guard_policy_info{mode="enforce",processor="cardinality_guard",version="7"} 0`,
		`otelcol_cardinality_guard_policy_info{mode="enforce",processor="cardinality_guard",version="8"} 1`,
	}, componentcheck.FormatTelemetry(t, l.telemetry, "otelcol_cardinality_guard_policy_info"))
	assert.Contains(t, l.reloads(t), `otelcol_cardinality_guard_policy_reloads{processor="cardinality_guard",result="applied"} 1`)
	assert.Contains(t, l.reloads(t), `otelcol_cardinality_guard_policy_reloads{processor="cardinality_guard",result="unreachable"} 3`)
}

// TestACounterGoesOnUnderAnotherPolicy: no increment is counted twice, and none is lost.
func TestACounterGoesOnUnderAnotherPolicy(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	write(t, file, denies)
	l, _ := watched(t, func(c *Config) { c.PolicyFile = file })
	require.NoError(t, l.guard.start(t.Context(), componenttest.NewNopHost()))
	defer func() { require.NoError(t, l.guard.shutdown(context.Background())) }()
	feed := func(at, value int64) {
		l.at(at)
		md := cumulativeBatch("a")
		sum := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Sum()
		sum.SetIsMonotonic(true)
		p := sum.DataPoints().At(0)
		p.Attributes().PutStr("zone", "z")
		p.SetStartTimestamp(2)
		p.SetTimestamp(pcommonTime(at))
		p.SetIntValue(value)
		l.feed(t, md)
		l.guard.flush(t.Context(), false)
	}
	value := func() (sum int64, keys int) {
		out := l.taken(t)
		p := out.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Sum().DataPoints().At(0)
		return p.IntValue(), p.Attributes().Len()
	}
	feed(100, 10)
	sum, keys := value()
	assert.Equal(t, []int64{10, 1}, []int64{sum, int64(keys)})
	write(t, file, "attributes: {deny: {exact: [pid, zone]}}\n")
	l.renew(t)
	feed(200, 15)
	sum, keys = value()
	assert.Equal(t, []int64{5, 0}, []int64{sum, int64(keys)}, "the new series has what came since")
}

// TestTheCountOfSeriesSurvivesOtherPolicies: what no longer merges is no series, and the limit holds when it merges again.
func TestTheCountOfSeriesSurvivesOtherPolicies(t *testing.T) {
	t.Parallel()
	const denied, limit = "version: 1\nattributes: {deny: {exact: [user]}}\n", 5
	file := filepath.Join(t.TempDir(), "p.yaml")
	write(t, file, denied)
	l, _ := watched(t, func(c *Config) { c.PolicyFile = file; c.Limits.SeriesPerMetric = limit })
	l.at(1000 * second)
	require.NoError(t, l.guard.start(t.Context(), componenttest.NewNopHost()))
	feed := func(at int64, points int) {
		l.at(at * second)
		md := pmetric.NewMetrics()
		m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
		m.SetName("queue")
		dps := m.SetEmptyGauge().DataPoints()
		for i := range points {
			p := dps.AppendEmpty()
			p.SetTimestamp(pcommon.Timestamp(at * second))
			p.SetIntValue(1)
			p.Attributes().PutStr("user", fmt.Sprint("u", i))
			p.Attributes().PutStr("kind", fmt.Sprint(i/10))
		}
		l.feed(t, md)
		l.guard.flush(t.Context(), false)
	}
	feed(1010, 10)
	assert.EqualValues(t, 1, l.guard.engine.Size().Series)
	write(t, file, "version: 2\n")
	l.renew(t)
	feed(1020, 10)
	assert.EqualValues(t, 1, l.guard.engine.Size().Series, "the output that ends")
	write(t, file, denied)
	l.renew(t)
	feed(1030, 200)
	assert.LessOrEqual(t, l.guard.engine.Size().Series, int64(limit+1), "with that of the overflow")
	require.NoError(t, l.guard.shutdown(context.Background()))
}

func TestAPolicyFileMustBeRightAtTheStart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	l, _ := watched(t, func(c *Config) { c.PolicyFile = file })
	require.ErrorContains(t, l.guard.start(t.Context(), componenttest.NewNopHost()), "policy_file: ")
	require.NoError(t, l.guard.shutdown(t.Context()))

	write(t, file, "mode: x\n")
	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile = file
	require.ErrorContains(t, cfg.Validate(), "policy_file: "+file+": line 1: mode: want one of enforce, audit, off")
	cfg.PolicyFile = t.TempDir()
	require.ErrorContains(t, cfg.Validate(), "want a regular file")
}

func TestPolicyKeysAreChecked(t *testing.T) {
	t.Parallel()
	for want, edit := range map[string]func(*Config){
		"policy: give one of policy, policy_file and policy_url": func(c *Config) { c.Policy, c.PolicyURL = map[string]any{}, "http://a" },
		`policy: mode: want one of enforce, audit, off`:          func(c *Config) { c.Policy = map[string]any{"mode": "x"} },
		"policy_url: want an address":                            func(c *Config) { c.PolicyURL = "ftp://a/b" },
		"policy_poll_interval: want 1s or more, got 0s":          func(c *Config) { c.PolicyPollInterval = 0 },
		"audit_report: want a Markdown file":                     func(c *Config) { c.AuditReport = "/x/report.json" },
	} {
		cfg := createDefaultConfig().(*Config)
		edit(cfg)
		require.ErrorContains(t, cfg.Validate(), want)
	}
}

// server gives a policy and counts what it was asked.
type server struct {
	mu         sync.Mutex
	text, etag string
	status     int
	full, not  int
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.status != 0:
		w.WriteHeader(s.status)
	case s.etag != "" && r.Header.Get("If-None-Match") == s.etag:
		s.not++
		w.WriteHeader(http.StatusNotModified)
	default:
		s.full++
		w.Header().Set("ETag", s.etag)
		_, _ = io.WriteString(w, s.text)
	}
}

func (s *server) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func TestAPolicyFromAServer(t *testing.T) {
	t.Parallel()
	s := &server{status: http.StatusServiceUnavailable}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	l, logs := watched(t, func(c *Config) { c.PolicyURL = srv.URL + "/policy.yaml" })
	require.NoError(t, l.guard.start(t.Context(), componenttest.NewNopHost()), "what the registry forbids holds until the server answers")
	defer func() { require.NoError(t, l.guard.shutdown(context.Background())) }()
	assert.ElementsMatch(t, []string{"kept", "pid"}, l.keys(t, "pid", "run_id"))

	s.set(func() { s.status, s.text, s.etag = 0, denies, `"1"` })
	l.renew(t)
	assert.Equal(t, []string{"kept"}, l.keys(t, "pid", "run_id"))
	l.renew(t)
	s.set(func() {
		assert.Equal(t, []int{1, 1}, []int{s.full, s.not}, "the second time it is asked for changes only")
	})

	for _, text := range []string{"mode: x", strings.Repeat("#", 1<<20+1), ""} {
		s.set(func() { s.text, s.etag = text, "" })
		l.renew(t)
		assert.Equal(t, []string{"kept"}, l.keys(t, "pid", "run_id"))
	}
	assert.ElementsMatch(t, []string{
		`otelcol_cardinality_guard_policy_reloads{processor="cardinality_guard",result="applied"} 1`,
		`otelcol_cardinality_guard_policy_reloads{processor="cardinality_guard",result="invalid"} 3`,
		`otelcol_cardinality_guard_policy_reloads{processor="cardinality_guard",result="unreachable"} 1`,
	}, l.reloads(t))
	assert.NotZero(t, logs.Len())
}

// TestTheWatchLooksByItself waits for the ticker.
func TestTheWatchLooksByItself(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	write(t, file, denies)
	l, _ := watched(t, func(c *Config) { c.PolicyFile, c.PolicyPollInterval = file, time.Second })
	require.NoError(t, l.guard.start(t.Context(), componenttest.NewNopHost()))
	write(t, file, "version: 9\n")
	require.Eventually(t, func() bool { return l.guard.government.Load().policy.Version() == "9" }, time.Minute, 10*time.Millisecond)
	require.NoError(t, l.guard.shutdown(t.Context()))
	require.NoError(t, l.guard.shutdown(t.Context()))
}

// TestReloadsAndBatchesAtTheSameTime is for the race detector; besides, nothing forbidden by every policy may pass.
func TestReloadsAndBatchesAtTheSameTime(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1, policy.Default())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				md := gaugeBatch("g", "run_id", "a", "b")
				out, err := l.guard.processMetrics(t.Context(), md)
				if err == nil {
					out.ResourceMetrics().RemoveIf(func(pmetric.ResourceMetrics) bool { return true })
				}
			}
		})
	}
	for i := range 50 {
		p, err := policy.Parse("", []byte([]string{denies, "mode: enforce\n", "gauges: {default: max}\n"}[i%3]))
		require.NoError(t, err)
		l.guard.govern(p)
	}
	wg.Wait()
	l.guard.flush(t.Context(), false)
	for _, md := range l.sink.AllMetrics() {
		for _, p := range md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().All() {
			assert.Zero(t, p.Attributes().Len())
		}
	}
}

// TestAServerThatHangsDoesNotHoldTheStartUp: the start waits a moment for it, and the guard holds to what the registry forbids until it answers.
func TestAServerThatHangsDoesNotHoldTheStartUp(t *testing.T) {
	t.Parallel()
	answers, asked := make(chan struct{}), make(chan struct{}, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-answers:
			_, _ = io.WriteString(w, denies)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	l, _ := watched(t, func(c *Config) { c.PolicyURL = server.URL })
	began := time.Now()
	require.NoError(t, l.guard.start(t.Context(), componenttest.NewNopHost()))
	defer func() { require.NoError(t, l.guard.shutdown(context.Background())) }()
	assert.Less(t, time.Since(began), 8*time.Second, "a request takes ten seconds before it is given up")
	<-asked
	assert.ElementsMatch(t, []string{"kept", "pid"}, l.keys(t, "pid", "run_id"))
	assert.Equal(t, []string{`otelcol_cardinality_guard_policy_reloads{processor="cardinality_guard",result="unreachable"} 1`}, l.reloads(t))

	close(answers)
	l.guard.renew(t.Context())
	assert.Equal(t, []string{"kept"}, l.keys(t, "pid", "run_id"))
}
