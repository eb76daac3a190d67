package dvcresultexporter

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
)

// instances holds one exporter a component id, which all its signals share.
type instances struct {
	mu   sync.Mutex
	byID map[component.ID]*instance
}

// instance counts the starts of a shared exporter: the first starts it, the last shutdown stops it.
type instance struct {
	owner    *instances
	id       component.ID
	exporter *resultExporter

	mu     sync.Mutex
	starts int
}

// get gives the exporter of a configuration; another configuration under the same id has one of its own.
func (s *instances) get(set exporter.Settings, cfg *Config) (*instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in := s.byID[set.ID]; in != nil && in.exporter.cfg == cfg {
		return in, nil
	}
	e, err := newExporter(set, cfg)
	if err != nil {
		return nil, err
	}
	in := &instance{owner: s, id: set.ID, exporter: e}
	s.byID[set.ID] = in
	return in, nil
}

func (in *instance) start(ctx context.Context, host component.Host) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.starts == 0 {
		if err := in.exporter.start(ctx, host); err != nil {
			return err
		}
	}
	in.starts++
	return nil
}

func (in *instance) shutdown(ctx context.Context) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.starts > 1 {
		in.starts--
		return nil
	}
	in.starts = 0
	in.forget()
	return in.exporter.shutdown(ctx)
}

func (in *instance) forget() {
	in.owner.mu.Lock()
	defer in.owner.mu.Unlock()
	if in.owner.byID[in.id] == in {
		delete(in.owner.byID, in.id)
	}
}
