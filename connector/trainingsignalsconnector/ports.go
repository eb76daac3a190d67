package trainingsignalsconnector

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
)

// sharedCore is a core with the ports that use it: the first feeds it, the others drop their copy of the records.
type sharedCore struct {
	*core

	owner *cores
	mu    sync.Mutex
	ports []*port
	up    int // started ports
}

// port is the connector between one pair of signals.
type port struct {
	shared  *sharedCore
	started bool
	stopped bool
}

// port makes one of the id's core, which another signal of the same configuration may have made.
func (s *cores) port(set connector.Settings, cfg *Config, join func(*core)) (*port, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sc := s.byID[set.ID]
	if sc == nil || sc.cfg != cfg {
		c, err := newCore(set, cfg)
		if err != nil {
			return nil, err
		}
		sc = &sharedCore{core: c, owner: s}
		s.byID[set.ID] = sc
	}
	join(sc.core)
	p := &port{shared: sc}
	sc.ports = append(sc.ports, p)
	return p, nil
}

// Capabilities says that records are only read.
func (*port) Capabilities() consumer.Capabilities { return consumer.Capabilities{MutatesData: false} }

// Start begins to tick once all ports are there: what stands behind them takes data by then.
func (p *port) Start(ctx context.Context, host component.Host) error {
	s := p.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.up == 0 {
		s.host = host
		if err := s.open(ctx, host); err != nil {
			return err
		}
	}
	p.started = true
	if s.up++; s.up == len(s.ports) {
		s.launch()
	}
	return nil
}

// ConsumeLogs answers no error: records go on, whatever becomes of metrics and spans.
func (p *port) ConsumeLogs(ctx context.Context, ld plog.Logs) error {
	if p == p.shared.ports[0] {
		p.shared.consume(ctx, ld)
	}
	return nil
}

// Shutdown ends the ticks with the first port that stops, since nothing brings records any more, and gives away what waits for
// the consumer behind this port; the last one closes the storage.
func (p *port) Shutdown(ctx context.Context) error {
	s := p.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.stopped {
		return nil
	}
	p.stopped = true
	s.forget()
	if !p.started {
		s.release(s.up == 0)
		return nil
	}
	s.halt(ctx)
	s.finish(ctx)
	if s.up--; s.up > 0 {
		return nil
	}
	return s.close(ctx)
}

func (s *sharedCore) forget() {
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	for id, o := range s.owner.byID {
		if o == s {
			delete(s.owner.byID, id)
		}
	}
}
