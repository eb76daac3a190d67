package trainingsignalsconnector

import (
	"slices"
	"sort"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// instrument is one of the registry's metrics.
type instrument struct {
	name, unit, description string
	kind                    kind
	whole                   bool // its values are integers
	bounds                  []float64
	atOnce                  bool   // no zero goes first: it shows a state
	counted                 bool   // by increments, so it can be told by deltas
	own                     string // key of its own attribute without the namespace, "" when it has none
}

type kind uint8

const (
	kindSum kind = iota
	kindUpDown
	kindHistogram
	kindGauge
)

// Instruments by their place in the table.
const (
	runActive = iota
	runOutcomes
	runDuration
	phaseDuration
	phaseTime
	batchDuration
	dataWaitDuration
	dataWaitTime
	sampleProcessed
	epochLastCompleted
	instrumentCount
)

var instrumentNames = [instrumentCount]string{
	runActive: trainrecord.MetricRunActive, runOutcomes: trainrecord.MetricRunOutcomes, runDuration: trainrecord.MetricRunDuration,
	phaseDuration: trainrecord.MetricPhaseDuration, phaseTime: trainrecord.MetricPhaseTime, batchDuration: trainrecord.MetricBatchDuration,
	dataWaitDuration: trainrecord.MetricDataWaitDuration, dataWaitTime: trainrecord.MetricDataWaitTime,
	sampleProcessed: trainrecord.MetricSampleProcessed, epochLastCompleted: trainrecord.MetricEpochLastCompleted,
}

// instruments reads the registry's metrics.
func instruments(cfg *Config) *[instrumentCount]instrument {
	var table [instrumentCount]instrument
	for i, name := range instrumentNames {
		m, _ := trainrecord.Load().Metric(name)
		in := instrument{name: name, unit: m.Unit, description: m.Meaning, whole: m.Type == "int", bounds: m.Bounds}
		switch m.Instrument {
		case "updowncounter":
			in.kind, in.atOnce = kindUpDown, true
		case "histogram":
			in.kind, in.counted = kindHistogram, true
		case "gauge":
			in.kind, in.atOnce = kindGauge, true
		default:
			in.kind, in.counted = kindSum, true
		}
		if len(m.Attributes) > 0 {
			in.own = m.Attributes[0]
		}
		if bounds, ok := cfg.Buckets[name]; ok {
			in.bounds = bounds
		}
		table[i] = in
	}
	return &table
}

// bucket is the place of a value; upper bounds are inclusive.
func (in *instrument) bucket(x float64) int { return sort.SearchFloat64s(in.bounds, x) }

// value is what a series has counted.
type value struct {
	n       int64 // of whole numbers; of a histogram the count
	x       float64
	buckets []uint64
}

func (v *value) add(in *instrument, x float64, n int64) {
	switch {
	case in.kind == kindHistogram:
		if v.buckets == nil {
			v.buckets = make([]uint64, len(in.bounds)+1)
		}
		v.buckets[in.bucket(x)]++
		v.n++
		v.x += x
	case in.whole:
		v.n += n
	default:
		v.x += x
	}
}

// minus gives what was counted since an earlier value.
func (v *value) minus(o *value) value {
	d := value{n: v.n - o.n, x: v.x - o.x, buckets: slices.Clone(v.buckets)}
	for i, n := range o.buckets {
		d.buckets[i] -= n
	}
	return d
}

func (v *value) clone() value { return value{n: v.n, x: v.x, buckets: slices.Clone(v.buckets)} }

func (v *value) equal(o *value) bool { return v.n == o.n && v.x == o.x }
