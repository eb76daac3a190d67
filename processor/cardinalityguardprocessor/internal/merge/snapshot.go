package merge

import (
	"encoding/binary"
	"fmt"
	"math"
	"sort"

	"github.com/zeebo/xxh3"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// stateVersion is the version of what a snapshot holds.
const stateVersion = 4

// Snapshot gives what changed since the last one: the value of each key to be stored. Native series are not part of it: what passed since would
// not be known.
func (e *Engine) Snapshot() (map[string][]byte, error) {
	out := map[string][]byte{}
	e.lapsed.Store(false) // what is forgotten from here on may not be in it
	for i, sh := range e.shards {
		sh.mu.Lock()
		var err error
		if sh.dirty {
			c := &codec{}
			err = e.shardState(c, sh)
			out[shardKey(i)] = seal(c.buf)
			sh.dirty = false
		}
		sh.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
	c := &codec{}
	version, floor, forgot := uint64(stateVersion), e.floor.Load(), e.forgot.Load()
	c.u64(&version)
	c.i64(&e.began)
	c.i64(&floor)
	c.i64(&forgot)
	out[metaKey] = seal(c.buf)
	return out, nil
}

// seal puts a checksum behind a value, so that what a storage lost is noticed.
func seal(text []byte) []byte { return binary.LittleEndian.AppendUint64(text, xxh3.Hash(text)) }

// unseal gives nothing where the checksum is wrong, which no value is.
func unseal(text []byte) []byte {
	n := len(text) - 8
	if n < 0 || xxh3.Hash(text[:n]) != binary.LittleEndian.Uint64(text[n:]) {
		return nil
	}
	return text[:n]
}

// Unsaved says that the last snapshot was not stored.
func (e *Engine) Unsaved() {
	e.lapsed.Store(true)
	for _, sh := range e.shards {
		sh.mu.Lock()
		sh.dirty = true
		sh.mu.Unlock()
	}
}

const metaKey = "state"

func shardKey(i int) string { return fmt.Sprintf("shard-%02d", i) }

// Keys are the keys that a snapshot may have; without the first one there is no state.
func Keys() []string {
	keys := []string{metaKey}
	for i := range shardCount {
		keys = append(keys, shardKey(i))
	}
	return keys
}

// Restore takes a state in, before anything else. After an error the engine is as new.
func (e *Engine) Restore(state map[string][]byte, now int64) error {
	c := &codec{reading: true, buf: unseal(state[metaKey])}
	var version uint64
	var began, floor, forgot int64
	c.u64(&version)
	c.i64(&began)
	c.i64(&floor)
	c.i64(&forgot)
	if c.err != nil || version != stateVersion {
		return fmt.Errorf("version %d: %w", version, errDamaged)
	}
	for i := range e.shards {
		sh := newShard()
		sh.check = now
		if text, there := state[shardKey(i)]; there {
			c := &codec{reading: true, buf: unseal(text)}
			if err := e.shardState(c, sh); err != nil {
				e.clear()
				return fmt.Errorf("shard %d: %w", i, err)
			}
		}
		e.shards[i] = sh
	}
	e.began = began
	e.floor.Store(floor)
	e.forgot.Store(forgot)
	e.before = forgot
	e.unwatched.Store(now)
	return nil
}

func (e *Engine) clear() {
	for i := range e.shards {
		e.shards[i] = newShard()
		e.shards[i].check = math.MaxInt64
		e.shards[i].dirty = true
	}
	e.outputs.Store(0)
	e.series.Store(0)
	e.sources.Store(0)
	e.tombstones.Store(0)
	e.cleaned.Store(0)
}

// shardState writes or reads a shard.
func (e *Engine) shardState(c *codec, sh *shard) error {
	outputs := map[*metric][]*output{}
	for _, o := range sh.outputs {
		outputs[o.metric] = append(outputs[o.metric], o)
	}
	var metrics []*metric
	for m := range outputs {
		metrics = append(metrics, m)
	}
	sort.Slice(metrics, func(i, j int) bool { return metrics[i].name < metrics[j].name })
	n := c.length(len(metrics))
	for i := range n {
		var m *metric
		if !c.reading {
			m = metrics[i]
		}
		if err := e.metricState(c, sh, m, outputs[m]); err != nil {
			return err
		}
	}
	e.tombstoneState(c, sh)
	return c.err
}

// metricState writes or reads a metric, its outputs and their sources.
func (e *Engine) metricState(c *codec, sh *shard, m *metric, outputs []*output) error {
	var text []byte
	if !c.reading {
		var err error
		if text, err = (&pmetric.ProtoMarshaler{}).MarshalMetrics(m.skeleton(outputs)); err != nil {
			return err
		}
	} else {
		m = &metric{gen: math.MaxUint32}
	}
	c.hash(&m.id)
	c.bytes(&text)
	c.conflicts(m)
	c.flags(&m.described)
	var attributes []pcommon.Map
	if c.reading {
		if c.err != nil {
			return c.err
		}
		var err error
		if attributes, err = m.fromSkeleton(text); err != nil {
			return err
		}
		outputs = make([]*output, len(attributes))
		e.install(sh, m)
	}
	for i, o := range outputs {
		if c.reading {
			o = &output{metric: m, attributes: attributes[i]}
		}
		c.output(o)
		if c.reading {
			if c.err != nil {
				return c.err
			}
			e.installOutput(sh, o)
		}
		e.sourceState(c, sh, o)
	}
	return c.err
}

func (c *codec) conflicts(m *metric) {
	keys := make([]string, 0, len(m.conflicts))
	for k := range m.conflicts {
		keys = append(keys, k)
	}
	for range c.length(len(keys)) {
		var k string
		if !c.reading {
			k, keys = keys[0], keys[1:]
		}
		c.str(&k)
		if c.reading {
			if m.conflicts == nil {
				m.conflicts = map[string]struct{}{}
			}
			m.conflicts[k] = struct{}{}
		}
	}
}

// output writes or reads what an output is. Its exemplars are not kept.
func (c *codec) output(o *output) {
	c.hash(&o.id)
	for _, v := range []*int64{&o.start, &o.last, &o.newest, &o.windowFrom, &o.waitsSince, &o.endTime, &o.changed, &o.created} {
		c.i64(v)
	}
	// What is on its way may not arrive before a kill. A total or a level can be told twice.
	waiting := o.waiting || !c.reading && o.inFlight != nil && o.inFlight.value && !o.metric.kind.delta()
	c.flags(&o.starts, &o.sent, &o.windowed, &waiting, &o.ends, &o.overflow)
	o.waiting = o.waiting || c.reading && waiting
	if c.reading && o.overflow {
		o.metric.over = o
	}
	c.u32(&o.epoch)
	c.u32(&o.sequence)
	c.total(&o.total)
	c.total(&o.sentTotal)
	c.u64(&o.sentCount)
	c.f64(&o.floor)
	hist, exp, summary, sentExp := o.hist != nil, o.exp != nil, o.summary != nil, o.sentExp != nil
	c.flags(&hist, &exp, &summary, &sentExp)
	if hist {
		if c.reading {
			o.hist = &histTotal{}
		}
		c.histSum(&o.hist.all)
		c.histSum(&o.hist.wait)
	}
	if exp {
		if c.reading {
			o.exp = &expTotal{}
		}
		c.expTotal(o.exp)
	}
	if sentExp {
		if c.reading {
			o.sentExp = &expTotal{}
		}
		c.expTotal(o.sentExp)
	}
	if summary {
		if c.reading {
			o.summary = &summaryTotal{}
		}
		c.u64(&o.summary.count)
		c.total(&o.summary.sum)
	}
	if c.reading && !o.whole() {
		c.fail()
	}
}
