package dvcresultexporter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

const damagedMetric = `otelcol_dvc_result_storage_errors{operation="damaged"}`

// Whatever value of the storage is damaged: it is counted and said once, and everything else is there.
func TestDamagedValuesAreCountedAndTheRestIsLoaded(t *testing.T) {
	t.Parallel()
	garbage := []byte("garbage that is nothing of ours")
	foreign := seal(trainrun.New("other").Snapshot())
	nameless := seal(append(make([]byte, journalHeader), trainrun.AppendEntries(nil, []trainrun.Entry{{Event: trainrun.EventLog, Attempt: 1}})...))
	for name, tc := range map[string]struct {
		key   string
		value []byte
		a, b  int // records of the runs afterwards, 0 for no result
	}{
		"journal":              {journalKey(2), garbage, 3, 7},
		"journal, too short":   {journalKey(2), []byte("x"), 3, 7},
		"journal, no run":      {journalKey(2), nameless, 3, 7},
		"snapshot":             {foldPrefix + storageKey("a"), garbage, 4, 7},
		"snapshot, empty":      {foldPrefix + storageKey("a"), []byte{}, 4, 7},
		"snapshot, another's":  {foldPrefix + storageKey("a"), foreign, 4, 7},
		"meta":                 {metaPrefix + storageKey("a"), garbage, 7, 7},
		"meta, another's":      {metaPrefix + storageKey("a"), seal([]byte(`{"id":"other","sides":[{}]}`)), 7, 7},
		"meta, without run id": {metaPrefix + storageKey("a"), seal([]byte(`{}`)), 7, 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, r *rig) {
				r.start()
				r.feed(wholeRun("a")[:3]...)
				r.feed(wholeRun("b")...)
				require.NoError(t, r.exp.engine.snapshot(t.Context()))
				r.feed(wholeRun("a")[3:]...)
				require.NoError(t, r.exp.engine.store.client.Set(t.Context(), tc.key, tc.value))
				r.kill()
				r.start()
				pass(time.Hour)
				assert.Equal(t, tc.a, r.count("a"))
				assert.Equal(t, tc.b, r.count("b"))
				assert.Equal(t, "1", r.metric(damagedMetric))
				assert.Equal(t, 1, r.logs.FilterMessageSnippet("damaged").Len())
				assert.NotContains(t, r.exp.engine.runs, "")
				r.stop()
			})
		})
	}
}

func TestWithADamagedIndexRunsAreFoundWhenTheyGoOn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.feed(wholeRun("a")[:5]...)
		require.NoError(t, r.exp.engine.snapshot(t.Context()))
		require.NoError(t, r.exp.engine.store.client.Set(t.Context(), indexKey, []byte("{")))
		r.kill()
		r.start()
		assert.Equal(t, "1", r.metric(damagedMetric))
		assert.Equal(t, 1, r.logs.FilterMessageSnippet("damaged").Len())
		r.feed(wholeRun("a")[5:]...)
		pass(time.Minute)
		assert.Equal(t, 7, r.count("a"))
		r.kill()
		r.start()
		assert.Empty(t, r.metric(damagedMetric), "the index was written anew")
		pass(time.Minute)
		assert.Equal(t, 7, r.count("a"))
		r.stop()
	})
}

func TestTheStorageOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	for _, index := range [][]byte{seal([]byte(`{"version":99}`)), seal([]byte(`{"version":4,"first":0,"runs":[]}`)), seal([]byte(`{"version":4,"encoding":2308}`)), []byte(`{"version":1,"first":0,"runs":[]}`)} {
		inBubble(t, func(t *testing.T, r *rig) {
			r.start()
			require.NoError(t, r.exp.engine.store.client.Set(t.Context(), indexKey, index))
			r.stop()
			require.ErrorIs(t, r.tryStart(), errStorageVersion)
			assert.Empty(t, r.host.OpenClients())
			require.NoError(t, r.tel.Shutdown(t.Context()))
		})
	}
}

// TestAJournalOfAnotherVersionIsRefused: a storage has no index before the first verdict.
func TestAJournalOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		part := trainrun.AppendEntries(make([]byte, journalHeader), nil)
		part[journalHeader]--
		require.NoError(t, r.exp.engine.store.client.Set(t.Context(), journalKey(0), seal(part)))
		r.kill()
		require.ErrorIs(t, r.tryStart(), errStorageVersion)
		assert.Empty(t, r.host.OpenClients())
		require.NoError(t, r.tel.Shutdown(t.Context()))
	})
}

// A byte that is wrong is noticed wherever it is, also where every byte makes a value that can be read.
func TestAWrongByteInTheStorageIsNoticed(t *testing.T) {
	t.Parallel()
	fill := func(t *testing.T, r *rig) {
		r.start()
		r.feed(wholeRun("a")[:3]...)
		require.NoError(t, r.exp.engine.snapshot(t.Context()))
		r.feed(wholeRun("a")[3:5]...)
	}
	sizes := map[string]int{}
	inBubble(t, func(t *testing.T, r *rig) {
		fill(t, r)
		for key, value := range r.host.Data("exporter_dvc_result") {
			sizes[key] = len(value)
		}
		r.stop()
	})
	require.Len(t, sizes, 4)
	for key, size := range sizes {
		for at := 0; at < size; at += 1 + size/12 {
			inBubble(t, func(t *testing.T, r *rig) {
				fill(t, r)
				value := r.host.Data("exporter_dvc_result")[key]
				value[at] ^= 1
				require.NoError(t, r.exp.engine.store.client.Set(t.Context(), key, value))
				r.kill()
				r.start()
				pass(time.Hour)
				assert.Equal(t, "1", r.metric(damagedMetric), "byte %d of %s", at, key)
				r.stop()
			})
		}
	}
}
