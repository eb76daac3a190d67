package soak

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// run is a training that writes a row a second: an epoch has ten steps.
type run struct {
	id    string
	path  string
	steps int
}

const stepsOfEpoch = 10

func newRun(t *testing.T, dir string, n int) *run {
	t.Helper()
	r := &run{id: fmt.Sprintf("run-%03d", n)}
	r.path = filepath.Join(dir, r.id, "train.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(r.path), 0o750))
	r.log(t, "run.start", `{"params":{"lr":0.001,"batch_size":32},"objective":{"metric":"val/loss","mode":"min"}}`)
	return r
}

func (r *run) log(t *testing.T, event, body string) {
	t.Helper()
	file, err := os.OpenFile(r.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	_, err = fmt.Fprintf(file, `{"schema":"pathologize.ml.training/1","ts":%q,"event":%q,"framework":"pytorch","body":%s}`+"\n",
		time.Now().UTC().Format(time.RFC3339Nano), event, body)
	require.NoError(t, err)
}

// step writes the next row.
func (r *run) step(t *testing.T) {
	t.Helper()
	loss := 1 + 10/float64(r.steps+10)
	epoch := r.steps / stepsOfEpoch
	r.log(t, "step.end", fmt.Sprintf(`{"step":%d,"epoch":%d,"measurements":{"train/loss":%g,"train/accuracy":%g}}`, r.steps, epoch, loss, 1/loss))
	r.steps++
	if r.steps%stepsOfEpoch == 0 {
		r.log(t, "epoch.end", fmt.Sprintf(`{"epoch":%d,"measurements":{"val/loss":%g}}`, epoch, loss))
	}
}

var (
	gpuZero = regexp.MustCompile(`gpu="0",UUID="GPU-3b1d0c52`)
	comment = regexp.MustCompile(`^#`)
)

// eightGPUs makes of the sample of a host with two GPUs one with eight.
func eightGPUs(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "dcgm", "metrics.prom"))
	require.NoError(t, err)
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		out.WriteString(line)
		if comment.MatchString(line) || !gpuZero.MatchString(line) {
			continue
		}
		for gpu := 2; gpu < 8; gpu++ {
			out.WriteString(gpuZero.ReplaceAllString(line, fmt.Sprintf(`gpu="%d",UUID="GPU-%08x`, gpu, gpu)))
		}
	}
	path := filepath.Join(t.TempDir(), "metrics.prom")
	require.NoError(t, os.WriteFile(path, []byte(out.String()), 0o600))
	return path
}

// metrics is what trainers with OTLP send: gauges that carry their run.
func metrics(runs, tick int) pmetric.Metrics {
	md := pmetric.NewMetrics()
	sm := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty()
	sm.Scope().SetName("trainer")
	m := sm.Metrics().AppendEmpty()
	m.SetName("training.loss")
	points := m.SetEmptyGauge().DataPoints()
	for n := range runs {
		p := points.AppendEmpty()
		p.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
		p.SetDoubleValue(1 / float64(tick+1))
		p.Attributes().PutStr("run_id", fmt.Sprintf("run-%03d", n))
	}
	return md
}
