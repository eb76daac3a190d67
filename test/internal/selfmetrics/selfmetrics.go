// Package selfmetrics reads a collector's own metrics.
package selfmetrics

import (
	"context"
	"fmt"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const scrapeWithin = 5 * time.Second

// Metrics are the metrics of one scrape.
type Metrics map[string]*dto.MetricFamily

// Scrape reads the metrics that a collector serves at an address.
func Scrape(ctx context.Context, address string) (Metrics, error) {
	ctx, cancel := context.WithTimeout(ctx, scrapeWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
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
