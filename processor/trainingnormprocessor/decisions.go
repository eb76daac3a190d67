package trainingnormprocessor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/pathologize/otelcol-train/internal/trainprofile"
)

// The storage holds the decisions of all streams in so many values; a new decision rewrites one of them.
const (
	shardCount    = 64
	shardPrefix   = "decisions/"
	storedVersion = 1
)

var errClosed = errors.New("storage: is closed")

// decisions keeps what streams were recognised as in the storage. It holds exactly the streams that the memory holds.
type decisions struct {
	streams *streams
	unsaved atomic.Bool // the storage refused something that it does not hold yet

	mu     sync.Mutex
	client storage.Client
	shards [shardCount]map[string]stored // what the storage holds
	owed   map[string]struct{}           // keys that the storage refused
	seq    uint64
}

func shardOf(key string) int {
	h := fnv.New32a()
	h.Write([]byte(key))
	return int(h.Sum32() % shardCount)
}

func shardKey(i int) string { return shardPrefix + strconv.Itoa(i) }

// open reads all decisions; damaged tells which values cannot be read. Their streams are recognised anew.
func (d *decisions) open(ctx context.Context, client storage.Client, set *trainprofile.Set) (damaged []error, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ops := make([]*storage.Operation, shardCount)
	for i := range ops {
		ops[i] = storage.GetOperation(shardKey(i))
	}
	if err := client.Batch(ctx, ops...); err != nil {
		return nil, fmt.Errorf("storage: read the decisions: %w", err)
	}
	d.client, d.owed = client, map[string]struct{}{}
	var keys []string
	for i, op := range ops {
		shard, err := decodeShard(i, op.Value)
		if err != nil {
			damaged = append(damaged, fmt.Errorf("%s: %w", op.Key, err))
		}
		d.shards[i] = shard
		keys = slices.AppendSeq(keys, maps.Keys(shard))
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Compare(d.shards[shardOf(a)][a].seq, d.shards[shardOf(b)][b].seq)
	})
	for _, key := range keys {
		was := d.shards[shardOf(key)][key]
		d.seq = max(d.seq, was.seq)
		stream, forgotten := d.streams.get(key, "", false)
		if was.restore(stream, set); was.life != nil && len(was.life.Starts) > 0 {
			d.streams.traced.Store(true)
		}
		if was.profile != "" && stream.Profile() == nil {
			d.owed[key] = struct{}{} // the profile is loaded no more
		}
		if forgotten != "" {
			d.owed[forgotten] = struct{}{}
		}
	}
	return damaged, nil
}

// settle saves what the storage does not hold yet of the streams of a batch, and of those of further keys.
func (d *decisions) settle(ctx context.Context, touched []*streamEntry, keys []string) error {
	var changed []*streamEntry
	var latest []*settled
	for _, e := range touched {
		if now := e.unsettled(); now != nil {
			changed, latest, keys = append(changed, e), append(latest, now), append(keys, e.key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	if err := d.save(ctx, keys); err != nil {
		return err
	}
	for i, e := range changed {
		e.settled.Store(latest[i])
	}
	return nil
}

// save writes what the storage does not hold yet of these streams, in one operation. Whoever is told nil may hand their
// records on.
func (d *decisions) save(ctx context.Context, keys []string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.differ(keys) {
		return nil
	}
	if d.client == nil {
		return errClosed
	}
	next, changed := d.next(keys)
	var ops []*storage.Operation
	for i, shard := range next {
		if len(shard) == 0 {
			ops = append(ops, storage.DeleteOperation(shardKey(i)))
			continue
		}
		text, err := encodeShard(shard)
		if err != nil {
			return err
		}
		ops = append(ops, storage.SetOperation(shardKey(i), text))
	}
	if err := d.client.Batch(ctx, ops...); err != nil {
		clear(d.owed)
		for _, key := range changed {
			d.owed[key] = struct{}{}
		}
		d.unsaved.Store(true)
		return fmt.Errorf("storage: write what streams were recognised as: %w", err)
	}
	for i, shard := range next {
		d.shards[i] = shard
	}
	clear(d.owed)
	d.unsaved.Store(false)
	return nil
}

// differ tells whether the storage holds something else of one of the streams.
func (d *decisions) differ(keys []string) bool {
	for _, key := range keys {
		have := d.shards[shardOf(key)][key]
		if have.seq = 0; !reflect.DeepEqual(d.wanted(key), have) {
			return true
		}
	}
	return false
}

// wanted is what the storage should hold of a stream.
func (d *decisions) wanted(key string) stored {
	stream := d.streams.peek(key)
	if stream == nil {
		return stored{}
	}
	return newStored(stream.Latest(), stream.Life())
}

// next gives the values that have to be written for the streams, and for those that the storage refused before.
func (d *decisions) next(keys []string) (shards map[int]map[string]stored, changed []string) {
	shards = map[int]map[string]stored{}
	for _, key := range slices.AppendSeq(slices.Clone(keys), maps.Keys(d.owed)) {
		if !d.differ([]string{key}) {
			continue
		}
		i := shardOf(key)
		if shards[i] == nil {
			if shards[i] = maps.Clone(d.shards[i]); shards[i] == nil {
				shards[i] = map[string]stored{}
			}
		}
		changed = append(changed, key)
		want := d.wanted(key)
		if want.isNothing() {
			delete(shards[i], key)
			continue
		}
		d.seq++
		want.seq = d.seq
		shards[i][key] = want
	}
	return shards, changed
}

// close closes the client; it may be called before open, and twice.
func (d *decisions) close(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.client == nil {
		return nil
	}
	client := d.client
	d.client = nil
	return client.Close(ctx)
}
