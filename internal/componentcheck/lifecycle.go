package componentcheck

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/testdata"
)

const (
	// stopTime is the context a component gets for an ordinary stop.
	stopTime = 10 * time.Second
	// promptTime is the time a stop may take when its context is over.
	promptTime = 2 * time.Second
)

// checkLifecycle runs every start and stop that the collector may do.
func (s *suite) checkLifecycle(t testing.TB) []error {
	var errs []error
	note := func(name string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("lifecycle: %s: %w", name, err))
		}
	}
	set := componenttest.NewNopTelemetrySettings()
	for _, sig := range s.target.signals {
		note(sig.name+": start and stop", s.session(t, sig, set, nothing))
		note(sig.name+": start again after a stop", s.session(t, sig, set, nothing))
		note(sig.name+": stop without start", s.stopUnstarted(t, sig, set))
		note(sig.name+": stop twice", s.session(t, sig, set, func(ctx context.Context, c component.Component) error {
			return c.Shutdown(ctx)
		}))
		note(sig.name+": one batch", s.session(t, sig, set, feed))
		note(sig.name+": stop with a cancelled context", s.stopCancelled(t, sig, set))
	}
	note("all signals at once", s.together(t, set))
	return errs
}

func nothing(context.Context, component.Component) error { return nil }

// session creates, starts, uses and stops one component.
func (s *suite) session(
	t testing.TB, sig signal, set component.TelemetrySettings, use func(context.Context, component.Component) error,
) error {
	return s.sessionOf(t, component.NewID(s.factory.Type()), sig, set, use)
}

func (s *suite) sessionOf(
	t testing.TB, id component.ID, sig signal, set component.TelemetrySettings, use func(context.Context, component.Component) error,
) error {
	cfg, err := s.config()
	if err != nil {
		return err
	}
	c, err := sig.create(t.Context(), id, set, cfg)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	host := NewStorageHost(t)
	if err := c.Start(t.Context(), host); err != nil {
		return errors.Join(fmt.Errorf("start: %w", err), stop(t.Context(), c, stopTime))
	}
	if err := use(t.Context(), c); err != nil {
		return errors.Join(fmt.Errorf("use: %w", err), stop(t.Context(), c, stopTime))
	}
	if err := stop(t.Context(), c, stopTime); err != nil {
		return err
	}
	return clientsClosed(host)
}

func (s *suite) stopUnstarted(t testing.TB, sig signal, set component.TelemetrySettings) error {
	cfg, err := s.config()
	if err != nil {
		return err
	}
	c, err := sig.create(t.Context(), component.NewID(s.factory.Type()), set, cfg)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	return stop(t.Context(), c, stopTime)
}

// stopCancelled stops with a context that is over: the component must come back, an error is allowed.
func (s *suite) stopCancelled(t testing.TB, sig signal, set component.TelemetrySettings) error {
	return s.session(t, sig, set, func(ctx context.Context, c component.Component) error {
		over, cancel := context.WithCancel(ctx)
		cancel()
		return returns(promptTime, func() error { _ = c.Shutdown(over); return nil })
	})
}

// together runs a component for all its signals under one id, as a collector with several pipelines does.
func (s *suite) together(t testing.TB, set component.TelemetrySettings) error {
	host := NewStorageHost(t)
	cfg, err := s.config()
	if err != nil {
		return err
	}
	var all []component.Component
	for _, sig := range s.target.signals {
		c, err := sig.create(t.Context(), component.NewID(s.factory.Type()), set, cfg)
		if err != nil {
			return fmt.Errorf("create %s: %w", sig.name, err)
		}
		all = append(all, c)
	}
	var errs []error
	for i, c := range all {
		if err := c.Start(t.Context(), host); err != nil {
			errs = append(errs, fmt.Errorf("start %s: %w", s.target.signals[i].name, err))
		}
	}
	for i, c := range all {
		if err := stop(t.Context(), c, stopTime); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.target.signals[i].name, err))
		}
	}
	return errors.Join(append(errs, clientsClosed(host))...)
}

func stop(ctx context.Context, c component.Component, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := returns(limit+promptTime, func() error { return c.Shutdown(ctx) }); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}

// returns runs f and says whether it came back in time; a panic is an error.
func returns(limit time.Duration, f func() error) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("panic: %v", r)
			}
		}()
		done <- f()
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		return fmt.Errorf("did not return within %s", limit)
	}
}

func clientsClosed(host component.Host) error {
	if h, ok := host.(*StorageHost); ok {
		if open := h.OpenClients(); len(open) > 0 {
			return fmt.Errorf("storage clients left open: %v", open)
		}
	}
	return nil
}

// feed hands the component one batch if it consumes; the batch is read-only if the component says it only reads.
func feed(ctx context.Context, c component.Component) error {
	return returns(stopTime, func() error {
		var readOnly bool
		if cap, ok := c.(interface{ Capabilities() consumer.Capabilities }); ok {
			readOnly = !cap.Capabilities().MutatesData
		}
		if next, ok := c.(consumer.Logs); ok {
			return next.ConsumeLogs(ctx, sealed(testdata.GenerateLogs(3), readOnly, plog.Logs.MarkReadOnly))
		}
		if next, ok := c.(consumer.Metrics); ok {
			return next.ConsumeMetrics(ctx, sealed(testdata.GenerateMetrics(3), readOnly, pmetric.Metrics.MarkReadOnly))
		}
		if next, ok := c.(consumer.Traces); ok {
			return next.ConsumeTraces(ctx, sealed(testdata.GenerateTraces(3), readOnly, ptrace.Traces.MarkReadOnly))
		}
		return nil
	})
}

func sealed[T any](batch T, readOnly bool, seal func(T)) T {
	if readOnly {
		seal(batch)
	}
	return batch
}
