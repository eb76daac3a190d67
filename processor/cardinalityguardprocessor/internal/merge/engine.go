package merge

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// shardCount is the number of locks. Metrics of one name share one.
const shardCount = 64

// Engine merges. Batches, flushes and a change of the rules may run at the same time.
type Engine struct {
	cfg    Config
	began  int64 // when the guard started to watch
	floor  atomic.Int64
	shards [shardCount]*shard

	outputs    atomic.Int64 // while there is none, no batch needs a look for one
	series     atomic.Int64
	sources    atomic.Int64
	tombstones atomic.Int64
	batches    atomic.Uint32
	passed     passed       // of gauges and deltas
	unseen     passed       // of cumulative series, of which few are not remembered
	cleaned    atomic.Int64 // series with one writer from which something was removed
	forgot     atomic.Int64 // the newest time of outputs that were forgotten
	before     int64        // the same before the restart
	lapsed     atomic.Bool  // something was forgotten since the last snapshot
	unwatched  atomic.Int64 // when a native series last passed without being remembered

	policy   atomic.Pointer[generation]
	flushing sync.Mutex           // one flush at a time
	inFlight map[string][]*output // by tenant
	relieved atomic.Int64         // the last time room was sought everywhere
}

// generation is the rules of one policy.
type generation struct {
	rules  Rules
	number uint32
}

// New makes an engine that watches from now on.
func New(cfg Config, rules Rules, now int64) *Engine {
	e := &Engine{cfg: cfg, began: now, inFlight: map[string][]*output{}}
	for i := range e.shards {
		e.shards[i] = newShard()
		e.shards[i].check = math.MaxInt64
		e.shards[i].cleaned = 1
	}
	e.floor.Store(now)
	e.policy.Store(&generation{rules: rules, number: 1}) // sources of a restored state are of none
	return e
}

// Begin says that the guard watches from now on, as nothing was taken in yet.
func (e *Engine) Begin(now int64) {
	e.began = now
	e.floor.Store(now)
}

// SetRules changes the policy. A source keeps its baseline and goes to its new output with its next point, so nothing counts twice. The next flush
// moves or ends the outputs that the policy forbids.
func (e *Engine) SetRules(rules Rules) {
	old := e.policy.Load()
	e.policy.Store(&generation{rules: rules, number: old.number + 1})
}

// Generation is the number of policies before this one. A batch must be scrubbed by the policy of its generation.
func (e *Engine) Generation() uint32 { return e.policy.Load().number }

// Size is what the engine holds.
type Size struct{ Series, Sources, Tombstones int64 }

// Size says how much the engine holds.
func (e *Engine) Size() Size {
	return Size{e.series.Load(), e.sources.Load(), e.tombstones.Load()}
}

// Merges says whether a metric of this name has a merged output.
func (e *Engine) Merges(name string) bool {
	if e.outputs.Load() == 0 {
		return false
	}
	sh := e.shard(name)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	n := sh.names[name]
	return n != nil && n.outputs > 0
}

func (e *Engine) shard(name string) *shard { return e.shards[xxh3.HashString(name)%shardCount] }

// lift raises the floor: a source that began before it may have been known once.
func (e *Engine) lift(now int64) { raise(&e.floor, now) }

// label puts on what a merged series has to tell it from those that other guards write. It is part of its identity.
func (e *Engine) label(attrs pcommon.Map) {
	if r := e.cfg.ReplicaAttribute; r[0] != "" {
		attrs.PutStr(r[0], r[1])
	}
}
