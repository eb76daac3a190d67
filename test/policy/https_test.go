package policy

import (
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/ports"
)

// secured gives the place over https, with a certificate that no machine knows, and the file of whoever signed it.
func secured(t *testing.T, handler http.Handler, address string) (server *httptest.Server, authority string) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	server = httptest.NewUnstartedServer(handler)
	require.NoError(t, server.Listener.Close())
	server.Listener = listener
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // a handshake that fails is what a test wants
	server.StartTLS()
	authority = filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(t, os.WriteFile(authority, text, 0o600))
	return server, authority
}

// TestAPolicyOverHTTPSIsTakenFromWhomTheCertificatesKnow, those of the system or of SSL_CERT_FILE: changes by ETag, a bad policy, and a server that
// is gone are as over http.
func TestAPolicyOverHTTPSIsTakenFromWhomTheCertificatesKnow(t *testing.T) {
	t.Parallel()
	p := &place{t: t, address: ports.Free(t)}
	p.lay("version: one\n", `"1"`)
	server, authority := secured(t, p, p.address)
	t.Cleanup(server.Close)
	c := collector.Start(t, collector.Options{YAML: guarded, Env: map[string]string{
		"OTLP_ENDPOINT": ports.Free(t), "POLICY_URL": "https://" + p.address + "/policy.yaml", "SSL_CERT_FILE": authority,
	}})
	inForce(c, "one")

	p.lay("version: two\n", `"2"`)
	inForce(c, "two")
	asked, _ := p.counts()
	require.Equal(t, 2, asked, "each policy goes over the network once")

	p.lay("version: three\nmode: nonsense\n", `"3"`)
	reloads(c, "invalid", 1)
	inForce(c, "two")

	server.CloseClientConnections()
	server.Close()
	reloads(c, "unreachable", 1)
	inForce(c, "two")
}

// TestTheFolderOfCertificatesIsTrustedBesideTheFile, as docs/recipes.md says: SSL_CERT_FILE alone does not narrow whom the collector trusts.
func TestTheFolderOfCertificatesIsTrustedBesideTheFile(t *testing.T) {
	t.Parallel()
	p := &place{t: t, address: ports.Free(t)}
	p.lay("version: one\n", `"1"`)
	server, authority := secured(t, p, p.address)
	t.Cleanup(server.Close)
	none := filepath.Join(t.TempDir(), "none.pem")
	require.NoError(t, os.WriteFile(none, nil, 0o600))
	c := collector.Start(t, collector.Options{YAML: guarded, Env: map[string]string{
		"OTLP_ENDPOINT": ports.Free(t), "POLICY_URL": "https://" + p.address + "/policy.yaml", "SSL_CERT_FILE": none, "SSL_CERT_DIR": filepath.Dir(authority),
	}})
	inForce(c, "one")
}

// TestAPolicyFromAStrangerIsNotTaken: a server whose certificate nobody vouches for, and one that leads from https to http; the log says why.
func TestAPolicyFromAStrangerIsNotTaken(t *testing.T) {
	t.Parallel()
	plain := &place{t: t, address: ports.Free(t)}
	plain.lay("version: plain\n", `"1"`)
	plain.up()
	t.Cleanup(plain.gone)
	leads := http.RedirectHandler("http://"+plain.address+"/policy.yaml", http.StatusFound)
	for name, one := range map[string]struct {
		handler http.Handler
		trusted bool
		says    string
	}{
		"unknown certificate": {plain, false, "certificate signed by unknown authority"},
		"to http":             {leads, true, "redirected too often, or from https to http"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := ports.Free(t)
			server, authority := secured(t, one.handler, address)
			t.Cleanup(server.Close)
			if !one.trusted {
				require.NoError(t, os.WriteFile(authority, nil, 0o600))
			}
			c := collector.Start(t, collector.Options{YAML: guarded, Env: map[string]string{
				"OTLP_ENDPOINT": ports.Free(t), "POLICY_URL": "https://" + address + "/policy.yaml", "SSL_CERT_FILE": authority,
			}})
			reloads(c, "unreachable", 1)
			inForce(c, "registry")
			require.Eventually(t, func() bool { return strings.Contains(c.Logs(), one.says) }, within, 20*time.Millisecond)
		})
	}
}
