package fleet

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/ports"
)

const (
	topic      = "train_logs"
	partitions = 6
	epochs     = 20
	within     = 90 * time.Second
)

// fleet is a Kafka, the folders of its hosts and the folder of its results. Its runs began a minute before the test: what ended long ago has no spans.
type fleet struct {
	t       *testing.T
	began   time.Time
	brokers string
	dir     string
	results string
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := fleetAt(t, "")
	f.brokers = f.broker(kfake.NumBrokers(1))
	return f
}

// fleetAt is one whose brokers are at an address that nothing may listen on yet.
func fleetAt(t *testing.T, brokers string) *fleet {
	t.Helper()
	dir := t.TempDir()
	return &fleet{t: t, began: time.Now().UTC().Add(-time.Minute), brokers: brokers, dir: dir, results: filepath.Join(dir, "results")}
}

// broker starts a Kafka with the topic and returns its address.
func (f *fleet) broker(where kfake.Opt) string {
	f.t.Helper()
	cluster, err := kfake.NewCluster(kfake.SeedTopics(partitions, topic), where)
	require.NoError(f.t, err)
	f.t.Cleanup(cluster.Close)
	return strings.Join(cluster.ListenAddrs(), ",")
}

// start runs a shipped configuration as a member of the fleet called name, whose state stays with the name.
func (f *fleet) start(config, name string, more map[string]string) *collector.Process {
	f.t.Helper()
	env := map[string]string{
		"KAFKA_BROKERS": f.brokers, "KAFKA_TOPIC": topic, "HEALTH_ENDPOINT": ports.Free(f.t), "OTLP_ENDPOINT": ports.Free(f.t),
		"STATE_DIR": filepath.Join(f.dir, name, "state"), "RUNS_DIR": f.runs(name), "RESULTS_DIR": f.results,
		"GATEWAY_ID": name, "LATE_GRACE": "300ms", "IDLE_TIMEOUT": "1m",
	}
	for k, v := range more {
		env[k] = v
	}
	require.NoError(f.t, os.MkdirAll(f.runs(name), 0o750))
	return collector.Start(f.t, collector.Options{
		Configs: []string{collector.Shipped(f.t, config)}, Env: env,
		YAML: quick[config],
	})
}

// quick lets gateways see each other's going and coming in seconds.
var quick = map[string]string{
	"fleet-gateway-results.yaml": "receivers: {kafka: {session_timeout: 6s, heartbeat_interval: 500ms, error_backoff: {initial_interval: 100ms}}}\n" +
		"exporters: {dvc_result: {live_interval: 1s}}\n",
	"fleet-gateway-backend.yaml": "receivers: {kafka: {session_timeout: 6s, heartbeat_interval: 500ms, error_backoff: {initial_interval: 100ms}}}\n",
}

func (f *fleet) runs(host string) string { return filepath.Join(f.dir, host, "runs") }

// write appends epochs from one to another of a run's stream; with the first comes the start, with the last the end.
func (f *fleet) write(host, run string, from, to int) {
	f.t.Helper()
	path := filepath.Join(f.runs(host), run, "train.jsonl")
	require.NoError(f.t, os.MkdirAll(filepath.Dir(path), 0o750))
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // the test's own
	require.NoError(f.t, err)
	defer func() { require.NoError(f.t, file.Close()) }()
	log := func(second int, event, body string) {
		at := f.began.Add(time.Duration(second) * time.Second).Format(time.RFC3339)
		_, err := fmt.Fprintf(file, `{"schema":"pathologize.ml.training/1","ts":%q,"event":%q,"framework":"pytorch","body":%s}`+"\n", at, event, body)
		require.NoError(f.t, err)
	}
	if from == 0 {
		log(0, "run.start", `{"planned_epochs":20,"params":{"lr":0.001},"objective":{"metric":"val/loss","mode":"min"}}`)
	}
	for epoch := from; epoch < to; epoch++ {
		log(epoch+1, "epoch.end", fmt.Sprintf(`{"epoch":%d,"measurements":{"val/loss":%g}}`, epoch, lossAt(epoch)))
	}
	if to == epochs {
		log(50, "run.end", `{"outcome":"success"}`)
	}
}

// lossAt has its least value in the first half, which a gateway that saw the second half alone cannot know.
func lossAt(epoch int) float64 {
	if epoch == 5 {
		return 0.5
	}
	return 1 + float64(epoch)/8
}

// result is what is looked at of a result.json.
type result struct {
	Outcome     string
	Final       bool
	Provisional bool
	Epochs      struct{ Completed int }
	Best        *struct {
		Value float64
		Step  int
	}
}

func (f *fleet) result(run string) (result, []byte, error) {
	var r result
	text, err := os.ReadFile(filepath.Join(f.results, run, "result.json")) //nolint:gosec // the test's own
	if err != nil {
		return r, nil, err
	}
	return r, text, json.Unmarshal(text, &r)
}

// right says of a result that is called final that it has everything: a success knows every epoch and the best of them, and anything else that is
// final is only so until the run goes on.
func (r result) right() error {
	complete := r.Outcome == "success" && r.Epochs.Completed == epochs && r.Best != nil && r.Best.Value == 0.5 && r.Best.Step == 5
	if r.Final && !complete && !r.Provisional || r.Outcome == "success" && !complete {
		return fmt.Errorf("wrong: %+v", r)
	}
	return nil
}

// watch looks at every result again and again until the test ends, and fails it when one is ever wrong, or when one that is final and has
// everything is replaced.
func (f *fleet) watch(runs []string) {
	done, ended := make(chan struct{}), make(chan struct{})
	whole := map[string]string{}
	go func() {
		defer close(ended)
		look := time.NewTicker(20 * time.Millisecond)
		defer look.Stop()
		for {
			select {
			case <-done:
				return
			case <-look.C:
			}
			for _, run := range runs {
				r, text, err := f.result(run)
				if err == nil && r.right() != nil {
					f.t.Errorf("%s: %v\n%s", run, r.right(), text)
					return
				}
				if was := whole[run]; err == nil && was != "" && was != string(text) {
					f.t.Errorf("%s: a result that had everything was replaced\nby %s\nit was %s", run, text, was)
					return
				}
				if err == nil && r.Final && r.Outcome == "success" {
					whole[run] = string(text)
				}
			}
		}
	}()
	f.t.Cleanup(func() { close(done); <-ended })
}

// complete waits until every run has its final result, and returns their bytes.
func (f *fleet) complete(runs []string) map[string]string {
	f.t.Helper()
	texts := map[string]string{}
	require.Eventually(f.t, func() bool {
		for _, run := range runs {
			r, text, err := f.result(run)
			if err != nil || !r.Final || r.Outcome != "success" {
				return false
			}
			texts[run] = string(text)
		}
		return true
	}, within, 50*time.Millisecond, "not every run has a result")
	return texts
}

// seen waits until every run has a result of at least so many epochs.
func (f *fleet) seen(runs []string, epochs int) {
	f.t.Helper()
	require.Eventually(f.t, func() bool {
		for _, run := range runs {
			if r, _, err := f.result(run); err != nil || r.Epochs.Completed < epochs {
				return false
			}
		}
		return true
	}, within, 50*time.Millisecond)
}
