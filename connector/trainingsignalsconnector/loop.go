package trainingsignalsconnector

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/internal/componentkit"
)

// sendTimeout bounds how long a next consumer may take; what it has not taken by then is offered again.
const sendTimeout = 30 * time.Second

// run ticks until the context ends.
func (c *core) run(ctx context.Context) {
	defer c.ended.Done()
	every, ticked := int64(c.cfg.FlushInterval), false
	for {
		now := c.now().UnixNano()
		timer := time.NewTimer(time.Duration(every - now%every))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		stamp := c.now().UnixNano() / every * every
		if stamp == c.stamp {
			continue // the timer was early
		}
		if stamp < c.stamp { // the clock went back: no series is told a time again, and all else goes on
			c.telemetry.Add(c.telemetry.TicksSkipped, 1, "", "")
			stamp = c.stamp
		}
		if ticked && stamp > c.stamp+every {
			c.telemetry.Add(c.telemetry.TicksSkipped, (stamp-c.stamp)/every-1, "", "")
		}
		ticked = true
		c.flush(ctx, stamp)
		select {
		case c.kick <- struct{}{}:
		default:
		}
	}
}

// flush brings the state to now and offers the points of a tick.
func (c *core) flush(ctx context.Context, stamp int64) {
	began := time.Now()
	c.mu.Lock()
	now := c.moment()
	since := c.table.since
	f := c.advance(now, stamp, false)
	written := c.mark(now, since)
	c.mu.Unlock()
	c.await(ctx, written)
	c.sendMetrics(ctx, f)
	c.telemetry.Flushed("metrics", time.Since(began))
}

// sendMetrics offers points. Those that nobody took count as never told.
func (c *core) sendMetrics(ctx context.Context, f *flush) {
	var err error
	if c.metrics != nil && f.metrics.DataPointCount() > 0 {
		ctx, cancel := context.WithTimeout(ctx, sendTimeout)
		err = c.metrics.ConsumeMetrics(ctx, f.metrics)
		cancel()
	}
	c.await(ctx, c.settle(f, err))
}

// settle notes what became of points, and gives what writes it down.
func (c *core) settle(f *flush, err error) *job {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.failed("metrics", err)
	} else {
		c.table.commit(f)
		c.taken = true
	}
	if written := c.keep(); written != nil || err == nil {
		return written
	}
	return c.refused()
}

func (c *core) failed(signal string, err error) {
	c.telemetry.Add(c.telemetry.FlushFailures, 1, "signal", signal)
	if total, due := c.refusals.Note(signal, 1); due {
		c.logger.Warn("Next consumer refuses what is derived, trying again", zap.String("signal", signal), zap.Int64("times", total), zap.Error(err))
	}
}

// runSpans sends spans after each tick, apart from the metrics: either may hang without the other.
func (c *core) runSpans(ctx context.Context) {
	defer c.ended.Done()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.kick:
			c.sendSpans(ctx)
		}
	}
}

// sendSpans offers the spans that wait, until one batch is refused.
func (c *core) sendSpans(ctx context.Context) {
	for {
		c.mu.Lock()
		if c.traces == nil { // nobody wants them
			c.done += uint64(len(c.spans.waiting))
			c.spans.done(len(c.spans.waiting))
		}
		p := c.spans.next(c.now().UnixNano())
		c.mu.Unlock()
		if p.n == 0 {
			return
		}
		var err error
		if p.n > p.old {
			began := time.Now()
			sendCtx, cancel := context.WithTimeout(ctx, sendTimeout)
			err = c.traces.ConsumeTraces(sendCtx, p.td)
			cancel()
			c.telemetry.Flushed("traces", time.Since(began))
		}
		if !c.sent(&p, err) {
			return
		}
	}
}

// sent notes what became of the first spans, and says whether to go on.
func (c *core) sent(p *parcel, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.telemetry.Add(c.telemetry.SpansSent, int64(p.n-p.old), "", "")
	case componentkit.Final(err):
		c.failed("traces", err)
		c.telemetry.Add(c.telemetry.SpansDropped, int64(p.n-p.old), "reason", dropRefused)
	default:
		c.failed("traces", err)
		c.spans.sending = 0
		return false
	}
	c.telemetry.Add(c.telemetry.SpansDropped, int64(p.old), "reason", dropAge)
	c.spans.done(p.n)
	c.done += uint64(p.n)
	return true
}
