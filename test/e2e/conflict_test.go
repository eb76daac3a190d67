package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hostStream is a run as one host writes it: it names itself with its start, and its launcher appends an end without host. Values are those of
// the host, its clock begins late seconds after the other's.
func hostStream(run, host string, late, epochs int, scale float64) []string {
	at := func(n int) string {
		return time.Date(2026, 11, 20, 10, 0, late+n, 0, time.UTC).Format(time.RFC3339)
	}
	lines := []string{fmt.Sprintf(`{"ts":%q,"event":"run.start","run_id":%q,"host":%q,"body":{"planned_epochs":%d,"params":{"host":%q}}}`, at(0), run, host, epochs, host)}
	for n := range epochs {
		lines = append(lines, fmt.Sprintf(`{"ts":%q,"event":"epoch.end","run_id":%q,"body":{"epoch":%d,"durations":{"train_s":%g},"measurements":{"val/loss":%g},`+
			`"checkpoint":{"path":"/%s/%d.pt","kind":"best"}}}`, at(10*n+10), run, n, scale, scale/float64(n+1), host, n))
	}
	return append(lines, fmt.Sprintf(`{"ts":%q,"event":"run.end","run_id":%q,"body":{"outcome":"success","stop_reason":"of %s"}}`, at(10*epochs+11), run, host))
}

// TestHostsThatWriteOneRunHaveAResultEach has two hosts write the same run id at the same time, with kills of the collector and a result of
// the first one before the second is known, and wants what an undisturbed collector writes: two whole results, and no word of one in the other.
func TestHostsThatWriteOneRunHaveAResultEach(t *testing.T) {
	t.Parallel()
	const run, kills = "shared", 6
	random := rand.New(rand.NewPCG(rand.Uint64(), 0)) //nolint:gosec // a load, no secret
	hosts := map[string][]string{"gpu-01": hostStream(run, "gpu-01", 0, 30, 1), "gpu-02": hostStream(run, "gpu-02", 5, 60, 100)}
	sum := sha256.Sum256([]byte("gpu-02"))
	other := run + "-" + hex.EncodeToString(sum[:4])

	calm := newFolders(t)
	for host, lines := range hosts {
		newTrainer(t, calm, filepath.Join(host, run)).lines(lines...)
	}
	quickstart(t, calm).Start()
	waitResult(t, calm, run, "success")
	waitResult(t, calm, other, "success")
	requireWholeResult(t, calm, run, "gpu-01", "gpu-02", hosts)
	requireWholeResult(t, calm, other, "gpu-02", "gpu-01", hosts)

	live := newFolders(t)
	c := quickstart(t, live)
	c.Start()
	newTrainer(t, live, filepath.Join("gpu-01", run)).lines(hosts["gpu-01"]...)
	waitResult(t, live, run, "success") // nobody knows of a conflict yet
	tr := newTrainer(t, live, filepath.Join("gpu-02", run))
	rest := strings.Join(hosts["gpu-02"], "\n") + "\n"
	for kill := range kills {
		n := min(len(rest), 1+random.IntN(2*len(rest)/(kills-kill)))
		tr.write(rest[:n])
		rest = rest[n:]
		if kill%2 == 1 {
			c.WaitMetric("otelcol_train_jsonl_checkpoint_writes", nil, 1, resultWithin)
		}
		pause(t, time.Duration(random.IntN(700))*time.Millisecond)
		c.Kill()
		c.Start()
	}
	tr.write(rest)
	waitResult(t, live, other, "success")
	require.Eventually(t, func() bool { return assert.ObjectsAreEqual(tree(t, calm.Results), tree(t, live.Results)) }, resultWithin, 50*time.Millisecond,
		"kills, or what was written before the conflict was known, changed a result")

	c.Kill()
	require.NoError(t, os.RemoveAll(live.Results)) // the state alone has both
	c.Start()
	require.Eventually(t, func() bool { return assert.ObjectsAreEqual(tree(t, calm.Results), tree(t, live.Results)) }, resultWithin, 50*time.Millisecond,
		"the stored state is not that of an undisturbed run")
	c.Stop()
}

// requireWholeResult holds a result against the lines of its host.
func requireWholeResult(t *testing.T, f folders, dir, host, other string, hosts map[string][]string) {
	t.Helper()
	files := tree(t, filepath.Join(f.Results, dir))
	var r struct {
		result
		Conflict      bool
		ConflictHost  string                             `json:"conflict_host"`
		ConflictHosts []struct{ Host, Directory string } `json:"conflict_hosts"`
	}
	require.NoError(t, json.Unmarshal([]byte(files["result.json"]), &r))
	assert.True(t, r.Conflict)
	assert.Equal(t, host, r.ConflictHost)
	require.Len(t, r.ConflictHosts, 2)
	for _, h := range r.ConflictHosts {
		if h.Host == host {
			assert.Equal(t, dir, h.Directory)
		}
	}
	epochs := len(hosts[host]) - 2
	assert.Equal(t, len(hosts[host]), r.Records.Count)
	assert.Equal(t, "of "+host, r.StopReason)
	assert.Equal(t, epochs, *r.Epochs.Completed)
	assert.Equal(t, epochs-1, r.Best.Step)
	assert.Equal(t, epochs+1, strings.Count(files["plots/metrics/val/loss.tsv"], "\n"), "a row an epoch")
	assert.Equal(t, fmt.Sprintf("host: %q\n", host), files["params.yaml"])
	for name, text := range files {
		assert.NotContains(t, text, "/"+other+"/", "%s names a checkpoint of the other host", name)
	}
}
