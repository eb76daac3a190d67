package componentcheck

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const fakeScope = "github.com/pathologize/otelcol-train/processor/fakeprocessor"

const fakeMetadata = `type: fake
display_name: Fake processor
status:
  class: processor
  stability:
    alpha: [logs]
attributes:
  processor: {description: The component's id., type: string}
  reason: {description: Why., type: string, enum: [full]}
telemetry:
  metrics:
    fake_dropped:
      description: Records that were dropped.
      unit: "{record}"
      sum: {value_type: int, monotonic: true}
      attributes: [processor, reason]
    fake_size:
      description: Bytes in the queue.
      unit: By
      gauge: {value_type: int, async: true}
      attributes: [processor]
tests:
  config:
    size: 3
`

const fakeReadme = `# Fake processor

Does nothing, for tests.

| Status | |
| --- | --- |
| Type | ` + "`fake`" + ` |
| Class | processor |
| Stability | alpha: logs |

## Use it when, and when not

## Smallest configuration

## Keys

| Key | Default | Meaning |
| --- | --- | --- |
| ` + "`size`" + ` | 16 (bytes) | How much |
| ` + "`wait`" + ` | ` + "`5s`" + ` | How long |
| ` + "`rules[].name`" + ` | required | A rule's name |
| ` + "`rules`" + ` | none | The rules |

## Before and after

## Self-metrics

| Metric | Unit | Meaning |
| --- | --- | --- |
| ` + "`otelcol_fake_dropped`" + ` | ` + "`{record}`" + ` | Dropped |
| ` + "`otelcol_fake_size`" + ` | ` + "`By`" + ` | Size |

## Limits, and what happens on failure
`

// fakeConfig is the configuration of the fake component.
type fakeConfig struct {
	Size  int           `mapstructure:"size"`
	Wait  time.Duration `mapstructure:"wait"`
	Rules []fakeRule    `mapstructure:"rules"`

	_ struct{}
}

type fakeRule struct {
	Name string `mapstructure:"name"`
}

func (c *fakeConfig) Validate() error {
	if c.Size < 0 {
		return errors.New("size: must not be negative")
	}
	return nil
}

// fake is a component whose faults a test chooses.
type fake struct {
	typ, dropped, scope string
	unit                string
	counterAsGauge      bool
	extra               string
	stability           component.StabilityLevel
	mutates             bool
	attributes          func(id component.ID) []attribute.KeyValue // of what it counts

	createErr, startErr error
	stop                func(ctx context.Context, started, stopped int) error
	leaveClient         bool
}

func goodFake() *fake {
	return &fake{
		typ: "fake", dropped: "otelcol_fake_dropped", scope: fakeScope, unit: "{record}", stability: component.StabilityLevelAlpha,
		attributes: func(id component.ID) []attribute.KeyValue {
			return []attribute.KeyValue{attribute.String("processor", id.String()), attribute.String("reason", "full")}
		},
	}
}

func (f *fake) factory() component.Factory {
	return processor.NewFactory(
		component.MustNewType(f.typ),
		func() component.Config { return &fakeConfig{Size: 16, Wait: 5 * time.Second} },
		processor.WithLogs(f.create, f.stability),
	)
}

func (f *fake) create(_ context.Context, set processor.Settings, _ component.Config, next consumer.Logs) (processor.Logs, error) {
	if f.createErr != nil {
		return nil, f.createErr
	}
	meter := set.MeterProvider.Meter(f.scope)
	var err error
	p := &fakeProcessor{fake: f, next: next, id: set.ID}
	if f.counterAsGauge {
		_, err = meter.Int64Gauge(f.dropped, metric.WithUnit(f.unit), metric.WithDescription("Records that were dropped."))
	} else {
		p.dropped, err = meter.Int64Counter(f.dropped, metric.WithUnit(f.unit), metric.WithDescription("Records that were dropped. [Alpha]"))
	}
	_, err2 := meter.Int64ObservableGauge("otelcol_fake_size", metric.WithUnit("By"), metric.WithDescription("Bytes in the queue."))
	if f.extra != "" {
		_, err3 := meter.Float64Counter(f.extra)
		err = errors.Join(err, err3)
	}
	return p, errors.Join(err, err2)
}

type fakeProcessor struct {
	fake             *fake
	id               component.ID
	next             consumer.Logs
	client           storage.Client
	dropped          metric.Int64Counter
	started, stopped atomic.Int64
}

func (p *fakeProcessor) Start(ctx context.Context, host component.Host) error {
	p.started.Add(1)
	if p.fake.startErr != nil {
		return p.fake.startErr
	}
	ext := host.GetExtensions()[component.MustNewID("file_storage")].(storage.Extension)
	var err error
	p.client, err = ext.GetClient(ctx, component.KindProcessor, p.id, "logs")
	return err
}

func (p *fakeProcessor) Shutdown(ctx context.Context) error {
	stopped := p.stopped.Add(1)
	if p.fake.stop != nil {
		if err := p.fake.stop(ctx, int(p.started.Load()), int(stopped)); err != nil {
			return err
		}
	}
	if p.client == nil || p.fake.leaveClient {
		return nil
	}
	return p.client.Close(ctx)
}

func (p *fakeProcessor) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (p *fakeProcessor) ConsumeLogs(ctx context.Context, ld plog.Logs) error {
	if p.fake.mutates {
		ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body().SetStr("changed")
	}
	if p.dropped != nil {
		p.dropped.Add(ctx, 1, metric.WithAttributes(p.fake.attributes(p.id)...))
	}
	return p.next.ConsumeLogs(ctx, ld)
}

// fakeDir writes a component's documents; edit is a list of old, new pairs applied to both.
func fakeDir(t *testing.T, edit ...string) string {
	t.Helper()
	dir := t.TempDir()
	swap := strings.NewReplacer(edit...)
	for name, text := range map[string]string{
		"metadata.yaml": swap.Replace(fakeMetadata),
		"README.md":     swap.Replace(fakeReadme),
		"go.mod":        "module " + fakeScope + "\n\ngo 1.26.0\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}
