package merge

import (
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// source is what is remembered of one sender of a series. A native source without an output is only watched.
// What is needed while it is only watched comes first.
type source struct {
	id         Hash
	out        *output
	after      *source // came behind it in the last batch
	dist       any     // the last distribution, or the windows of a delta
	start      int64
	time       int64  // of the last value, or its arrival if that was earlier
	ahead      int64  // the newest time that was ahead of its arrival
	seen       int64  // arrival of the last point
	gen        uint32 // of the policy that mapped it
	batch      uint32 // the last batch it was in
	born       uint32 // the epoch of its output in which its life was counted in full
	double     bool
	known      bool // it has a baseline
	fast       bool // the last value was ahead of its arrival
	live       bool
	gone       bool // counted among the ended ones of its shard
	value      uint64
	ended      int64 // when it said that it ended
	metric     *metric
	next, prev *source // of the output
}

// native says that nothing was removed from its series.
func (s *source) native() bool { return s.out == nil || s.out.id == s.id }

func (s *source) number() number { return number{s.value, s.double} }

func (s *source) set(n number) { s.value, s.double = n.bits, n.double }

// output is a series that the guard writes: more than one source may stand behind it.
type output struct {
	metric     *metric
	id         Hash
	attributes pcommon.Map
	sources    *source
	members    int32 // of the list of sources
	live       int32

	start      int64 // frozen once something was sent; until then the smallest candidate
	starts     bool  // there is a candidate
	sent       bool  // a value of this series went on
	overflow   bool
	last       int64 // the newest time sent on
	newest     int64 // of what waits
	windowFrom int64 // the smallest start of what waits, of deltas
	windowed   bool
	waiting    bool  // for the flush
	waitsSince int64 // arrival of the first of what waits
	ends       bool  // the last live source ended and that was not sent on
	endTime    int64
	changed    int64 // arrival of the last accepted point
	created    int64

	epoch     uint32 // the number of flushes that sent a value on, so far
	sequence  uint32 // the epoch in which the running sequence began
	total     total
	sentTotal total     // what of the total, or of a summary's sum, was sent on
	sentCount uint64    // of a summary
	sentExp   *expTotal // of an exponential histogram, while something waits behind it
	floor     float64   // the last value sent: rounding must not let it fall
	hist      *histTotal
	exp       *expTotal
	summary   *summaryTotal
	exemplars []pmetric.Exemplar
	inFlight  *flight
}

// metric is what the outputs of one metric share, after the policy.
type metric struct {
	id             Hash
	kind           Kind
	name           string
	tenant         string
	resource       pcommon.Resource
	resourceSchema string
	scope          pcommon.InstrumentationScope
	scopeSchema    string
	empty          pmetric.Metric // its identity, description and metadata, without points
	conflicts      map[string]struct{}
	described      bool // by a point that merges
	series         int  // outputs and watched native series
	outputs        int
	over           *output // the overflow output
	hasOver        bool    // a native overflow series is watched
	rules          ruleSet
	gen            uint32
	bounds         [][]float64 // layouts that sources use, so that equal ones share memory
}

// ruleSet is what the policy says about one metric.
type ruleSet struct {
	gauge   GaugeRule
	decided bool
	bounds  []float64
	dropSum bool
	limit   int
}

// shard holds the metrics of some names, so that all that can meet is under one lock.
type shard struct {
	mu      sync.Mutex
	sources map[Hash]*source
	outputs map[Hash]*output
	metrics map[Hash]*metric
	names   map[string]*name
	written map[Hash]written // series with one writer
	buried  graveyard
	ended   int    // sources that ended and are remembered
	check   int64  // nothing expires before
	retry   int64  // no search for room before, unless sources ended
	vain    uint32 // the batch for which the last one found nothing
	unused  int    // metrics made since the last look for unused ones
	cleaned uint32 // the policy that its outputs were brought under
	blind   bool   // under that policy nothing of the sources is seen, so none is silent
	dirty   bool   // since the last snapshot
}

// name is what is known of a metric's name.
type name struct {
	metrics int
	outputs int
	first   Hash      // the first metric of this name: others conflict
	over    []*output // of each kind and tenant one that takes what has no room anywhere else
}

func newShard() *shard {
	return &shard{
		sources: map[Hash]*source{}, outputs: map[Hash]*output{}, metrics: map[Hash]*metric{}, names: map[string]*name{},
		written: map[Hash]written{},
	}
}

// link makes a source one of an output.
func (o *output) link(s *source) {
	s.out, s.prev, s.next = o, nil, o.sources
	if o.sources != nil {
		o.sources.prev = s
	}
	o.sources = s
	o.members++
	if s.live {
		o.live++
	}
}

// unlink takes a source out of its output.
func (o *output) unlink(s *source) {
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		o.sources = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	}
	s.out, s.prev, s.next = nil, nil, nil
	o.members--
	if s.live {
		o.live--
	}
}

// candidate offers a start for an output of which nothing was sent on. What passed before under its identity had starts of its own.
func (o *output) candidate(start int64) {
	start = max(start, o.last)
	if !o.sent && (!o.starts || start < o.start) {
		o.start, o.starts = start, true
	}
}

// wait notes that something is to be sent on.
func (o *output) wait(now, at int64) {
	if !o.waiting && !o.ends {
		o.waitsSince = now
	}
	o.waiting = true
	o.newest = max(o.newest, at)
	o.changed = now
}

// adopt makes a watched native series the first source of an output: what it sent went on as it was, so the output goes on from there.
func (o *output) adopt(s *source) {
	o.link(s)
	if !s.known {
		return
	}
	if s.dist == nil && o.metric.kind.distribution() { // it was forgotten: what it sent is not known, so a sequence begins behind it
		o.last = max(s.time, s.ended)
		return
	}
	o.candidate(s.start)
	o.sent, o.last = true, max(s.time, s.ahead, s.ended)
	s.born = o.epoch
	switch o.metric.kind {
	case Sum:
		o.total.add(s.number())
		o.sentTotal = o.total
		o.floor = s.number().float()
	case Histogram:
		o.hist = newHistTotal(s.dist.(*histLast))
	case Exponential:
		o.exp = newExpTotal(s.dist.(*expLast))
	case Summary:
		o.summary = newSummaryTotal(s.dist.(*summaryLast))
		o.sentTotal, o.sentCount = o.summary.sum, o.summary.count
	}
}
