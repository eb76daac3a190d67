package trainprofile

import (
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pathologize/otelcol-train/internal/trainrecord"
)

// Bounds of the cache of key names; keys come from data.
const (
	maxCachedKeys = 2048
	maxCachedKey  = 256
	maxLongKeys   = 1 << 20 // bytes of longer ones
)

// addedAttributes is how many attributes most records get: framework, phase, epoch.
const addedAttributes = 3

// maxGuess is the most entries that an object of a record makes room for at once.
const maxGuess = 16

// FieldError is a field of an object that was not understood; its value stays under body.framework.
type FieldError struct {
	Field  string // the target, as the profile spells it
	Reason string // one of the Reason constants
}

// Mapper applies profiles. It keeps scratch memory: one goroutine at a time may use it.
type Mapper struct {
	location *time.Location
	views    views
	base     *view // the object as it stands in its log record
	root     *view // what is mapped: the object, or what was in its envelopes
	matched  []*rule
	further  []plog.LogRecord
	plans    map[*spreadGroup]map[string]plan
	one      [1]place
	longKeys int                          // bytes of long key names in the caches
	wide     map[string]*trainrecord.Wide // of the objects of the record that is being made, those with many keys
	scratch  pcommon.Map
	spare    pcommon.Map // room of an earlier object, for the body of the next record
	carried  trainrecord.Header
	head     trainrecord.Header
	errs     []FieldError
	closes   bool   // a rule that matched says that training is over
	said     string // a framework that was named and is not that of the records

	stream  *Stream
	offset  int64
	within  *Profile // whose program logged what another profile maps
	counted source   // for a source whose base the stream remembers
	weak    bool     // the object met a weak condition only

	asWritten bool // nothing tells whether the open object's epoch counts from 0 or 1

	// What the keys of the open object say of its profile.
	known     map[string]keyFacts
	knownOf   *Set
	mask      mask
	met       mask // of these, those whose conditions the keys alone meet
	shapes    map[uint64]*shape
	shape     *shape   // of the open object, nil when none is remembered
	shaped    *shapeOf // what the profile that is applied makes of it, nil likewise
	keysRead  bool
	ambiguous bool

	texts      bool // the object was made of a log record with a text as body
	recordKeys bool // some key may be a record's

	envelope opened

	itemFacts [2]itemFact
	nobodys   keyList // of attributes that no section is about
	decoder   *trainrecord.Decoder
	text      *view  // of what a message spelled out
	textOf    *entry // that message
	line      string // a record of the vocabulary that a message spelled out
}

// mayCache tells whether there is room for a key's name in a cache. Long ones share a number of bytes.
func (m *Mapper) mayCache(entries, most int, key string) bool {
	if entries >= most || len(key) > maxCachedKey && m.longKeys+len(key) > maxLongKeys {
		return false
	}
	if len(key) > maxCachedKey {
		m.longKeys += len(key)
	}
	return true
}

// plan is what a spread group does with a key.
type plan struct {
	step int  // -1: nothing
	stop bool // nested objects below are not looked into
	name string
}

// NewMapper gives a mapper; location is that of times without a zone, nil meaning UTC.
func NewMapper(location *time.Location) *Mapper {
	return &Mapper{
		location: location, plans: map[*spreadGroup]map[string]plan{}, scratch: pcommon.NewMap(), spare: pcommon.NewMap(),
		decoder: trainrecord.NewDecoder(trainrecord.DecoderOptions{Location: location}),
	}
}

func (m *Mapper) open(obj pcommon.Map) {
	m.views.reset()
	m.errs = m.errs[:0]
	m.base = m.views.open(obj)
	if m.texts {
		m.base.textFacts()
	}
	m.root = m.base
	m.keysRead, m.ambiguous, m.shape, m.shaped = false, false, nil, nil
	m.text, m.textOf, m.line = nil, nil, ""
}

// apply turns the object that is open, the body of lr, into the records of the rules that match. The first is lr itself,
// more gives the log records for further ones. It answers false, with lr untouched, when no rule matches.
func (m *Mapper) apply(p *Profile, lr plog.LogRecord, more func() plog.LogRecord) bool {
	if m.match(p); len(m.matched) == 0 {
		return false
	}
	if p.guest {
		m.shaped = nil // steps of two profiles fill its records
	}
	for _, r := range m.matched {
		m.closes = m.closes || r.closes
	}
	m.header(p, lr, m.frameworkOf(p, lr))
	m.further = m.further[:0]
	for i := range m.matched[1:] {
		to := more()
		copyEnvelope(lr, to)
		setIndex(to, i+1)
		m.further = append(m.further, to)
	}
	body := lr.Body().Map()
	room := body.Len()
	body.MoveTo(m.scratch) // the views still see the values
	m.spare.MoveTo(body)
	made := m.record(p, m.matched[0], lr)
	for i, to := range m.further {
		m.record(p, m.matched[i+1], to)
	}
	m.settleText()
	m.keepRest(body)
	if m.shaped != nil {
		*m.shaped.room(made) = body.Len()
		m.shaped = nil
	}
	if m.scratch.MoveTo(m.spare); room > maxGuess {
		m.spare.Clear()
	}
	return true
}

// record fills one log record. It gives the rule that did: that of a row within an epoch is another one.
func (m *Mapper) record(p *Profile, r *rule, lr plog.LogRecord) *rule {
	if r.partial != nil && m.isWithinEpoch(p, r) {
		r = r.partial
	}
	h := &m.head
	*h = m.carried
	h.Event = r.event
	if h.Phase == "" {
		h.Phase = r.phase
	}
	for i := range r.header {
		if c, at, ok := m.read(p, &r.header[i]); ok && m.setHeader(h, &r.header[i], c, lr) {
			use(at)
		}
	}
	body := lr.Body().Map()
	body.EnsureCapacity(m.roomOf(r))
	for i := range r.remember {
		m.remember(p, &r.remember[i])
	}
	for i := range r.set {
		if by, step := m.counting(p, &r.set[i]); step != nil {
			m.set(by, step, body)
		}
	}
	for i := range r.named {
		m.spreadNamed(p, &r.named[i], body)
	}
	for _, g := range r.spread {
		m.spread(p, g, body)
	}
	m.flushWide(body)
	m.objective(p, r.event, body)
	number, text := lr.SeverityNumber(), lr.SeverityText()
	lr.Attributes().EnsureCapacity(lr.Attributes().Len() + addedAttributes)
	if h.Put(lr) > 0 { // the framework is on its list
		m.errs = append(m.errs, FieldError{Field: trainrecord.KeyPhase, Reason: ReasonOffList})
	}
	if number != plog.SeverityNumberUnspecified {
		lr.SetSeverityNumber(number)
		lr.SetSeverityText(text)
	}
	trainrecord.PutBodyAttributes(lr)
	return r
}

// roomOf gives how many keys the body that a rule makes will have, as far as a guess goes.
func (m *Mapper) roomOf(r *rule) int {
	if m.shaped != nil {
		if room := *m.shaped.room(r); room > 0 {
			return room
		}
	}
	return len(r.set) + 3
}

// keepRest puts what no rule used under body.framework of the first record, beside what was replaced by other.
func (m *Mapper) keepRest(body pcommon.Map) {
	leftovers(m.scratch, m.base)
	if m.base.padded {
		trimKeys(m.scratch)
	}
	if m.said != "" {
		putAbsent(m.scratch, trainrecord.KeyFramework, pcommon.NewValueStr(m.said))
	}
	if v, ok := body.Get(trainrecord.BodyFramework); ok && v.Type() == pcommon.ValueTypeMap {
		for key, original := range v.Map().All() {
			putAbsent(m.scratch, key, original)
		}
	}
	if m.scratch.Len() == 0 {
		return
	}
	m.scratch.MoveTo(body.PutEmptyMap(trainrecord.BodyFramework))
}

func putAbsent(m pcommon.Map, key string, v pcommon.Value) {
	if dst, found := m.GetOrPutEmpty(key); !found {
		v.CopyTo(dst)
	}
}

// copyEnvelope gives a further record of an object what the object came with.
func copyEnvelope(from, to plog.LogRecord) {
	from.Attributes().CopyTo(to.Attributes())
	to.SetObservedTimestamp(from.ObservedTimestamp())
	to.SetFlags(from.Flags())
	to.SetSeverityNumber(from.SeverityNumber())
	to.SetSeverityText(from.SeverityText())
	to.Body().SetEmptyMap()
}

// setIndex gives the n-th further record of a line its own uid.
func setIndex(lr plog.LogRecord, n int) {
	v, ok := lr.Attributes().Get(trainrecord.AttrLogRecordUID)
	if !ok || v.Type() != pcommon.ValueTypeStr || v.Str() == "" {
		return
	}
	if u, ok := trainrecord.ParseUID(v.Str()); ok {
		u.Index += n
		v.SetStr(u.String())
		return
	}
	v.SetStr(v.Str() + "/" + strconv.Itoa(n))
}
