package trainprofile

import (
	"cmp"
	"crypto/sha256"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// jobRunIDs are attributes with the run id of a Kubernetes Job; its name is next.
var jobRunIDs = []string{
	"k8s.job.label.pathologize.io/run-id", "k8s.job.labels.pathologize.io/run-id",
	"k8s.pod.label.pathologize.io/run-id", "k8s.pod.labels.pathologize.io/run-id", "k8s.job.name",
}

// rows gathers the points of a call that profiles read into rows, in the order of their times.
func (b *GaugeBatch) rows(md pmetric.Metrics) []*rowPoints {
	byKey := map[string]*rowPoints{}
	for _, rm := range md.ResourceMetrics().All() {
		resource := rm.Resource().Attributes()
		for _, sm := range rm.ScopeMetrics().All() {
			scope := sm.Scope().Name()
			for _, metric := range sm.Metrics().All() {
				if metric.Type() != pmetric.MetricTypeGauge {
					continue
				}
				p, role, as := b.records.set.gaugeProfile(scope, metric.Name())
				if p == nil {
					continue
				}
				for _, dp := range metric.Gauge().DataPoints().All() {
					b.point(byKey, p, Item{Resource: resource, Scope: scope, Name: metric.Name(), Attributes: dp.Attributes()}, dp, role, as)
				}
			}
		}
	}
	var rows []*rowPoints
	for _, all := range byKey {
		rows = append(rows, b.split(all)...)
	}
	slices.SortFunc(rows, func(a, b *rowPoints) int {
		return cmp.Or(cmp.Compare(a.last, b.last), cmp.Compare(a.first, b.first), cmp.Compare(a.run, b.run), cmp.Compare(a.part, b.part), cmp.Compare(a.key, b.key), cmp.Compare(a.process, b.process))
	})
	return rows
}

// point puts a point to others of the same run, scope, attributes and process.
func (b *GaugeBatch) point(byKey map[string]*rowPoints, p *Profile, it Item, dp pmetric.NumberDataPoint, role gaugeRole, as string) {
	empty := dp.ValueType() == pmetric.NumberDataPointValueTypeEmpty || dp.Flags().NoRecordedValue()
	if empty || dp.Timestamp() == 0 {
		b.Points[PointNoValue]++
		return
	}
	run := b.records.runOf(it)
	if run == "" {
		b.Points[PointNoRun]++
		return
	}
	gp := gaugePoint{gaugeValue: gaugeValue{name: it.Name, as: as, group: role == gaugeLearningRate, at: dp.Timestamp()}, isStep: role == gaugeStep}
	if !gp.read(dp) {
		b.Points[PointBadStep]++
		return
	}
	part, rank := b.records.describe(p, it, &gp)
	process := processOf(it.Resource)
	key := rowKey(p, it, run, part, rank)
	if len(run) > maxGaugeText || len(part) > maxGaugeText || len(as) > maxGaugeText {
		b.Points[PointLimit]++
		return
	}
	row := byKey[key+process]
	if row == nil {
		row = &rowPoints{run: run, key: key, process: process, profile: p, part: part, rank: rank, resource: it.Resource}
		byKey[key+process] = row
	}
	row.points = append(row.points, gp)
}

// read takes the value of a point; a step is a whole number.
func (p *gaugePoint) read(dp pmetric.NumberDataPoint) bool {
	p.isInt = dp.ValueType() == pmetric.NumberDataPointValueTypeInt
	n, f := dp.IntValue(), dp.DoubleValue()
	switch {
	case !p.isStep && p.isInt:
		p.bits = uint64(n)
	case !p.isStep:
		if math.IsNaN(f) {
			f = math.NaN() // one of many
		}
		p.bits = math.Float64bits(f)
	default:
		if !p.isInt {
			if f != math.Trunc(f) || !(math.Abs(f) < 1<<62) {
				return false
			}
			n = int64(f)
		}
		p.bits, p.isInt = uint64(n), true
		return n >= 0
	}
	return true
}

// split makes rows of the points of one key: a new one begins where a name repeats or the row would last too long. A point
// with the name and the time of another says the same.
func (b *GaugeBatch) split(all *rowPoints) (rows []*rowPoints) {
	slices.SortFunc(all.points, func(a, b gaugePoint) int {
		return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.name, b.name), cmp.Compare(a.bits, b.bits))
	})
	distinct := len(all.points)
	all.points = slices.CompactFunc(all.points, func(a, b gaugePoint) bool { return a.at == b.at && a.name == b.name })
	b.Points[PointDuplicate] += distinct - len(all.points)
	var row *rowPoints
	names := map[string]bool{}
	for _, p := range all.points {
		if row == nil || names[p.name] || !near(row.points[0].at, p.at, b.records.options.RowTolerance) {
			next := *all
			next.points, row = nil, &next
			rows = append(rows, row)
			clear(names)
		}
		row.points, names[p.name] = append(row.points, p), true
	}
	for _, r := range rows {
		r.measure()
	}
	return rows
}

// runOf gives the run of a point, "" when nothing tells it.
func (g *GaugeRecords) runOf(it Item) string {
	for _, keys := range [...][]string{g.options.RunIDFrom, jobRunIDs} {
		for _, key := range keys {
			for _, attrs := range [...]pcommon.Map{it.Attributes, it.Resource} {
				if s := textOf(attrs, key); s != "" {
					return s
				}
			}
		}
	}
	service, instance := textOf(it.Resource, "service.name"), textOf(it.Resource, "service.instance.id")
	if service == "" || instance == "" {
		return ""
	}
	return service + "-" + instance
}

func textOf(attrs pcommon.Map, key string) string {
	v, ok := attrs.Get(key)
	if !ok || v.Type() != pcommon.ValueTypeStr && v.Type() != pcommon.ValueTypeInt {
		return ""
	}
	return v.AsString()
}

func processOf(resource pcommon.Map) string {
	if instance, pid := textOf(resource, "service.instance.id"), textOf(resource, "process.pid"); instance+pid != "" {
		return digest(instance, pid)
	}
	return ""
}

// describe reads what a point is in the vocabulary: its phase, and part and rank of its row.
func (g *GaugeRecords) describe(p *Profile, it Item, gp *gaugePoint) (part string, rank int64) {
	rank = -1
	m := g.mapper
	m.openItem(it)
	defer m.views.reset()
	if p.attributes == nil || !p.attributes.when.met(&m.views, m.root) {
		return "", rank
	}
	read := func(step *attributeStep) (scalar, bool) {
		if step == nil {
			return scalar{}, false
		}
		c, _, ok := m.read(p, &step.setStep)
		return c, ok
	}
	if c, ok := read(p.gauges.phase); ok {
		gp.phase, _ = c.text()
	}
	if c, ok := read(p.gauges.part); ok {
		part, _ = c.text()
	}
	if c, ok := read(p.gauges.rank); ok {
		rank = c.i
	}
	return part, rank
}

// rowKey tells kinds of rows apart: run, scope, attributes, part and rank.
func rowKey(p *Profile, it Item, run, part string, rank int64) string {
	texts := []string{run, p.name, it.Scope, part, strconv.FormatInt(rank, 10)}
	for _, key := range p.gauges.row {
		v, ok := it.Attributes.Get(key)
		if !ok {
			v, ok = it.Resource.Get(key)
		}
		if ok {
			texts = append(texts, v.AsString())
		} else {
			texts = append(texts, "")
		}
	}
	return digest(texts...)
}

// digest is a text of fixed size that stands for texts from data.
func digest(texts ...string) string {
	h := sha256.New()
	for _, s := range texts {
		h.Write(strconv.AppendInt(nil, int64(len(s)), 10))
		h.Write([]byte{':'})
		h.Write([]byte(s))
	}
	return string(h.Sum(nil)[:16])
}

// prefixOf begins the names of a phase's measurements.
func prefixOf(phase string) string {
	switch phase {
	case trainrecord.PhaseTrain:
		return "train/"
	case trainrecord.PhaseValidation:
		return "val/"
	case trainrecord.PhaseTest:
		return "test/"
	default:
		return ""
	}
}
