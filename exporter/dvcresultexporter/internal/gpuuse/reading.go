package gpuuse

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"math/bits"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// field is a measurement of a GPU.
type field uint8

const (
	energy        field = iota // mJ since boot
	power                      // W
	memory                     // MiB
	util                       // %
	heat                       // °C
	reasons                    // bit mask of what slows the clocks down
	xid                        // the last code
	violatedPower              // ns since boot; the last of the violations is violatedReliability
	violatedThermal
	violatedSync
	violatedBoard
	violatedLowUtil
	violatedReliability
	fields
)

// fieldOf names the metrics. The windowed DCGM_EXP_..._COUNT are not among them: they count again and again what happened once.
func fieldOf(metric string) (field, bool) {
	name, ok := strings.CutPrefix(metric, "DCGM_FI_DEV_")
	if !ok {
		return 0, false
	}
	switch name {
	case "TOTAL_ENERGY_CONSUMPTION":
		return energy, true
	case "POWER_USAGE":
		return power, true
	case "FB_USED":
		return memory, true
	case "GPU_UTIL":
		return util, true
	case "GPU_TEMP":
		return heat, true
	case "CLOCKS_EVENT_REASONS", "CLOCK_THROTTLE_REASONS":
		return reasons, true
	case "XID_ERRORS":
		return xid, true
	}
	name, ok = strings.CutSuffix(name, "_VIOLATION")
	i := slices.Index(violations[:], strings.ToLower(name))
	return violatedPower + field(max(i, 0)), ok && i >= 0
}

// violations names the counters of throttled time in the order of their fields.
var violations = [...]string{"power", "thermal", "sync_boost", "board_limit", "low_util", "reliability"}

// blank is what old versions of DCGM write for no value; real values are far below.
const blank = 9e18

// Pod is a pod of Kubernetes.
type Pod struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// cardID tells GPUs apart, and instances of one (MIG).
type cardID struct{ UUID, Instance string }

func (a cardID) compare(b cardID) int {
	return cmp.Or(strings.Compare(a.UUID, b.UUID), strings.Compare(a.Instance, b.Instance))
}

// Reading is what one scrape says of one GPU.
type Reading struct {
	UUID     string `json:"uuid"`
	Instance string `json:"instance,omitempty"`
	Profile  string `json:"profile,omitempty"`
	Host     string `json:"host,omitempty"`
	Model    string `json:"model,omitempty"`
	Sample   Sample `json:"sample"`
}

// Sample is the part of a reading that changes.
type Sample struct {
	Time   int64
	Pods   []Pod // sorted
	has    uint32
	values [fields]float64
}

// sampleJSON is a Sample in the storage.
type sampleJSON struct {
	Time   int64     `json:"t"`
	Pods   []Pod     `json:"pods,omitempty"`
	Has    uint32    `json:"f"`
	Values []float64 `json:"v,omitempty"`
}

// MarshalJSON writes the values that are there.
func (s Sample) MarshalJSON() ([]byte, error) {
	out := sampleJSON{Time: s.Time, Pods: s.Pods, Has: s.has}
	for f := range fields {
		if v, ok := s.get(f); ok {
			out.Values = append(out.Values, v)
		}
	}
	return json.Marshal(out)
}

var errSample = errors.New("no sample")

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Sample) UnmarshalJSON(b []byte) error {
	var in sampleJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if bits.OnesCount32(in.Has) != len(in.Values) || in.Has >= 1<<fields {
		return errSample
	}
	*s = Sample{Time: in.Time, Pods: in.Pods}
	for f := range fields {
		if in.Has&(1<<f) != 0 {
			s.set(f, in.Values[0])
			in.Values = in.Values[1:]
		}
	}
	return nil
}

func (s *Sample) get(f field) (float64, bool) { return s.values[f], s.has&(1<<f) != 0 }

// set takes the greatest of several values: a shared GPU may have one for each process beside that of the device.
func (s *Sample) set(f field, v float64) {
	if s.has&(1<<f) == 0 || v > s.values[f] {
		s.values[f] = v
	}
	s.has |= 1 << f
}

func (s *Sample) addPod(p Pod) {
	if i, found := slices.BinarySearchFunc(s.Pods, p, comparePods); !found && len(s.Pods) < maxPods {
		s.Pods = slices.Insert(s.Pods, i, p)
	}
}

func comparePods(a, b Pod) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Namespace, b.Namespace))
}

const (
	maxPods  = 64  // of a sample
	maxLabel = 256 // bytes of a label that is kept
)

// Read collects the readings in a batch of metrics, by GPU and time, and says how many were of GPUs without a UUID. Everything else in it is
// ignored.
func Read(md pmetric.Metrics) (readings []Reading, nameless int) {
	c := collector{at: map[readingKey]int{}, nameless: map[readingKey]struct{}{}}
	for _, rm := range md.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				f, ok := fieldOf(m.Name())
				if !ok {
					continue
				}
				switch m.Type() {
				case pmetric.MetricTypeGauge:
					c.points(f, m.Gauge().DataPoints())
				case pmetric.MetricTypeSum:
					c.points(f, m.Sum().DataPoints())
				default: // no value of a GPU
				}
			}
		}
	}
	slices.SortFunc(c.out, func(a, b Reading) int {
		return cmp.Or(cmp.Compare(a.Sample.Time, b.Sample.Time), a.id().compare(b.id()))
	})
	return c.out, len(c.nameless)
}

func (r *Reading) id() cardID { return cardID{r.UUID, r.Instance} }

type readingKey struct {
	card cardID
	time int64
}

type collector struct {
	out      []Reading
	at       map[readingKey]int
	nameless map[readingKey]struct{} // by what else tells them apart
}

func (c *collector) points(f field, points pmetric.NumberDataPointSlice) {
	for _, p := range points.All() {
		v := p.DoubleValue()
		if p.ValueType() == pmetric.NumberDataPointValueTypeInt {
			v = float64(p.IntValue())
		}
		if p.Flags().NoRecordedValue() || math.IsNaN(v) || v < 0 || v >= blank || p.Timestamp() == 0 || p.Timestamp() > math.MaxInt64 {
			continue
		}
		label := func(names ...string) string { return labelOf(p.Attributes(), names) }
		id := cardID{label("UUID", "uuid"), label("GPU_I_ID", "gpu_i_id")}
		if id.UUID == "" {
			other := cardID{label("gpu", "GPU", "device"), label("hostname", "Hostname")}
			c.nameless[readingKey{other, int64(p.Timestamp())}] = struct{}{} //nolint:gosec // compared above
			continue
		}
		key := readingKey{id, int64(p.Timestamp())} //nolint:gosec // compared above
		i, found := c.at[key]
		if !found {
			i = len(c.out)
			c.at[key] = i
			c.out = append(c.out, Reading{
				UUID: id.UUID, Instance: id.Instance, Profile: label("GPU_I_PROFILE", "gpu_i_profile"),
				Host: label("hostname", "Hostname"), Model: label("modelName", "modelname"), Sample: Sample{Time: key.time},
			})
		}
		// What a scraper calls exported_ is the exporter's own label; without it is that of the pod which was scraped.
		pod := Pod{Name: label("exported_pod", "pod", "pod_name"), Namespace: label("exported_namespace", "namespace", "pod_namespace")}
		if pod.Name != "" {
			c.out[i].Sample.addPod(pod)
		}
		c.out[i].Sample.set(f, v)
	}
}

// labelOf is the first of the labels that is there.
func labelOf(attrs pcommon.Map, names []string) string {
	for _, name := range names {
		if v, ok := attrs.Get(name); ok && v.Type() == pcommon.ValueTypeStr && v.Str() != "" && len(v.Str()) <= maxLabel {
			return v.Str()
		}
	}
	return ""
}
