package collector

import (
	"fmt"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics are the collector's own metrics of one scrape.
type Metrics map[string]*dto.MetricFamily

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

// Sum adds the values of the series of name that carry all these labels; absent is 0. A histogram counts its observations.
func (m Metrics) Sum(name string, labels map[string]string) float64 {
	sum := 0.0
	for _, metric := range m[name].GetMetric() {
		if !has(metric, labels) {
			continue
		}
		switch {
		case metric.Histogram != nil:
			sum += float64(metric.GetHistogram().GetSampleCount())
		default:
			sum += metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + metric.GetUntyped().GetValue()
		}
	}
	return sum
}

func has(metric *dto.Metric, labels map[string]string) bool {
	got := map[string]string{}
	for _, l := range metric.GetLabel() {
		got[l.GetName()] = l.GetValue()
	}
	for k, v := range labels {
		if got[k] != v {
			return false
		}
	}
	return true
}

func (p *Process) scrape() (Metrics, error) {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + p.metrics + "/metrics")
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %s", resp.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(resp.Body)
}
