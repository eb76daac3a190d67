package trainingsignalsconnector

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// Kinds of parts of the journal.
const (
	partTick    = 2
	partRecords = 3 // 1 was an earlier form
	partRefused = 4 // nobody took the points of the tick before it
)

const sightingBytes = 64 // of a record in the journal; most take less

// tick is a tick in the journal. What followed from the one before stands in it, so that a tick is written before it is sent.
type tick struct {
	now   trainrun.Moment
	stamp int64
	since int64  // where series that are new at it begin
	taken bool   // the points of the tick before
	spans uint64 // that were sent since
}

func (t *tick) encode() []byte {
	b := []byte{partTick, 0}
	if t.taken {
		b[1] = 1
	}
	for _, n := range []int64{t.now.Wall, t.now.Mono, t.stamp, t.since} {
		b = binary.AppendVarint(b, n)
	}
	return binary.AppendUvarint(b, t.spans)
}

func decodeTick(b []byte) (tick, error) {
	if len(b) < 2 {
		return tick{}, errDamaged
	}
	t := tick{taken: b[1] == 1}
	b = b[2:]
	for _, n := range []*int64{&t.now.Wall, &t.now.Mono, &t.stamp, &t.since} {
		v, used := binary.Varint(b)
		if used <= 0 {
			return tick{}, errDamaged
		}
		*n, b = v, b[used:]
	}
	v, used := binary.Uvarint(b)
	if used <= 0 {
		return tick{}, errDamaged
	}
	t.spans = v
	return t, nil
}

// journal queues the records of a call; it is answered when they are written, or the storage hangs.
func (c *core) journal(records []trainrun.Sighting) *job {
	if c.store == nil || len(records) == 0 {
		return nil
	}
	room := make([]byte, 0, 128+sightingBytes*len(records))
	return c.store.append(trainrun.AppendSightings(append(room, partRecords), records))
}

// mark queues a tick, which is written before it is sent, and now and then replaced by a snapshot.
func (c *core) mark(now trainrun.Moment, since int64) *job {
	if c.store == nil {
		return nil
	}
	t := tick{now: now, stamp: c.stamp, since: since, taken: c.taken, spans: c.done}
	c.taken, c.done = false, 0
	return c.store.append(t.encode())
}

// keep queues a snapshot when the journal is long. The points of the last tick have been taken or refused by then.
func (c *core) keep() *job {
	if c.store == nil || !c.store.due() {
		return nil
	}
	return c.replace()
}

// refused queues that nobody took the points of a tick, as far as a restart must know: what they differ by is told by the next one.
func (c *core) refused() *job {
	if c.store == nil || c.cfg.Temporality != delta {
		return nil
	}
	return c.store.append([]byte{partRefused})
}

// replace queues a snapshot, and behind it the records that wait. What the next tick would tell of the one before is in it: when
// it cannot be written, only another snapshot follows.
func (c *core) replace() *job {
	var rest []byte
	if len(c.pending) > 0 {
		rest = trainrun.AppendSightings([]byte{partRecords}, c.pending)
	}
	c.taken, c.done = false, 0
	return c.store.replace(c.snapshot(), rest)
}

// await waits for a write, a moment and no longer. The caller does not hold the lock.
func (c *core) await(ctx context.Context, j *job) {
	if j != nil {
		c.store.wait(ctx, j)
	}
}

// stored counts an error of the storage. Work goes on in memory.
func (c *core) stored(reason string, err error) {
	switch {
	case err != nil:
		c.telemetry.Add(c.telemetry.StorageErrors, 1, "reason", reason)
		if _, due := c.refusals.Note("storage", 1); due {
			c.logger.Warn("Storage does not take what is known of runs, trying again", zap.Error(err))
		}
		c.unwell.Store(true)
		c.status(componentstatus.NewRecoverableErrorEvent(err))
	case c.unwell.CompareAndSwap(true, false):
		c.status(componentstatus.NewEvent(componentstatus.StatusOK))
	}
}

func (c *core) status(e *componentstatus.Event) {
	if c.host != nil {
		componentstatus.ReportStatus(c.host, e)
	}
}

// restore brings back what was known. A storage that answers with an error is one that somebody must see to; one that does not answer
// holds nobody: series begin anew, and it gets them when it answers.
func (c *core) restore(ctx context.Context, host component.Host) error {
	if c.cfg.Storage == nil {
		return nil
	}
	st, ext, err := newStore(host, *c.cfg.Storage, c.stored)
	if err != nil {
		return err
	}
	c.store = st
	err = c.recall(ctx, ext)
	switch {
	case err == nil:
		now := c.moment()
		c.live.Restart(now)
		c.table.since, c.table.now = now.Wall, now.Mono
		c.renew()
		if c.known.shape != c.cfg.shape() { // what comes is of this one
			c.await(ctx, c.replace())
		}
		return nil
	case errors.Is(err, errSilent):
		c.anew(storageSlow, err)
		c.unwell.Store(true)
		c.status(componentstatus.NewRecoverableErrorEvent(err))
		return nil
	case errors.Is(err, errDamaged):
		c.anew(storageDamaged, err)
		return nil
	}
	c.telemetry.Add(c.telemetry.StorageErrors, 1, "reason", storageRead)
	_ = st.close(ctx) // the first error says more
	c.store = nil
	return fmt.Errorf("storage: %w", err)
}

// recall reads what is stored.
func (c *core) recall(ctx context.Context, ext storage.Extension) error {
	if err := c.store.open(ctx, ext, c.logger, c.id); err != nil {
		return err
	}
	c.known.params = c.cfg.params()
	snapshot, err := c.store.read(ctx)
	if err == nil && snapshot != nil {
		err = c.load(snapshot)
	}
	if err == nil {
		err = c.replay(ctx)
	}
	if err != nil {
		return fmt.Errorf("read what is known of runs: %w", err)
	}
	return nil
}

// anew begins without what is stored.
func (c *core) anew(reason string, err error) {
	c.telemetry.Add(c.telemetry.StorageErrors, 1, "reason", reason)
	c.logger.Warn("Went on without what is stored of runs; series begin anew", zap.Error(err))
	c.begin()
	c.pending, c.stamp, c.taken, c.done = nil, 0, false, 0
	c.store.anew(uint64(c.base.UnixNano()))
}

// replay repeats what the journal tells. Whatever it counts was counted by the process before.
func (c *core) replay(ctx context.Context) error {
	var before *flush
	for {
		part, err := c.store.part(ctx)
		if err != nil {
			return err
		}
		if part == nil {
			break
		}
		if len(part) == 0 {
			return errDamaged
		}
		switch part[0] {
		case partRecords:
			list, err := trainrun.DecodeSightings(part[1:])
			if err != nil {
				return errors.Join(errDamaged, err)
			}
			for i := range list {
				if d := list[i].Detail; d != nil {
					d.Extra = c.reshape(d.Extra)
				}
			}
			if c.pending = append(c.pending, list...); len(c.pending) >= maxPending {
				c.drain(list[len(list)-1].Arrived)
			}
		case partTick:
			t, err := decodeTick(part)
			if err != nil {
				return err
			}
			if before != nil && t.taken {
				c.table.commit(before)
			}
			c.spans.done(int(t.spans))
			c.table.since = t.since
			before = c.advance(t.now, t.stamp, false)
		case partRefused:
			before = nil
		default:
			return errDamaged
		}
	}
	// Nobody knows whether the points of the last tick were taken. A zero may be told twice; a difference may not. The next tick says what was
	// decided here, lest a later restart decide otherwise.
	if before != nil && c.cfg.Temporality == delta {
		c.table.commit(before)
		c.taken = true
	}
	return nil
}
