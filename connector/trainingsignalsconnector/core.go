package trainingsignalsconnector

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"

	"github.com/pathologize/otelcol-train/connector/trainingsignalsconnector/internal/metadata"
	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/internal/trainrun"
)

// maxPending is the number of records that wait for a tick; more are applied before it.
const maxPending = 20_000

// core is what the connector's signals share: one state, fed once.
type core struct {
	cfg       *Config
	id        component.ID
	logger    *zap.Logger
	telemetry *metadata.Telemetry
	now       func() time.Time
	extra     [][]string
	refusals  componentkit.Seldom

	metrics consumer.Metrics // nil when no pipeline takes them
	traces  consumer.Traces

	mu      sync.Mutex
	base    time.Time // where the clock that never goes back began
	live    *trainrun.Live
	table   *table
	spans   *spanQueue
	pending []trainrun.Sighting
	stamp   int64  // of the last tick
	taken   bool   // its points
	done    uint64 // spans that were sent since
	sources sources

	store *store // nil without storage
	known struct {
		shape  string   // "" when nothing was stored
		params []string // whose values it has
	}
	host   component.Host
	unwell atomic.Bool // the storage refused last

	shown  atomic.Pointer[metadata.State]
	cancel context.CancelFunc // nil before Start
	ended  sync.WaitGroup
	kick   chan struct{}
	halted bool
}

func newCore(set connector.Settings, cfg *Config) (*core, error) {
	c := &core{cfg: cfg, id: set.ID, logger: set.Logger, now: time.Now, kick: make(chan struct{}, 1), sources: sources{}}
	for _, e := range cfg.ExtraAttributes {
		c.extra = append(c.extra, paramPath(e.From))
	}
	c.shown.Store(&metadata.State{})
	var err error
	c.telemetry, err = metadata.NewTelemetry(set.TelemetrySettings, set.ID, func() metadata.State { return *c.shown.Load() })
	return c, err
}

func liveOptions(cfg *Config) trainrun.LiveOptions {
	o := trainrun.LiveOptions{
		HistoryAge: int64(cfg.HistoryAge), IdleTimeout: int64(cfg.IdleTimeout), AbandonAfter: int64(cfg.AbandonAfter),
		FailureGrace: int64(cfg.FailureGrace), LateGrace: int64(cfg.LateGrace), Attempts: cfg.Limits.Attempts,
		Tombstones: cfg.Limits.Tombstones, DedupWindow: cfg.Limits.DedupWindow, OpenPhases: cfg.Limits.OpenPhases,
		Salt: cfg.IDSalt, Emits: map[string]trainrun.Emits{},
	}
	for framework, words := range cfg.Emits {
		o.Emits[framework] = trainrun.EmitsOf(words)
	}
	return o
}

// begin makes an empty state.
func (c *core) begin() {
	c.base = c.now()
	c.live = trainrun.NewLive(liveOptions(c.cfg))
	c.table = newTable(c.cfg, c.base.UnixNano())
	c.spans = newSpanQueue(c.cfg)
	c.telemetry.Begin(sightResults, dropReasons, storageReasons, replacedReasons)
}

// moment is now, by the wall clock and by the one that never goes back.
func (c *core) moment() trainrun.Moment {
	now := c.now()
	return trainrun.Moment{Wall: now.UnixNano(), Mono: c.base.UnixNano() + int64(now.Sub(c.base))}
}

// consume takes the records of a call. It answers no error, and waits for nothing that hangs: whatever happens to metrics and
// spans, records go on.
func (c *core) consume(ctx context.Context, ld plog.Logs) {
	c.await(ctx, c.take(ld))
}

// take notes the records, and gives what writes them down.
func (c *core) take(ld plog.Logs) *job {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.moment()
	from := len(c.pending)
	var replaced trainrun.Replaced
	for _, rl := range ld.ResourceLogs().All() {
		var src *trainrun.Source
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				s, n, ok := c.sight(rl.Resource(), lr, now)
				if !ok {
					continue
				}
				if src == nil {
					k := c.sources.of(rl.Resource().Attributes())
					src, replaced.Secrets = k.kept, replaced.Secrets+k.secrets
				}
				s.Source = src
				replaced.Secrets += n.Secrets
				replaced.OffList += n.OffList
				replaced.LeftOut += n.LeftOut
				replaced.Misfits += n.Misfits
				c.pending = append(c.pending, s)
			}
		}
	}
	c.replaced(replaced)
	written := c.journal(c.pending[from:])
	if len(c.pending) >= maxPending {
		c.drain(now)
	}
	return written
}

// sight reduces a record; one of no run is counted instead.
func (c *core) sight(res pcommon.Resource, lr plog.LogRecord, now trainrun.Moment) (s trainrun.Sighting, n trainrun.Replaced, ok bool) {
	result := resultOther
	if rec, is := trainrecord.FromLog(res, lr); is && rec.RunID == "" {
		result = resultNoRunID
	} else if is && len(rec.RunID) <= trainrecord.MaxRunID {
		s, n, ok = trainrun.Sight(&rec, lr.ObservedTimestamp(), now, c.extra)
	}
	if !ok {
		c.telemetry.Add(c.telemetry.Records, 1, "result", result)
	}
	return s, n, ok
}

func (c *core) replaced(n trainrun.Replaced) {
	if n.Secrets > 0 {
		c.telemetry.Add(c.telemetry.ValuesReplaced, n.Secrets, "reason", replacedSecret)
	}
	if n.OffList > 0 {
		c.telemetry.Add(c.telemetry.ValuesReplaced, n.OffList, "reason", replacedOffList)
	}
	if n.LeftOut > 0 {
		c.telemetry.Add(c.telemetry.ValuesReplaced, n.LeftOut, "reason", replacedBad)
	}
	if n.Misfits > 0 {
		c.telemetry.Add(c.telemetry.ValuesReplaced, n.Misfits, "reason", replacedMisfit)
	}
}

// drain applies the records that wait.
func (c *core) drain(now trainrun.Moment) {
	if len(c.pending) == 0 {
		return
	}
	transitions, tally := c.live.Take(c.pending, now)
	clear(c.pending)
	c.pending = c.pending[:0]
	clear(c.sources)
	for i, n := range tally {
		if n > 0 {
			c.telemetry.Add(c.telemetry.Records, n, "result", sightResults[min(i, len(sightResults)-1)])
		}
	}
	if n := tally[trainrun.SightLateEnd]; n > 0 {
		c.telemetry.Add(c.telemetry.LateEnds, n, "", "")
	}
	c.apply(transitions, now)
}

func (c *core) apply(transitions []trainrun.Transition, now trainrun.Moment) {
	for i := range transitions {
		t := &transitions[i]
		c.table.take(t)
		c.spans.take(t, now.Wall)
		switch t.Kind {
		case trainrun.Evicted:
			c.telemetry.Add(c.telemetry.Evicted, 1, "", "")
		case trainrun.Mismatch:
			c.telemetry.Add(c.telemetry.SamplesMismatch, 1, "", "")
		default: // counted elsewhere
		}
	}
}

// advance brings the state to a moment and makes the points of a tick.
func (c *core) advance(now trainrun.Moment, stamp int64, last bool) *flush {
	c.table.now = now.Mono
	c.drain(now)
	c.apply(c.live.Tick(now), now)
	if n := c.table.look(c.live); n > 0 {
		c.telemetry.Add(c.telemetry.GaugeAmbiguous, n, "", "")
	}
	f := c.table.build(stamp, last)
	c.table.since, c.stamp = stamp, stamp
	c.report()
	return f
}

// report shows the state to the self-metrics.
func (c *core) report() {
	var s metadata.State
	c.live.Courses(func(k *trainrun.Course) {
		switch {
		case k.Ended:
			s.Closed++
		case k.Stalled:
			s.Stalled++
		default:
			s.Running++
		}
	})
	s.Series, s.PendingSpans = int64(c.table.len()), int64(len(c.spans.waiting))
	c.shown.Store(&s)
	for reason, n := range c.spans.drops {
		c.telemetry.Add(c.telemetry.SpansDropped, n, "reason", reason)
	}
	clear(c.spans.drops)
	c.telemetry.Add(c.telemetry.SpansBackwards, c.spans.back, "", "")
	c.spans.back = 0
	c.replaced(trainrun.Replaced{OffList: c.table.offList})
	c.table.offList = 0
}
