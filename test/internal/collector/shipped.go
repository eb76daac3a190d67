package collector

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pathologize/otelcol-train/test/internal/ports"
)

// Shipped is the path of a shipped configuration, or of what stands beside it: its name in config/.
func Shipped(t testing.TB, name string) string {
	t.Helper()
	return filepath.Join(Root(t), "config", filepath.FromSlash(name))
}

// Stock is the path of a Collector of upstream components only, which calls itself 0.157.0; without one the test fails.
func Stock(t testing.TB) string {
	t.Helper()
	path := filepath.Join(Root(t), "build", "stock", "stock")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("no Collector to compare with: %v: run make stock", err)
	}
	return path
}

// Summary is the path of the trainsummary under test, which TRAINSUMMARY names or make commands built; without one the test fails.
func Summary(t testing.TB) string {
	t.Helper()
	path := os.Getenv("TRAINSUMMARY")
	if path == "" {
		path = filepath.Join(Root(t), "build", "trainsummary")
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("no trainsummary to test: %v: run make commands", err)
	}
	return path
}

// Folders are where a collector with a shipped configuration reads and writes.
type Folders struct{ Runs, Results, State string }

// NewFolders gives folders of the test's own; of these only that of the runs is there.
func NewFolders(t testing.TB) Folders {
	t.Helper()
	return FoldersIn(t, t.TempDir())
}

// FoldersIn is NewFolders at a place.
func FoldersIn(t testing.TB, dir string) Folders {
	t.Helper()
	f := Folders{Runs: filepath.Join(dir, "runs"), Results: filepath.Join(dir, "results"), State: filepath.Join(dir, "state")}
	if err := os.MkdirAll(f.Runs, 0o755); err != nil { //nolint:gosec // as a trainer's are
		t.Fatalf("make the folder of the runs: %v", err)
	}
	return f
}

// Env points a shipped configuration at the folders and at addresses that are its own, with nothing behind those that it sends to or scrapes.
func (f Folders) Env(t testing.TB) map[string]string {
	t.Helper()
	return map[string]string{
		"RUNS_DIR": f.Runs, "RESULTS_DIR": f.Results, "STATE_DIR": f.State, "HEALTH_ENDPOINT": ports.Free(t),
		"OTLP_ENDPOINT": ports.Free(t), "NETDATA_OTLP_ENDPOINT": ports.Free(t), "DCGM_EXPORTER_ENDPOINT": ports.Free(t),
	}
}
