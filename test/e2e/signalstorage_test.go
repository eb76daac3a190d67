package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
)

const signalsFile = "connector_training_signals_"

// TestAStateOfSignalsThatIsHeldElsewhereHoldsNoStart has another process hold the file for ever: the collector starts without it, results and signals are as ever, and when
// the file is free it takes what is known by then.
func TestAStateOfSignalsThatIsHeldElsewhereHoldsNoStart(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	require.NoError(t, os.MkdirAll(f.State, 0o700))
	held, err := os.OpenFile(filepath.Join(f.State, signalsFile), os.O_CREATE|os.O_RDWR, 0o600)
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(held.Fd()), syscall.LOCK_EX))
	sink := otlpsink.Start(t, otlpsink.Accept)
	c := collector.Start(t, collector.Options{
		Configs: []string{collector.Shipped(t, "quickstart.yaml")}, Env: f.env(t), YAML: signalsYAML(sink, "") + "extensions: {file_storage: {timeout: 0s}}\n", // it waits for the lock
	})
	assert.InDelta(t, 1, c.Metrics().Sum("otelcol_training_signals_storage_errors", map[string]string{"reason": "slow"}), 0)
	began := time.Now()
	lines := signalRun("run-a", began)
	newTrainer(t, f, "run-a").lines(lines[:len(lines)-1]...)
	newTrainer(t, f, "run-b").lines(signalRun("run-b", began)...)
	waitResult(t, f, "run-b", "success")
	require.Eventually(t, func() bool {
		return total(sink.Metrics(), "run.active", nil) == 1 && total(sink.Metrics(), "run.duration", nil) == 1
	}, resultWithin, 50*time.Millisecond)

	require.NoError(t, held.Close())
	require.Eventually(t, func() bool { return keeps(t, filepath.Join(f.State, signalsFile), "run-a") }, resultWithin, 100*time.Millisecond, "it gets what is known")
	c.Kill()
	c.Start()
	newTrainer(t, f, "run-a").lines(lines[len(lines)-1])
	require.Eventually(t, func() bool {
		return total(sink.Metrics(), "run.active", nil) == 0 && total(sink.Metrics(), "run.outcomes", map[string]string{"run.outcome": "success"}) == 2
	}, resultWithin, 50*time.Millisecond, "what it got was there after a kill")
}

// keeps says whether a value with the text was committed to the file of a storage, which its collector holds: bytes that only stand in it
// do not outlive a kill.
func keeps(t *testing.T, path, text string) (found bool) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), "storage")
	require.NoError(t, os.WriteFile(copied, data, 0o600))
	db, err := bbolt.Open(copied, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return false // copied while it was written
	}
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(_, value []byte) error {
				found = found || bytes.Contains(value, []byte(text))
				return nil
			})
		})
	}))
	return found
}

// TestADamagedStateOfSignalsIsPutAside overwrites the file while the collector is down.
func TestADamagedStateOfSignalsIsPutAside(t *testing.T) {
	t.Parallel()
	f := newFolders(t)
	sink := otlpsink.Start(t, otlpsink.Accept)
	c := signals(t, f, sink, "")
	c.Start()
	newTrainer(t, f, "run-a").lines(signalRun("run-a", time.Now())[:9]...)
	require.Eventually(t, func() bool { return total(sink.Metrics(), "run.active", nil) == 1 }, resultWithin, 50*time.Millisecond)
	c.Kill()
	require.True(t, damage(t, filepath.Join(f.State, signalsFile), -1))
	sink.Reset()
	c.Start()
	aside, err := filepath.Glob(filepath.Join(f.State, signalsFile+"*.backup"))
	require.NoError(t, err)
	assert.Len(t, aside, 1)
	newTrainer(t, f, "run-b").lines(signalRun("run-b", time.Now())...)
	require.Eventually(t, func() bool { return total(sink.Metrics(), "run.duration", nil) == 1 }, resultWithin, 50*time.Millisecond)
}
