package dvcresultexporter

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pathologize/otelcol-train/exporter/dvcresultexporter/internal/resultfile"
)

// on is a run of a host that names it at its start only, in a stream of its own. It begins and ends later with each file.
func on(id, host string, file int, scale float64) []line {
	at := 20 * file
	lines := []string{record(id, at, "run.start", fmt.Sprintf(`"planned_epochs":4,"params":{"seed":%d}`, file), fmt.Sprintf(`"host":%q`, host))}
	for n := range 4 {
		lines = append(lines, record(id, at+60*(n+1), "epoch.end", fmt.Sprintf(
			`"epoch":%d,"durations":{"epoch_s":60},"measurements":{"val/loss":%g},"checkpoint":{"path":"%s/%d.pt","kind":"best"}`, n, scale/float64(n+1), host, n)))
	}
	lines = append(lines, record(id, at+300, "run.end", `"outcome":"success"`))
	return inFile(int64(file), stream(lines...))
}

// trees reads all results.
func (r *rig) trees() map[string]string {
	r.t.Helper()
	files := readTree(r.t, r.cfg.Directory)
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasPrefix(name, ".dvc_result/") })
	return files
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &out))
	return out
}

// Each host's result is the one that it would have alone, but for the conflict that both name.
func TestHostsInConflictHaveAResultEach(t *testing.T) {
	t.Parallel()
	alone := map[string]map[string]string{}
	hosts := map[string][]line{"gpu-01": on("a", "gpu-01", 1, 1), "gpu-02": on("a", "gpu-02", 2, 8)}
	for host, lines := range hosts {
		inBubble(t, func(t *testing.T, r *rig) {
			r.start()
			defer r.stop()
			r.feed(lines...)
			pass(time.Minute)
			alone[host] = r.files("a")
		})
	}
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		r.feed(append(hosts["gpu-02"], hosts["gpu-01"]...)...)
		pass(time.Minute)
		schema, err := jsonschema.NewCompiler().Compile("result.schema.json")
		require.NoError(t, err)
		for dir, host := range map[string]string{"a": "gpu-01", resultfile.SideDirectory("a", "gpu-02"): "gpu-02"} {
			got := r.files(dir)
			require.Contains(t, got, "result.json", dir)
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(got["result.json"]))
			require.NoError(t, err)
			require.NoError(t, schema.Validate(doc))
			res := decoded(t, got["result.json"])
			assert.Equal(t, true, res["conflict"])
			assert.Equal(t, host, res["conflict_host"])
			assert.Equal(t, []any{
				map[string]any{"directory": "a", "first": "2026-11-20T10:00:20.000Z", "host": "gpu-01"},
				map[string]any{"directory": resultfile.SideDirectory("a", "gpu-02"), "first": "2026-11-20T10:00:40.000Z", "host": "gpu-02"},
			}, res["conflict_hosts"])
			for _, key := range []string{"conflict", "conflict_host", "conflict_hosts"} {
				delete(res, key)
			}
			assert.Equal(t, decoded(t, alone[host]["result.json"]), res)
			delete(got, "result.json")
			delete(alone[host], "result.json")
			assert.Equal(t, alone[host], got)
		}
		assert.Equal(t, "2", r.metric(`otelcol_dvc_result_written_results{outcome="success"}`))
	})
}

// Whatever came first, whichever host was taken for the owner meanwhile, and whatever results had been written: what is on
// disk in the end is what an undisturbed run leaves.
func TestConflictsEndAlikeWhateverCameFirst(t *testing.T) {
	t.Parallel()
	var list []line
	list = append(list, on("a", "gpu-02", 1, 2)...)
	list = append(list, on("a", "gpu-01", 2, 8)...)
	list = append(list, on("a", "gpu-03", 3, 4)...)
	list = append(list, inFile(4, stream(record("a", 400, "log", `"message":"the launcher's"`)))...)
	list = append(list, on("b", "gpu-01", 5, 1)...)
	list = append(list, inFile(6, stream(record("b", 100, "epoch.end", `"epoch":9,"measurements":{"other":1}`, `"host":"gpu-07"`, `"rank":1`)))...)
	var want map[string]string
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.feed(list...)
		pass(time.Hour)
		want = r.trees()
		r.stop()
	})
	require.Contains(t, want, resultfile.SideDirectory("a", "gpu-01")+"/result.json")
	require.Contains(t, want, resultfile.SideDirectory("a", "gpu-03")+"/result.json")
	require.NotContains(t, decoded(t, want["b/result.json"]), "conflict")
	dirs, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		order := rapid.Permutation(list).Draw(rt, "order")
		cuts := rapid.SliceOfN(rapid.IntRange(0, 9), len(order), len(order)).Draw(rt, "cuts")
		stored, small := rapid.Bool().Draw(rt, "stored"), rapid.Bool().Draw(rt, "small")
		n++
		dir := filepath.Join(dirs, fmt.Sprint(n))
		var got map[string]string
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, dir)
			if !stored {
				r.cfg.StorageID = nil
			}
			if small && stored {
				r.cfg.MaxStateBytes = 1
			}
			r.start()
			r.feedDisturbed(order, cuts)
			pass(time.Hour)
			got = r.trees()
			r.stop()
		})
		require.Equal(rt, want, got)
	})
}

// feedDisturbed feeds lines in batches that end where a cut says so: by a kill and a new start, or with some time behind it.
func (r *rig) feedDisturbed(order []line, cuts []int) {
	var batch []line
	for i, l := range order {
		batch = append(batch, l)
		switch cuts[i] {
		case 0, 1, 2, 3:
			continue
		case 4:
			r.feed(batch...)
			r.kill()
			r.start()
			if r.cfg.StorageID == nil {
				r.feed(order[:i+1]...) // the receiver begins again
			}
		case 5:
			r.feed(batch...)
			pass(time.Hour)
		default:
			r.feed(batch...)
			pass(time.Duration(cuts[i]*2) * time.Second)
		}
		batch = nil
	}
	r.feed(batch...)
}

// A host that falls silent is stalled in its own time, also over kills, whatever the other one does.
func TestHostsInConflictHaveVerdictsOfTheirOwn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		a, b := on("a", "gpu-01", 1, 1), on("a", "gpu-02", 2, 8)
		other := resultfile.SideDirectory("a", "gpu-02")
		r.feed(append(a[:3:3], b...)...)
		pass(time.Minute)
		assert.Nil(t, r.files("a"))
		r.says(other, "success", true, false)
		for i := range 4 {
			r.feed(inFile(2, []line{{record("a", 500+i, "heartbeat", ""), int64(90_000 + i)}})...)
			pass(8 * time.Minute)
		}
		r.says("a", "stalled", true, true)
		before := r.trees()
		r.kill()
		r.start()
		pass(time.Minute)
		assert.Equal(t, before, r.trees())
		pass(48 * time.Hour)
		r.feed(a[3:]...)
		pass(time.Minute)
		r.says("a", "success", true, false)
		r.says(other, "success", true, false)
		pass(23*time.Hour + 58*time.Minute)
		assert.Equal(t, "0", r.metric(`otelcol_dvc_result_runs{state="closed"}`))
		pass(2 * time.Minute)
		assert.Equal(t, "1", r.metric(`otelcol_dvc_result_runs{state="closed"}`))
		r.kill()
		r.start()
		r.feed(append(a, b...)...)
		pass(time.Hour)
		r.says("a", "success", true, false)
		r.stop()
	})
}

// A final result is not touched while another host goes on.
func TestAFinalResultStaysWhileTheOtherHostGoesOn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		defer r.stop()
		b := on("a", "gpu-02", 2, 8)
		r.feed(append(on("a", "gpu-01", 1, 1), b[:3]...)...)
		pass(time.Minute)
		path := filepath.Join(r.cfg.Directory, "a", "result.json")
		before, err := os.Stat(path)
		require.NoError(t, err)
		for _, l := range b[3:] {
			r.feed(l)
			pass(time.Minute)
		}
		r.says(resultfile.SideDirectory("a", "gpu-02"), "success", true, false)
		after, err := os.Stat(path)
		require.NoError(t, err)
		assert.True(t, os.SameFile(before, after))
	})
}

// A directory that a run has by its id belongs to it, however much it looks like that of a host.
func TestADirectoryOfAnotherRunIsNotTakenForThatOfAHost(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{true, false} {
		inBubble(t, func(t *testing.T, r *rig) {
			r.start()
			defer r.stop()
			id := resultfile.SideDirectory("a", "gpu-02")
			forged := wholeRun(id)
			if first {
				r.feed(forged...)
				pass(time.Minute)
			}
			r.feed(append(on("a", "gpu-01", 1, 1), on("a", "gpu-02", 2, 8)...)...)
			pass(time.Minute)
			r.feed(forged...)
			pass(time.Minute)
			assert.Equal(t, id, decoded(t, r.files(id)["result.json"])["run_id"])
			assert.Equal(t, 7, r.count(id))
			assert.Equal(t, "gpu-01", decoded(t, r.files("a")["result.json"])["conflict_host"])
		})
	}
}

// The storage keeps what was seen of each host: a start does not make unknown what was watched falling silent.
func TestAStalledHostStaysStalledOverAKill(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.start()
		r.feed(append(on("a", "gpu-01", 1, 1), on("a", "gpu-02", 2, 8)[:3]...)...)
		pass(40 * time.Minute)
		other := resultfile.SideDirectory("a", "gpu-02")
		r.says("a", "success", true, false)
		r.says(other, "stalled", true, true)
		before := r.trees()
		r.kill()
		r.start()
		pass(time.Minute)
		assert.Equal(t, before, r.trees())
		r.stop()
	})
}
