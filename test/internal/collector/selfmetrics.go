package collector

import (
	"context"
	"time"

	"github.com/pathologize/otelcol-train/test/internal/selfmetrics"
)

// Metrics are the collector's own metrics of one scrape.
type Metrics = selfmetrics.Metrics

// Metrics scrapes the collector's own metrics.
func (p *Process) Metrics() Metrics {
	p.t.Helper()
	m, err := p.scrape()
	if err != nil {
		p.t.Fatalf("scrape the collector's own metrics: %v", err)
	}
	return m
}

// WaitMetric waits until the sum of the series of name with these labels is at least want, and returns it.
func (p *Process) WaitMetric(name string, labels map[string]string, want float64, within time.Duration) float64 {
	p.t.Helper()
	deadline := time.Now().Add(within)
	for {
		m, err := p.scrape()
		if got := m.Sum(name, labels); err == nil && got >= want {
			return got
		} else if time.Now().After(deadline) {
			p.t.Fatalf("%s%v is %v after %s, want at least %v (%v)", name, labels, got, within, want, err)
		}
		p.pause()
	}
}

func (p *Process) scrape() (Metrics, error) {
	return selfmetrics.Scrape(context.Background(), p.metrics)
}
