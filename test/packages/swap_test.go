package packages

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/dcgm"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
	"github.com/pathologize/otelcol-train/test/internal/ports"
	"github.com/pathologize/otelcol-train/test/internal/series"
)

// commandLines gives what systemd would run of a unit and its drop-ins: an empty value forgets the ones before.
func commandLines(t *testing.T, files ...string) []string {
	t.Helper()
	lines := map[string][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // the test's own
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			if key != "ExecStartPre" && key != "ExecStart" {
				continue
			}
			if value == "" {
				lines[key] = nil
				continue
			}
			lines[key] = append(lines[key], value)
		}
	}
	require.Len(t, lines["ExecStart"], 1, "systemd wants one")
	return append(lines["ExecStartPre"], lines["ExecStart"][0])
}

const page = "replace-host-collector.md"

// laysStock makes of a root a host of today, a Collector of upstream components with its unit, user and configuration, and installs the package
// beside it as the page says, which asks about that configuration; must runs a script there. It returns where the unit is.
func laysStock(t *testing.T, r root, must func(script string) string) string {
	t.Helper()
	stock := filepath.Join(collector.Root(t), "build", "stock", "stock")
	_, err := os.Stat(stock)
	require.NoError(t, err, "run make stock")
	must("useradd --system otelcol-contrib && mkdir -p /download/dist /etc/otelcol-contrib /etc/systemd/system/otelcol-contrib.service.d")
	r.take(t, built(t, "deb", "0.1.0", same), "/download/dist/otelcol-train_0.1.0_amd64.deb")
	r.take(t, stock, "/usr/bin/otelcol-contrib")
	r.take(t, filepath.Join(collector.Root(t), "config", "host-dcgm-netdata.yaml"), "/etc/otelcol-contrib/config.yaml")
	unit := r.path("/usr/lib/systemd/system/otelcol-contrib.service")
	for path, text := range map[string]string{
		r.path("/etc/otelcol-contrib/otelcol-contrib.conf"): "OTELCOL_OPTIONS=--config=/etc/otelcol-contrib/config.yaml\n", unit: stockUnit,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	assert.Contains(t, must("cd /download; "+blockOf(t, page, 0)), "validate: ok")
	return unit
}

// TestSwapAndRollBackBesideAStockCollector: the old service, its user, and a copy of its configuration with the pin; the drop-in changes the
// binary and no series, and deleting it brings the old binary back with the configuration that it had. The commands are those of the page.
func TestSwapAndRollBackBesideAStockCollector(t *testing.T) {
	t.Parallel()
	r := debian(t)
	unit := laysStock(t, r, func(script string) string { return r.must(t, script) })
	r.must(t, "sed -i 's|transform/pin_scope, ||' /etc/otelcol-contrib/config.yaml")
	assert.Contains(t, r.must(t, "otelcol-train-compat /etc/otelcol-contrib/config.yaml"), `set(scope.version, "0.157.0")`)
	r.must(t, blockOf(t, page, 1)+"sed -i 's|memory_limiter, batch|memory_limiter, transform/pin_scope, batch|' /etc/otelcol-contrib/otelcol-train.yaml")
	assert.Contains(t, r.must(t, "otelcol-train-compat /etc/otelcol-contrib/otelcol-train.yaml"), "scope.version is set in metrics/gpu, metrics/host")

	exposition := filepath.Join("..", "testdata", "dcgm", "metrics.prom")
	exporter, want := dcgm.Serve(t, exposition), len(dcgm.Samples(t, exposition))
	compare := strings.Replace(blockOf(t, page, 2), "http://127.0.0.1:9400/", "http://"+exporter.Address()+"/", 1)
	assert.Regexp(t, `(?m)^0 of \d+ series differ$`, r.must(t, compare))
	var before []string
	for _, step := range []struct{ name, change, binary string }{
		{"before", "true", "/usr/bin/otelcol-contrib"},
		{"swapped", "cp /usr/share/doc/otelcol-train/replace-otelcol-contrib.conf /etc/systemd/system/otelcol-contrib.service.d/50-otelcol-train.conf", "/usr/bin/otelcol-train"},
		{"rolled back", "rm /etc/systemd/system/otelcol-contrib.service.d/50-otelcol-train.conf", "/usr/bin/otelcol-contrib"},
	} {
		r.must(t, step.change)
		dropIns, err := filepath.Glob(r.path("/etc/systemd/system/otelcol-contrib.service.d/*.conf"))
		require.NoError(t, err)
		lines := commandLines(t, append([]string{unit}, dropIns...)...)
		require.True(t, strings.HasPrefix(lines[len(lines)-1], step.binary+" "), step.name)
		got := charted(t, r, exporter.Address(), lines, want)
		if before == nil {
			before = got
		}
		assert.Equal(t, before, got, step.name)
	}
}

// charted runs the lines as the service's user and gives the series of the exporter that a backend tells apart, when there are as many as wanted.
func charted(t *testing.T, r root, exporter string, lines []string, want int) []string {
	t.Helper()
	sink := otlpsink.Start(t, otlpsink.Accept)
	script := fmt.Sprintf("set -a; OTELCOL_OPTIONS=--config=/etc/otelcol-contrib/config.yaml; NETDATA_OTLP_ENDPOINT=%s DCGM_EXPORTER_ENDPOINT=%s "+
		"DCGM_SCRAPE_INTERVAL=1s HEALTH_ENDPOINT=%s METRICS_PORT=%s; set +a\nas='setpriv --reuid otelcol-contrib --regid otelcol-contrib --init-groups'\n",
		sink.Endpoint(), exporter, ports.Free(t), port(ports.Free(t)))
	for _, line := range lines[:len(lines)-1] {
		script += "$as " + line + "\n"
	}
	var keys []string
	while(t, r.command(script+"exec $as "+lines[len(lines)-1]), func(output func() string) {
		require.Eventually(t, func() bool {
			var scraped []series.Point
			for _, p := range series.Points(sink.Metrics()...) {
				if strings.HasPrefix(p.Name, "DCGM_") {
					scraped = append(scraped, p)
				}
			}
			keys = series.Keys(scraped, nil)
			return len(keys) >= want
		}, time.Minute, 100*time.Millisecond, tail(output()))
	})
	return keys
}
