package trainingsignalsconnector

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
)

// lastSend bounds how long what waits may take to be given away at the end.
const lastSend = 5 * time.Second

// open makes the state, that of the process before if there is a storage.
func (c *core) open(ctx context.Context, host component.Host) error {
	c.host = host
	c.begin()
	return c.restore(ctx, host)
}

// launch begins to tick.
func (c *core) launch() {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.ended.Add(2)
	go c.run(ctx)
	go c.runSpans(ctx)
}

// halt ends the ticks, or leaves them to end by themselves when a next consumer hangs.
func (c *core) halt(ctx context.Context) {
	if c.cancel == nil {
		return
	}
	c.cancel()
	c.cancel = nil
	done := make(chan struct{})
	go func() {
		c.ended.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// finish gives away what waits, once.
func (c *core) finish(ctx context.Context) {
	if c.halted {
		return
	}
	c.halted = true
	ctx, cancel := context.WithTimeout(ctx, lastSend)
	defer cancel()
	c.mu.Lock()
	now := c.moment()
	since := c.table.since
	f := c.advance(now, now.Wall, true)
	written := c.mark(now, since)
	c.mu.Unlock()
	c.await(ctx, written)
	c.sendMetrics(ctx, f)
	c.sendSpans(ctx)
}

// close keeps what is known and ends the use of the storage, or leaves it to end by itself when it hangs.
func (c *core) close(ctx context.Context) error {
	c.release(true)
	st := c.store
	if st == nil {
		return nil
	}
	limit := lastSend
	if ctx.Err() != nil && !st.hangs() { // a next consumer took all the time; a storage that answers takes none
		ctx, limit = context.WithoutCancel(ctx), patience
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	nothing := func(context.Context) error { return nil }
	if before := st.put(&job{do: nothing}); before != nil && st.reach(ctx, before) {
		c.mu.Lock()
		c.replace()
		c.mu.Unlock()
	}
	return st.close(ctx)
}

// release ends the observation.
func (c *core) release(last bool) {
	if last {
		c.telemetry.Shutdown()
	}
}
