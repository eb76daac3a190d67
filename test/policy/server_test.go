package policy

import (
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/ports"
)

const within = time.Minute

// place is where a fleet's policy lies: a server that can be changed, and be gone.
type place struct {
	t       *testing.T
	address string
	mu      sync.Mutex
	text    string
	etag    string
	server  *http.Server
	asked   int // answered with the whole policy
	same    int // answered with 304
}

func (p *place) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Header.Get("If-None-Match") == p.etag {
		p.same++
		w.WriteHeader(http.StatusNotModified)
		return
	}
	p.asked++
	w.Header().Set("ETag", p.etag)
	_, _ = io.WriteString(w, p.text)
}

// lay puts a policy there.
func (p *place) lay(text, etag string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text, p.etag = text, etag
}

func (p *place) up() {
	p.t.Helper()
	listener, err := net.Listen("tcp", p.address)
	require.NoError(p.t, err)
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: within}
	go func(s *http.Server) { _ = s.Serve(listener) }(p.server)
}

func (p *place) gone() { require.NoError(p.t, p.server.Close()) }

func (p *place) counts() (asked, same int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked, p.same
}

const guarded = `
receivers: {otlp: {protocols: {grpc: {endpoint: "${env:OTLP_ENDPOINT}"}}}}
processors: {cardinality_guard: {policy_url: "${env:POLICY_URL}", policy_poll_interval: 1s}}
exporters: {nop: {}}
service: {pipelines: {metrics: {receivers: [otlp], processors: [cardinality_guard], exporters: [nop]}}}
`

// inForce waits until the guard says that it has a policy.
func inForce(c *collector.Process, version string) {
	c.WaitMetric("otelcol_cardinality_guard_policy_info", map[string]string{"version": version}, 1, within)
}

func reloads(c *collector.Process, result string, atLeast float64) {
	c.WaitMetric("otelcol_cardinality_guard_policy_reloads", map[string]string{"result": result}, atLeast, within)
}

// TestAPolicyFromOnePlace: it is taken, asked for with its ETag, changed; a bad one and a server that is gone change nothing; a restart
// meanwhile falls back to what the registry forbids, which is strict, and takes the policy when it is there again.
func TestAPolicyFromOnePlace(t *testing.T) {
	t.Parallel()
	p := &place{t: t, address: ports.Free(t)}
	p.lay("version: one\n", `"1"`)
	p.up()
	c := collector.Start(t, collector.Options{YAML: guarded, Env: map[string]string{
		"OTLP_ENDPOINT": ports.Free(t), "POLICY_URL": "http://" + p.address + "/policy.yaml",
	}})
	inForce(c, "one")
	require.Eventually(t, func() bool { _, same := p.counts(); return same >= 2 }, within, 20*time.Millisecond)
	asked, _ := p.counts()
	assert.Equal(t, 1, asked, "the policy goes over the network once")

	p.lay("version: two\n", `"2"`)
	inForce(c, "two")

	p.lay("version: three\nmode: nonsense\n", `"3"`)
	reloads(c, "invalid", 1)
	inForce(c, "two")

	p.gone()
	reloads(c, "unreachable", 1)
	inForce(c, "two")

	c.Kill()
	c.Start()
	inForce(c, "registry")
	reloads(c, "unreachable", 1)

	p.lay("version: four\n", `"4"`)
	p.up()
	t.Cleanup(p.gone)
	inForce(c, "four")
}
