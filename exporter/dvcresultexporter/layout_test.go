package dvcresultexporter

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// startedAt is a run with one metric that began n minutes after all runs.
func startedAt(id string, n int, metric string) []line {
	return stream(
		record(id, 60*n, "run.start", `"params":{"lr":0.5}`),
		record(id, 60*n+10, "epoch.end", `"epoch":0,"measurements":{"`+metric+`":0.5}`),
		record(id, 60*n+20, "run.end", `"outcome":"success"`),
	)
}

// shows gives the run of the only result, with the metrics that have a plot.
func (r *rig) shows() (run string, plots []string) {
	r.t.Helper()
	entries, err := os.ReadDir(r.cfg.Directory)
	require.NoError(r.t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Equal(r.t, []string{".dvc_result", "newest"}, names, "one folder for all runs")
	var doc struct {
		RunID string `json:"run_id"`
	}
	files := r.files("newest")
	require.NoError(r.t, json.Unmarshal([]byte(files["result.json"]), &doc))
	for name := range files {
		if metric, ok := strings.CutPrefix(name, "plots/metrics/"); ok {
			plots = append(plots, metric)
		}
	}
	return doc.RunID, plots
}

func TestFixedLayoutShowsTheNewestRun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.Layout, r.cfg.Name = layoutFixed, "newest"
		r.start()
		expect := func(run, plot string) {
			t.Helper()
			got, plots := r.shows()
			assert.Equal(t, []any{run, []string{plot + ".tsv"}}, []any{got, plots})
		}
		settle := func() { pass(11 * time.Second) }
		r.feed(startedAt("middle", 10, "a")...)
		settle()
		expect("middle", "a")
		r.feed(startedAt("older", 5, "b")...)
		settle()
		expect("middle", "a")
		assert.Equal(t, "1", r.metric("otelcol_dvc_result_kept_results"))
		r.feed(startedAt("NEWER/../x", 20, "c")...)
		settle()
		expect("NEWER/../x", "c")
		r.feed(stream(record("none", 0, "heartbeat", ""), `{"schema":"pathologize.ml.training/1","event":"run.end","run_id":"none","body":{"outcome":"success"}}`)...)
		r.feed(startedAt("a", 20, "d")...) // as old: the greater name counts
		settle()
		expect("a", "d")
		want := r.files("newest")
		r.kill()
		r.start()
		r.feed(startedAt("older", 5, "b")...)
		pass(time.Minute)
		assert.Equal(t, want, r.files("newest"))
		r.stop()
	})
}
