package resultfile

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// previous is a result.json on disk, as far as a state takes it over.
type previous struct {
	marker
	LastAt     string                    `json:"last_record_at"`
	Failures   []previousFailure         `json:"failures"`
	FailTotal  int64                     `json:"failures_total"`
	Attempts   []previousAttempt         `json:"attempts"`
	Metrics    map[string]previousMetric `json:"metrics"`
	Names      map[string]string         `json:"names"`
	NonFinite  map[string]nonFinite      `json:"non_finite"`
	Epochs     trainrun.Epochs           `json:"epochs"`
	Steps      trainrun.Steps            `json:"steps"`
	Objective  *trainrun.Objective       `json:"objective"`
	Best       *previousBest             `json:"best"`
	Artifacts  []previousFile            `json:"artifacts"`
	Records    previousRecords           `json:"records"`
	Durations  previousTimes             `json:"durations"`
	Source     previousSource            `json:"source"`
	Where      previousWhere             `json:"where"`
	Digest     string                    `json:"params_digest"`
	Renamed    map[string]string         `json:"renamed_params"`
	TaskFamily string                    `json:"task_family"`
	Resources  *previousGPUs             `json:"resources"`
	Notes      []trainrun.Note           `json:"notes"`
}

type previousAttempt struct {
	Attempt          int64
	Host             string
	StartedAt        string `json:"started_at"`
	EndedAt          string `json:"ended_at"`
	Outcome          string
	FirstEpoch       *int64 `json:"first_epoch"`
	LastEpoch        *int64 `json:"last_epoch"`
	FirstStep        *int64 `json:"first_step"`
	LastStep         *int64 `json:"last_step"`
	SupersededEpochs int64  `json:"superseded_epochs"`
	SupersededSteps  int64  `json:"superseded_steps"`
}

type previousFailure struct {
	Attempt, Rank        int64
	Part, At             string
	Type, Message, Stack string
	Epoch, Step          *int64
}

type previousMetric struct {
	Axis     string
	Points   int64
	Final    *metricValue
	Last     *metricValue
	LastStep int64 `json:"last_step"`
	Min, Max *metricValue
	MinStep  int64  `json:"min_step"`
	MaxStep  int64  `json:"max_step"`
	AtSteps  places `json:"at_steps"`
	Sampled  bool

	untabled bool // the table is over another axis
}

// places are the steps of the run at which the last, the least and the greatest value of a curve over epochs were told.
type places struct{ Last, Min, Max *int64 }

type nonFinite struct {
	Count int64
	First *int64 `json:"first_step"`
}

type previousBest struct {
	Metric string
	Value  float64
	Step   int64
	Axis   string
	At     string
	Path   string `json:"checkpoint_path"`
}

type previousFile struct {
	Role, Path, SHA256, Source string
	Size, Epoch, Step          *int64
}

type previousRecords struct {
	Count    int64
	ByEvent  map[string]int64 `json:"by_event"`
	FirstSeq int64            `json:"first_seq"`
	LastSeq  int64            `json:"last_seq"`
	Gaps     int64
	Rejected int64
	Streams  int64
	NoTime   int64 `json:"no_time"`
}

type previousTimes struct {
	Phases map[string]float64 `json:"phase_seconds"`
}

type previousSource struct {
	Git *struct {
		Commit, Branch string
		Dirty          *bool
	}
	Command             string
	Framework           struct{ Name, Version string }
	Python, Torch, CUDA string
	Versions            map[string]string
}

type previousWhere struct {
	Host, Service string
	K8s           struct{ Namespace, Job, Pod, Container string }
}

// metricValue is a value of a metric: "nan", "inf" and "-inf" are texts.
type metricValue float64

// UnmarshalJSON reads what encodeJSON wrote.
func (n *metricValue) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	*n = metricValue(v)
	return err
}

func readPrevious(b []byte) (*previous, bool) {
	var p previous
	if json.Unmarshal(b, &p) != nil || p.Schema != Schema {
		return nil, false
	}
	p.marker, _ = readMarker(b) // the outer fields took the place of its own
	return &p, true
}

// nanos reads a time of a result, 0 for none.
func nanos(text string) int64 {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0
	}
	return t.UnixNano()
}

func axisOf(text string) trainrun.Axis {
	for _, a := range []trainrun.Axis{trainrun.AxisEpoch, trainrun.AxisStep} {
		if a.String() == text {
			return a
		}
	}
	return trainrun.AxisOrder
}

// points are those of a metric's table; without one, those that result.json names.
func (p *previous) points(name string, read func(string) []byte) []trainrun.Point {
	path := name
	if other, ok := p.Names[name]; ok {
		path = other
	}
	m := p.Metrics[name]
	if out := readTable(read(PlotsDir + "/" + path + PlotsSuffix)); len(out) > 0 && !m.untabled {
		return out
	}
	var out []trainrun.Point
	add := func(x int64, v *metricValue) {
		if v != nil && isFinite(float64(*v)) {
			out = append(out, trainrun.Point{X: x, V: float64(*v)})
		}
	}
	add(m.LastStep, m.Last)
	add(m.MinStep, m.Min)
	add(m.MaxStep, m.Max)
	return out
}

// readTable reads what table wrote; nil for anything else.
func readTable(b []byte) []trainrun.Point {
	_, rows, ok := bytes.Cut(b, []byte("\n"))
	if !ok {
		return nil
	}
	var out []trainrun.Point
	for line := range strings.Lines(string(rows)) {
		x, v, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		step, err := strconv.ParseInt(x, 10, 64)
		value, errV := strconv.ParseFloat(v, 64)
		if !ok || err != nil || errV != nil || math.IsNaN(value) {
			return nil
		}
		out = append(out, trainrun.Point{X: step, V: value})
	}
	return out
}
