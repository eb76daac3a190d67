package e2e

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pathologize/otelcol-train/test/internal/collector"
	"github.com/pathologize/otelcol-train/test/internal/otlpsink"
)

const (
	// shippedCheckpoint is the default checkpoint_interval.
	shippedCheckpoint = time.Second
	// checkpointSlack is what a checkpoint may take, flush included: the oldest record that came again had arrived 0.98 s before its kill
	// on two cores with a load of 4. What the machine kept from being done meanwhile comes on top, as stalls measure it.
	checkpointSlack = 250 * time.Millisecond
)

// killLoop sends every record to a backend and keeps nothing between file and backend. Each life of the collector names itself.
const killLoop = `
extensions:
  file_storage: {directory: "${env:STATE_DIR}", create_directory: true, fsync: true}
receivers:
  train_jsonl: {include: ["${env:RUNS_DIR}/*/train.jsonl"], storage: file_storage}
exporters:
  otlp_grpc:
    endpoint: ${env:OTLP_ENDPOINT}
    tls: {insecure: true}
    sending_queue: {enabled: false}
    headers: {life: "${env:LIFE}"}
service:
  extensions: [file_storage]
  pipelines:
    logs: {receivers: [train_jsonl], exporters: [otlp_grpc]}
`

// TestAHundredKillsLoseNothingAndRepeatAtMostACheckpointInterval kills the collector at random moments, some of them while it starts, while
// trainers write in pieces of any size. Every line arrives; what arrives again has the uid that it had, and had arrived within the
// checkpoint_interval before a kill, and what the machine stalled meanwhile.
//
//nolint:paralleltest // it holds times to a promise: the other tests, which want all of the machine, wait
func TestAHundredKillsLoseNothingAndRepeatAtMostACheckpointInterval(t *testing.T) {
	const kills, trainers = 100, 3
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	f, sink, got := newFolders(t), otlpsink.Start(t, otlpsink.Accept), newLedger()
	sink.KeepLogs(got.take)
	env := map[string]string{"RUNS_DIR": f.Runs, "STATE_DIR": f.State, "OTLP_ENDPOINT": sink.Endpoint(), "LIFE": "0"}
	c := collector.New(t, collector.Options{YAML: killLoop, Env: env})

	var group sync.WaitGroup
	stop := make(chan struct{})
	end := sync.OnceFunc(func() { close(stop); group.Wait() })
	defer end()
	written, errs := make([][]time.Time, trainers), make([]error, trainers)
	for i := range trainers {
		tr := newTrainer(t, f, "run-"+strconv.Itoa(i))
		random := rand.New(rand.NewPCG(seed, uint64(i+1))) //nolint:gosec // a load, no secret
		group.Go(func() { written[i], errs[i] = writeLive(tr.path, random, stop) })
	}
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a load, no secret
	machine := watchStalls(t, f.State)
	// deaf is the longest time in which no collector was seen to read: what was written meanwhile is delivered at once, and may come
	// again beside what was.
	dead, deaf := time.Now(), time.Duration(0)
	for life := range kills {
		env["LIFE"] = strconv.Itoa(life)
		require.NoError(t, c.Launch())
		machine.take() // of the life before
		if life%5 == 4 {
			pause(t, time.Duration(random.IntN(120))*time.Millisecond) // while it starts
		} else {
			c.WaitReady()
			deaf = max(deaf, time.Since(dead))
			pause(t, time.Duration(random.IntN(1600))*time.Millisecond)
			dead = time.Now()
		}
		got.killed(life, machine.take())
		c.Kill()
	}
	env["LIFE"] = strconv.Itoa(kills)
	c.Start()
	end()
	require.NoError(t, errors.Join(errs...))
	lines := slices.Concat(written...)
	want := len(lines)
	assert.Eventually(t, func() bool { return got.distinct() >= want }, resultWithin, 50*time.Millisecond, "lost records")
	self := c.Metrics()
	c.Stop()
	t.Log(got.summary(want))
	const within = shippedCheckpoint + checkpointSlack
	got.check(t, want, within)
	got.checkRepeats(t, mostIn(within+got.worstStall()+deaf, lines))
	for _, name := range []string{"bad_lines", "rewrites", "refused_records", "lost_bytes", "checkpoint_errors"} {
		assert.Zero(t, self.Sum("otelcol_train_jsonl_"+name, nil), name)
	}
}

// mostIn is how many lines were written in any time of a length.
func mostIn(length time.Duration, lines []time.Time) (most int) {
	slices.SortFunc(lines, time.Time.Compare)
	first := 0
	for i, at := range lines {
		for at.Sub(lines[first]) > length {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// writeLive appends records to a file in pieces of any size until stop is closed, the last one whole, and returns when each was made.
func writeLive(path string, random *rand.Rand, stop <-chan struct{}) (lines []time.Time, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // every write was checked
	run := filepath.Base(filepath.Dir(path))
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var pending []byte
	for {
		select {
		case <-stop:
			_, err := file.Write(pending)
			return lines, err
		case <-tick.C:
		}
		for range random.IntN(10) {
			pending = fmt.Appendf(pending, `{"schema":"pathologize.ml.training/1","ts":"2026-11-20T10:00:00Z","event":"step.end","run_id":%q,`+
				`"body":{"step":%d,"measurements":{"train/loss":%.4f}}}`+"\n", run, len(lines), random.Float64())
			lines = append(lines, time.Now())
		}
		n, err := file.Write(pending[:random.IntN(len(pending)+1)])
		if err != nil {
			return lines, err
		}
		pending = append(pending[:0], pending[n:]...)
	}
}
