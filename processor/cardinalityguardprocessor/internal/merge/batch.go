package merge

import (
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Scrubber removes what the policy forbids.
type Scrubber interface {
	// ScrubPoint cleans the attributes of a point and says whether it changed them.
	ScrubPoint(attrs pcommon.Map) bool
	// ScrubExemplars cleans the exemplars of a point.
	ScrubExemplars(exemplars pmetric.ExemplarSlice)
}

// Group is a metric of a batch, with a resource and a scope that were scrubbed already.
type Group struct {
	Metric         pmetric.Metric
	Resource       pcommon.Resource
	ResourceSchema string
	Scope          pcommon.InstrumentationScope
	ScopeSchema    string
	Tenant         string // is part of both identities
	Source, Output Hash   // of the metric, from before and after the removal
	Touched        bool   // something was removed from the resource or the scope
	Clean          bool   // nothing is forbidden on a point of it
	Attributes     []Hash // of the first points, from before the removal, as far as known

	kind      Kind
	first     int // its first item
	metric    *metric
	described *metric // has what the group says beside its identity
	gone      int
}

// item is a point on its way.
type item struct {
	id        Hash // of the source
	rec       *source
	out       *output // where the source cannot or need not be remembered
	start     int64   // as sent, like the time
	time      int64
	at        int64 // when it counts
	value     number
	group     int32
	index     int32
	touched   bool
	noValue   bool
	ahead     bool // its time is, of its arrival
	future    bool // by more than is taken as it is
	seen      bool // by its source already
	gone      bool // taken into an output, or dropped
	exemplars bool
}

// Batch takes the metrics of one name of one batch. It belongs to one goroutine at a time.
type Batch struct {
	Counts Counts
	Hasher Hasher

	engine *Engine
	scrub  Scrubber
	groups []Group
	items  []item
	order  []int32
	gen    *generation
	shard  *shard
	now    int64
	floor  int64
	serial uint32
	before *source // of the point before
	again  bool    // a source has several points in the batch
	text   Hasher  // for the order of exemplars
	hists  histScratch
	exps   expScratch
}

// NewBatch makes a batch of an engine.
func (e *Engine) NewBatch(scrub Scrubber) *Batch { return &Batch{engine: e, scrub: scrub} }

// Add puts a metric into the batch. All metrics until Apply have one name.
func (b *Batch) Add(g Group) {
	g.kind = KindOf(g.Metric)
	b.groups = append(b.groups, g)
}

// Apply takes the points of the metrics that merge into the state and removes them from their metrics; native points of outputs that do not
// merge stay as they are. The generation is the one by whose policy the batch is scrubbed.
func (b *Batch) Apply(now int64, generation uint32) {
	b.now = now
	for i := range b.groups {
		b.collect(int32(i))
	}
	b.engine.relieve(now)
	b.gen = b.engine.policy.Load()
	b.lockAndApply(b.groups[0].Metric.Name(), generation)
	for i := range b.groups {
		b.removeGone(&b.groups[i])
	}
	b.release()
}

func (b *Batch) lockAndApply(name string, generation uint32) {
	b.shard = b.engine.shard(name)
	b.shard.mu.Lock()
	defer b.shard.mu.Unlock()
	b.floor = b.engine.floor.Load()
	b.serial = b.engine.batches.Add(1)
	b.again, b.before = false, nil
	b.shard.dirty = true
	b.shard.cleaned = min(b.shard.cleaned, generation) // an older policy may make an output that the one in force forbids
	clean, native, rest := b.clean(), false, false
	for i := range b.items {
		it := &b.items[i]
		b.resolve(it, generation)
		native = native || it.pending()
		if clean && it.watched() { // while its source is near
			b.watchPoint(it, it.rec)
			it.seen = true
		}
		rest = rest || !it.seen
	}
	if native { // only now it is known which outputs merge
		for _, ends := range []bool{false, true} { // and only then which sources there are to end
			for i := range b.items {
				if b.items[i].noValue == ends {
					b.resolveNative(&b.items[i], generation)
				}
			}
		}
	}
	if rest {
		b.applyAll()
	}
	if native {
		b.notePassing()
	}
}

// clean says that no point is touched, so that no native series of the batch becomes a merged one by it.
func (b *Batch) clean() bool {
	for i := range b.groups {
		if g := &b.groups[i]; g.Touched || !g.Clean {
			return false
		}
	}
	return true
}

// watched says whether the point is of a native series that does not merge.
func (it *item) watched() bool { return it.rec != nil && it.rec.out == nil && !it.noValue && !it.gone }

func (b *Batch) applyAll() {
	if !b.again { // one point a source: the order does not count
		for i := range b.items {
			b.apply(&b.items[i])
		}
		return
	}
	b.sort()
	for _, at := range b.order {
		b.apply(&b.items[at])
	}
}

// sort orders the items by time. Of one time, the smaller value comes first and the end of a source last; of one source and one value, what else
// they say decides. So the order in the batch does not count.
func (b *Batch) sort() {
	b.order = b.order[:0]
	for i := range b.items {
		b.order = append(b.order, int32(i))
	}
	slices.SortStableFunc(b.order, func(x, y int32) int { return b.compare(&b.items[x], &b.items[y]) })
}

func (b *Batch) compare(x, y *item) int {
	if c := cmp.Compare(x.time, y.time); c != 0 {
		return c
	}
	if x.noValue != y.noValue {
		if x.noValue {
			return 1
		}
		return -1
	}
	if c := cmp.Compare(x.start, y.start); c != 0 {
		return c
	}
	if c := cmp.Or(x.value.compare(y.value), cmp.Compare(x.id.Hi, y.id.Hi), cmp.Compare(x.id.Lo, y.id.Lo)); c != 0 {
		return c
	}
	return b.compareContent(x, y)
}

// release forgets the batch and keeps the memory, unless it was a large one.
func (b *Batch) release() {
	const kept = 1 << 14
	clear(b.groups)
	clear(b.items)
	b.groups, b.items = b.groups[:0], b.items[:0]
	if cap(b.items) > kept {
		b.items, b.order = nil, nil
	}
	b.shard, b.gen, b.before = nil, nil, nil
	b.Hasher.Release()
	b.text.Release()
	b.hists.release()
	b.exps.release()
}
