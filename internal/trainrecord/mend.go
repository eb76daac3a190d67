package trainrecord

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// mender takes out of a body what does not fit the registry. Each value costs itself alone; where it stood, it is as if it had not been told. What it
// takes goes to the details, under its path. In an object whose names are free, and in an array, a value of another type, or one without a
// name, stays: it is nobody's.
type mender struct {
	taken            []taken
	dropped, offList int
	flaw             string // the first
}

// What is wanted instead of a value off its list, and of one whose free name is empty.
const (
	wantListed = "one of its list"
	wantName   = "a name for each number"
)

type taken struct {
	path  string
	value pcommon.Value
}

// mend takes what does not fit out of a body. null counts as absent and is removed.
func (d *Decoder) mend(event eventKind, body pcommon.Map, l *Line) {
	var m mender
	body.RemoveIf(func(key string, v pcommon.Value) bool {
		r := ruleOf(event, key)
		return r != nil && (v.Type() == pcommon.ValueTypeEmpty || !m.keeps(r, key, KeyBody+"."+key, v))
	})
	for _, t := range m.taken {
		putFree(details(body), t.path, t.value)
	}
	l.FieldsDropped += m.dropped
	l.OffList += m.offList
	if m.flaw != "" {
		l.flaw(m.flaw)
	}
}

// keeps says whether a value stays. path is where it is; place the same for people, without numbers.
func (m *mender) keeps(r *bodyRule, path, place string, v pcommon.Value) bool {
	if r.fits(v) {
		return true
	}
	switch t := v.Type(); {
	case t == pcommon.ValueTypeMap && r.kind == "object":
		m.object(r, path, place, v.Map())
		return true
	case t == pcommon.ValueTypeSlice && r.kind == "array":
		m.elements(r.rest, path, place+"[]", v.Slice())
		return true
	case t == pcommon.ValueTypeStr && r.list != nil && !r.closed:
		m.offList++
		m.tell(place, wantListed)
		return true
	default:
		m.drop(r, place)
		m.take(path, v)
		return false
	}
}

func (m *mender) object(r *bodyRule, path, place string, o pcommon.Map) {
	o.RemoveIf(func(key string, v pcommon.Value) bool {
		rule := r.of(key)
		switch {
		case v.Type() == pcommon.ValueTypeEmpty:
			return false
		case r.rest == nil:
			return rule != nil && !m.keeps(rule, path+"."+key, place+"."+key, v)
		case rule != nil && !rule.fits(v):
			m.drop(rule, place+"."+key)
		case rule == nil && key == "":
			m.dropped++
			m.tell(place, wantName)
		case rule == nil && !r.rest.fits(v):
			m.drop(r.rest, place)
		default:
		}
		return false
	})
}

func (m *mender) elements(r *bodyRule, path, place string, l pcommon.Slice) {
	for i, v := range l.All() {
		switch t := v.Type(); {
		case t == pcommon.ValueTypeEmpty || r.fits(v):
		case t == pcommon.ValueTypeMap && r.kind == "object":
			m.object(r, path+"["+strconv.Itoa(i)+"]", place, v.Map())
		default:
			m.drop(r, place)
		}
	}
}

func (m *mender) take(path string, v pcommon.Value) {
	t := taken{path: path, value: pcommon.NewValueEmpty()}
	v.CopyTo(t.value)
	m.taken = append(m.taken, t)
}

func (m *mender) drop(r *bodyRule, place string) {
	m.dropped++
	m.tell(place, r.wants())
}

func (m *mender) tell(place, want string) {
	if m.flaw == "" {
		m.flaw = wrongType(place, want).Error()
	}
}

// mendBody makes a body of a line that has none: what stands under its key instead goes to the details.
func (d *Decoder) mendBody(v pcommon.Value, l *Line) pcommon.Map {
	if v.Type() == pcommon.ValueTypeMap {
		return v.Map()
	}
	old := pcommon.NewValueEmpty()
	v.MoveTo(old)
	body := v.SetEmptyMap()
	if d.head.badBody {
		l.drop(wrongType(KeyBody, wants["object"]).Error())
		putFree(details(body), KeyBody, old)
	}
	return body
}

// leave leaves out the value of a top-level key. keepLeft keeps it.
func (d *Decoder) leave(l *Line, key headKey) {
	l.drop(headMistakes[key])
	d.left |= 1 << key
}

// headMistakes say of each top-level key that may be left out what is wanted there.
var headMistakes = func() (mistakes [headKeys]string) {
	const text = "a string"
	for key, want := range map[headKey]string{
		headSchema: text, headHost: text, headFramework: text, headPhase: text,
		headEvent:    "one of " + strings.Join(LineEvents(), ", "),
		headSeverity: "TRACE, DEBUG, INFO, WARN, ERROR or FATAL",
		headTraceID:  "32 hex digits", headSpanID: "16 hex digits",
		headTS: "RFC 3339 with a zone, or Unix time in s, ms, us or ns, from 1980 to 2200",
	} {
		mistakes[key] = wrongType(headNames[key], want).Error()
	}
	return mistakes
}()

// beside counts the numbers of a row that stand beside its measurements, under keys of no event: they are in no curve, and stay where
// they are.
func beside(event eventKind, body pcommon.Map, l *Line) {
	if event < 0 || rows&(1<<event) == 0 {
		return
	}
	for key, v := range body.All() {
		if t := v.Type(); (t == pcommon.ValueTypeDouble || t == pcommon.ValueTypeInt) && ruleNamed(key) == nil {
			l.drop(besideMeasurements)
		}
	}
}

// rows are the events that make curves, a bit for each.
var rows = uint32(1<<eventOf(EventEpochEnd) | 1<<eventOf(EventStepEnd) | 1<<eventOf(EventPhaseEnd))

const besideMeasurements = KeyBody + ": want its numbers in " + KeyBody + "." + BodyMeasurements +
	", or in " + KeyBody + "." + BodyFramework

// leftResource is the bit of the resource, which is no scalar.
const leftResource = 1 << headKeys

// keepLeft puts the values of the top-level keys that were left out into the details: the line is read again for them.
func (d *Decoder) keepLeft(body pcommon.Map) {
	if d.left == 0 {
		return
	}
	line := d.scan
	d.scan.reset(line.buf)
	var values [headKeys + 1]pcommon.Value
	d.scan.leftOf(d.left, &values)
	line.memory = d.scan.memory
	d.scan = line
	for k, v := range values {
		if d.left&(1<<k) == 0 || v == (pcommon.Value{}) {
			continue
		}
		name := KeyResource
		if k < int(headKeys) {
			name = headNames[k]
		}
		putFree(details(body), name, v)
	}
}

// leftOf reads the top level of a line that was read before.
func (s *scanner) leftOf(left uint32, values *[headKeys + 1]pcommon.Value) {
	s.peek()
	err := s.open(0)
	for n := 0; err == nil; n++ {
		var key []byte
		var more bool
		if key, more, err = s.nextKey(n); err != nil || !more {
			return
		}
		k, known := headKeyOf(key)
		if string(key) == KeyResource {
			k, known = headKeys, true
		}
		if !known || left&(1<<k) == 0 {
			err = s.value(nil, 1)
			continue
		}
		values[k] = pcommon.NewValueEmpty()
		err = s.value(&values[k], 1)
	}
}
