package trainingsignalsconnector

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// Kinds of parts of the journal.
const (
	partRecords = 1
	partTick    = 2
)

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

// journal writes the records of a call before it is answered.
func (c *core) journal(ctx context.Context, records []trainrun.Sighting) {
	if c.store == nil || len(records) == 0 {
		return
	}
	c.stored(c.store.append(ctx, trainrun.AppendSightings([]byte{partRecords}, records)))
}

// mark writes a tick before it is sent, and now and then a snapshot instead of the journal.
func (c *core) mark(ctx context.Context, now trainrun.Moment, since int64) {
	if c.store == nil {
		return
	}
	t := tick{now: now, stamp: c.stamp, since: since, taken: c.taken, spans: c.done}
	c.taken, c.done = false, 0
	c.stored(c.store.append(ctx, t.encode()))
}

// keep writes a snapshot when the journal is long. The points of the last tick have been taken or refused by then.
func (c *core) keep(ctx context.Context) {
	if c.store != nil && c.store.due() {
		c.replace(ctx)
	}
}

// replace writes a snapshot, and behind it the records that wait. What the next tick would tell of the one before is in it.
func (c *core) replace(ctx context.Context) {
	var rest []byte
	if len(c.pending) > 0 {
		rest = trainrun.AppendSightings([]byte{partRecords}, c.pending)
	}
	err := c.store.replace(ctx, c.snapshot(), rest)
	if err == nil {
		c.taken, c.done = false, 0
	}
	c.stored(err)
}

// stored counts an error of the storage. Work goes on in memory.
func (c *core) stored(err error) {
	switch {
	case err != nil:
		c.telemetry.Add(c.telemetry.StorageErrors, 1, "reason", storageWrite)
		if _, due := c.refusals.Note("storage", 1); due {
			c.logger.Warn("Storage refuses what is known of runs, trying again", zap.Error(err))
		}
		c.status(componentstatus.NewRecoverableErrorEvent(err))
		c.unwell = true
	case c.unwell && !c.store.broken:
		c.unwell = false
		c.status(componentstatus.NewEvent(componentstatus.StatusOK))
	}
}

func (c *core) status(e *componentstatus.Event) {
	if c.host != nil {
		componentstatus.ReportStatus(c.host, e)
	}
}

// restore brings back what was known.
func (c *core) restore(ctx context.Context, host component.Host) error {
	if c.cfg.Storage == nil {
		return nil
	}
	var err error
	if c.store, err = openStore(ctx, host, c.id, *c.cfg.Storage); err != nil {
		return err
	}
	snapshot, err := c.store.read(ctx)
	if err == nil && snapshot != nil {
		err = c.load(snapshot)
	}
	if err == nil {
		err = c.replay(ctx)
	}
	if errors.Is(err, errDamaged) {
		c.telemetry.Add(c.telemetry.StorageErrors, 1, "reason", storageDamaged)
		c.logger.Warn("Ignored damaged values of the storage; series begin anew", zap.Error(err))
		c.begin()
		c.pending, c.store.broken = nil, true
		return nil
	}
	if err != nil {
		c.telemetry.Add(c.telemetry.StorageErrors, 1, "reason", storageRead)
		_ = c.store.client.Close(ctx) // the first error says more
		c.store = nil
		return fmt.Errorf("storage: read what is known of runs: %w", err)
	}
	now := c.moment()
	c.live.Restart(now)
	c.table.since, c.table.now = now.Wall, now.Mono
	return nil
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
		default:
			return errDamaged
		}
	}
	// Nobody knows whether the points of the last tick were taken. A zero may be told twice; a difference may not.
	if before != nil && c.cfg.Temporality == delta {
		c.table.commit(before)
	}
	return nil
}
